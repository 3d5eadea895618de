use tool_runtime::toolset;

struct Travel;

#[toolset]
impl Travel {
    /// Books a flight.
    /// [Confirm] The price.
    /// [confrim] The price.
    #[tool]
    fn book(&self) {}
}

fn main() {}
