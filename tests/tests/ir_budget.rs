//! How much code one tool costs: lines of LLVM IR, which don't depend on the machine or its load.
//!
//! A crate is generated with one tool and with fifty, all alike: async, three arguments, all four hooks. What
//! is instantiated once per type is in both; the difference is what each further tool adds. The figure
//! is of the `rust-version` in `Cargo.toml`; another compiler's may differ by a little.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// For a tool, in lines.
const BUDGET: usize = 2_000;
const MANY: usize = 50;

#[test]
fn a_tool_stays_within_its_budget() {
    let one = ir_lines(1);
    let many = ir_lines(MANY);
    let each = (many - one) / (MANY - 1);
    println!("{each} lines of LLVM IR a tool (budget {BUDGET}); {one} for the first, with all of its types");
    assert!(each <= BUDGET, "{each} lines of LLVM IR a tool, and the budget is {BUDGET}");
}

/// The lines of the crate with this many tools.
fn ir_lines(tools: usize) -> usize {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ir_budget_{tools}"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ir_budget_target");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let name = format!("ir_budget_{tools}");
    fs::create_dir_all(dir.join("src")).unwrap();
    fs::write(dir.join("src/lib.rs"), source(tools)).unwrap();
    fs::write(dir.join("Cargo.toml"), manifest(&name, &workspace)).unwrap();
    // The versions that everything else is tested with.
    fs::copy(workspace.join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();

    let built = Command::new(env!("CARGO"))
        .current_dir(&dir)
        .args(["rustc", "--quiet", "--lib", "--offline"])
        .args(["--", "--emit=llvm-ir", "-Ccodegen-units=1", "-Cdebuginfo=0"])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .unwrap();
    assert!(built.success(), "the generated crate in {} does not build", dir.display());

    let ir = newest_ir(&target.join("debug/deps"), &name);
    fs::read_to_string(ir).unwrap().lines().count()
}

/// Of several builds of the crate, the last.
fn newest_ir(deps: &Path, name: &str) -> PathBuf {
    let files = fs::read_dir(deps).unwrap().map(|file| file.unwrap().path());
    let ir = files.filter(|path| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&format!("{name}-")) && file.ends_with(".ll")
    });
    ir.max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap()).unwrap()
}

fn manifest(name: &str, workspace: &Path) -> String {
    let runtime = workspace.join("tool-runtime");
    format!(
        r#"[package]
name = "{name}"
version = "0.0.0"
edition = "2024"

[dependencies]
tool-runtime.path = {runtime:?}

[workspace]
"#
    )
}

fn source(tools: usize) -> String {
    let mut source = String::from("use tool_runtime::{Card, Content, Final, StoredResult, tool};\n");
    for index in 0..tools {
        let args = format!("Search{index}Args");
        write!(
            source,
            r#"
/// Searches in index {index}.
#[tool(host(
    project = project{index},
    finalize = finalize{index},
    present_call = present_call{index},
    present_result = present_result{index},
))]
pub async fn search{index}(
    /// What to search for.
    query: String,
    /// How many at most.
    limit: Option<u32>,
    /// Only with these tags.
    tags: Vec<String>,
) -> Result<Vec<String>, std::io::Error> {{
    let _ = (query, limit);
    Ok(tags)
}}

fn project{index}(_: &Vec<String>) -> Content {{
    Content::text("{index}")
}}

fn finalize{index}(_: Option<&{args}>, _: &Final<'_>) -> Option<Content> {{
    None
}}

fn present_call{index}(_: &{args}) -> Card {{
    Card::new("{index}")
}}

fn present_result{index}(_: &{args}, _: &StoredResult) -> Card {{
    Card::new("{index}")
}}
"#
        )
        .unwrap();
    }
    source
}
