//! See the package's own documentation.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn fail_types() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("split/fail/*.rs");
    cases.compile_fail("path/fail/*.rs");
    cases.compile_fail("execute/fail/*.rs");
    cases.compile_fail("agreement/fail/*.rs");
}

#[test]
fn fail_attributes() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("attributes/fail/*.rs");
    cases.compile_fail("labels/fail/*.rs");
    cases.compile_fail("toolset/fail/*.rs");
    cases.compile_fail("tool_type/fail/*.rs");
}

#[test]
fn fail_signatures() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("arguments/fail/*.rs");
    cases.compile_fail("outputs/fail/*.rs");
}

#[test]
fn pass() {
    trybuild::TestCases::new().pass("*/pass/*.rs");
}

/// The snapshots that may show a line of another crate: that serde is told no is what they are about.
const SHOW_SERDE: &[&str] =
    &["split/fail/derive_on_holder.stderr", "split/fail/json_macro.stderr", "split/fail/serialise.stderr"];

#[test]
fn snapshots_are_hermetic() {
    let mut snapshots = Vec::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), &mut snapshots);
    assert!(!snapshots.is_empty());
    for path in snapshots {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.display();
        for unwanted in ["$RUST", "/rustc/", "other types implement", "and $N others"] {
            assert!(!text.contains(unwanted), "{shown} has `{unwanted}`");
        }
        assert!(!text.starts_with("warning") && !text.contains("\nwarning"), "{shown} has a warning");
        let may_show = SHOW_SERDE.iter().any(|allowed| path.ends_with(allowed));
        assert!(may_show || !text.contains("$CARGO"), "{shown} shows another crate's source");
        assert!(path.with_extension("rs").exists(), "{shown} belongs to no case");
    }
}

fn collect(dir: &Path, snapshots: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, snapshots);
        } else if path.extension().is_some_and(|extension| extension == "stderr") {
            snapshots.push(path);
        }
    }
}
