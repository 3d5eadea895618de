use tool_runtime::tool_type;

#[tool_type]
pub fn place() {}

#[tool_type]
pub union Number {
    pub int: u32,
    pub float: f32,
}

fn main() {}
