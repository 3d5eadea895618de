//! The tests that span the crates, what their properties try, and how they read sources: tables at the heads of tests say
//! where a rule is tested, and what documentation shows is tried.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::test_runner::{Config, RngSeed};

/// `cases` of a property that are the same each time, so that a change is judged by its own faults. With `PROPTEST_CASES` in
/// the environment: so many new ones.
pub fn config(cases: u32) -> Config {
    let default = Config::default();
    let search = std::env::var_os("PROPTEST_CASES").is_some();
    Config {
        cases: if search { default.cases } else { cases },
        rng_seed: if search { default.rng_seed } else { RngSeed::Fixed(6) },
        // What failed once becomes a test of its own.
        failure_persistence: None,
        ..default
    }
}

/// The text of a module that is a file, or of all files of one that is a folder.
///
/// # Panics
/// If it can't be read: tests run where they were built.
pub fn source_of(module: &Path) -> String {
    if module.is_dir() {
        entries(module).iter().map(|entry| source_of(entry)).collect()
    } else {
        fs::read_to_string(module).unwrap_or_else(|error| panic!("{}: {error}", module.display()))
    }
}

/// The modules of a test that is a folder, by their names, with their sources. What holds it together is none.
///
/// # Panics
/// If they can't be read.
pub fn modules(test: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(test);
    let module = |path: &PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let is_source = path.is_dir() || path.extension().is_some_and(|extension| extension == "rs");
        (is_source && !["main", "support"].contains(&name.as_str())).then(|| (name, source_of(path)))
    };
    entries(&folder).iter().filter_map(module).collect()
}

/// The first block of a language that a source file of the runtime has in its documentation.
///
/// # Panics
/// If there is none.
pub fn documented(file: &str, language: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool-runtime/src").join(file);
    let text = source_of(&file);
    let fence = format!("```{language}");
    let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("///"));
    let lines = comments.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let block = lines.skip_while(|line| *line != fence).skip(1).take_while(|line| *line != "```");
    let block: String = block.map(|line| format!("{line}\n")).collect();
    assert!(!block.is_empty(), "{} has no {fence}", file.display());
    block
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
