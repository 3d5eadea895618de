//! What compiles, what doesn't, and what an author reads then.
//!
//! `ui/<theme>/fail/*.rs` must not compile, and the compiler must say what stands in the `.stderr` beside it.
//! `ui/<theme>/pass/*.rs` must compile, and their `main` must end well.
//!
//! # Writing a case
//!
//! One thing a file, as an author would get it wrong, without unused variables: their warnings would be part of the
//! snapshot. `TRYBUILD=overwrite cargo test -p tests --test ui -- trybuild=<part of a path>` writes the `.stderr`. **A person reads
//! it before it is committed**: does it say what is wrong, why, and what to write instead, on the right token, and
//! nothing else? If not, the message is to be changed, not the snapshot accepted.
//!
//! # What snapshots may depend on
//!
//! On the compiler that `rust-version` in `Cargo.toml` names, and on this repository. Not on the component `rust-src`: with it, the
//! compiler shows the standard library's source wherever a message points there, and `trybuild` doesn't take that
//! out. And not on how many types implement a trait, or on other crates' versions. So no message points into the standard
//! library, and none has a list of "other types"; [`snapshots_are_hermetic`] keeps it so. A message that would is formulated otherwise:
//! by another case, by `#[diagnostic::do_not_recommend]` on the impls that would be listed, or by what the macro emits. What can't
//! be said without (that a type does *not* implement a foreign trait, for one) is a `pass` case that asserts it.
//!
//! The cases that must not compile and those that must are separate tests: with both in one, `trybuild` would build
//! them all rather than check them.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn fail_types() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/split/fail/*.rs");
    cases.compile_fail("tests/ui/path/fail/*.rs");
    cases.compile_fail("tests/ui/execute/fail/*.rs");
    cases.compile_fail("tests/ui/agreement/fail/*.rs");
}

#[test]
fn fail_attributes() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/attributes/fail/*.rs");
    cases.compile_fail("tests/ui/labels/fail/*.rs");
    cases.compile_fail("tests/ui/toolset/fail/*.rs");
    cases.compile_fail("tests/ui/tool_type/fail/*.rs");
}

#[test]
fn fail_signatures() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/arguments/fail/*.rs");
    cases.compile_fail("tests/ui/outputs/fail/*.rs");
}

#[test]
fn pass() {
    trybuild::TestCases::new().pass("tests/ui/*/pass/*.rs");
}

/// The snapshots that may show a line of another crate: that serde is told no is what they are about.
const SHOW_SERDE: &[&str] =
    &["split/fail/derive_on_holder.stderr", "split/fail/json_macro.stderr", "split/fail/serialise.stderr"];

#[test]
fn snapshots_are_hermetic() {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut snapshots = Vec::new();
    collect(&ui, &mut snapshots);
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
