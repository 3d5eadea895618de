#![deny(warnings)]

use tool_runtime::tool;

/// Tries.
#[tool]
fn probe(
    /// Whether it is tried only.
    _dry_run: bool,
    /// Named for the model alone.
    #[arg(rename = "_id")]
    _id: u32,
) {
}

fn main() {
    let args = ProbeArgs { dry_run: true, id: 1 };
    probe(args.dry_run, args.id);
    let parameters = ProbeTool::schema().parameters();
    assert!(parameters.contains(r#""dry_run":"#) && parameters.contains(r#""_id":"#), "{parameters}");
}
