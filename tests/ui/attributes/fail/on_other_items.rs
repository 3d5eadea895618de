use tool_runtime::tool;

#[tool]
struct LookUp {
    key: String,
}

struct Files;

#[tool]
impl Files {
    /// Reads.
    fn read(&self) {}
}

#[tool]
trait Search {}

fn main() {}
