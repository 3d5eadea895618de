//! Imports point one way: a module of the runtime knows only those above it in the map of its `lib.rs`.
//!
//! Reads every path that begins at the crate's root or leaves its module by `super`, in `use` lines and anywhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the top of the map down. `wire`, `harness` and `mcp` have rules of their own.
const ORDER: [&str; 12] = [
    "schema",
    "document",
    "call",
    "tool",
    "registry",
    "gate",
    "checklist",
    "ledger",
    "events",
    "execute",
    "agreement",
    "path",
];

/// All that `wire` may reach, also through others.
const OF_WIRE: [&str; 2] = ["schema", "call"];

/// What stands in `lib.rs` itself and is no module's.
const OF_THE_ROOT: [&str; 1] = ["BoxFuture"];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Colons,
    Sign(char),
}

/// The words and signs of Rust source, each with its line; comments, strings and characters are left out.
fn tokens(source: &str) -> Vec<(usize, Token)> {
    let text: Vec<char> = source.chars().collect();
    let at = |index: usize| text.get(index).copied().unwrap_or('\0');
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let mut found = Vec::new();
    let (mut index, mut line) = (0, 1);
    while index < text.len() {
        let begin = index;
        match text[index] {
            '/' if at(index + 1) == '/' => {
                while index < text.len() && text[index] != '\n' {
                    index += 1;
                }
            }
            '/' if at(index + 1) == '*' => {
                let mut depth = 0;
                loop {
                    match (at(index), at(index + 1)) {
                        ('/', '*') => (depth, index) = (depth + 1, index + 2),
                        ('*', '/') => (depth, index) = (depth - 1, index + 2),
                        _ => index += 1,
                    }
                    if depth == 0 || index >= text.len() {
                        break;
                    }
                }
            }
            '"' => index = after_string(&text, index),
            // A character, or a lifetime.
            '\'' if at(index + 1) == '\\' => {
                index += 3;
                while index < text.len() && text[index] != '\'' {
                    index += 1;
                }
                index += 1;
            }
            '\'' if at(index + 2) == '\'' => index += 3,
            '\'' => index += 1,
            ':' if at(index + 1) == ':' => {
                found.push((line, Token::Colons));
                index += 2;
            }
            c if is_word(c) => {
                while is_word(at(index)) {
                    index += 1;
                }
                let word: String = text[begin..index].iter().collect();
                let raw = ["r", "br", "cr"].contains(&word.as_str());
                if raw && at(index) == '#' && is_word(at(index + 1)) {
                    // A raw identifier: its name follows.
                    index += 1;
                } else if raw && matches!(at(index), '"' | '#') {
                    index = after_raw_string(&text, index);
                } else if ["b", "c"].contains(&word.as_str()) && at(index) == '"' {
                    index = after_string(&text, index);
                } else {
                    found.push((line, Token::Word(word)));
                }
            }
            c if c.is_whitespace() => index += 1,
            c => {
                found.push((line, Token::Sign(c)));
                index += 1;
            }
        }
        line += text[begin..index.min(text.len())].iter().filter(|&&c| c == '\n').count();
    }
    found
}

fn after_string(text: &[char], mut index: usize) -> usize {
    index += 1;
    while index < text.len() && text[index] != '"' {
        index += if text[index] == '\\' { 2 } else { 1 };
    }
    index + 1
}

fn after_raw_string(text: &[char], mut index: usize) -> usize {
    let hashes = text[index..].iter().take_while(|&&c| c == '#').count();
    index += hashes + 1;
    while index < text.len() {
        let closes =
            text[index] == '"' && text[index + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
        index += 1;
        if closes {
            return index + hashes;
        }
    }
    index
}

/// A path that a file names, from the root of the crate, and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    line: usize,
    path: Vec<String>,
}

/// The module of a file, such as `["schema", "json"]` of `schema/json/mod.rs`.
fn module_of(file: &str) -> Vec<String> {
    let mut module: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| ["mod", "lib"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

/// Every path of a file that begins with `crate` or `super`.
fn named(file: &str, source: &str) -> Vec<Named> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    // Where we are, and after how many open braces each inline module ends.
    let mut module = module_of(file);
    let mut inline: Vec<usize> = Vec::new();
    let mut depth = 0;
    let mut index = 0;
    while let Some((_, token)) = tokens.get(index) {
        let next = |by: usize| tokens.get(index + by).map(|(_, token)| token);
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => {
                if inline.last() == Some(&depth) {
                    inline.pop();
                    module.pop();
                }
                depth = depth.saturating_sub(1);
            }
            Token::Word(word) if word == "mod" => {
                if let (Some(Token::Word(name)), Some(Token::Sign('{'))) = (next(1), next(2)) {
                    module.push(name.clone());
                    depth += 1;
                    inline.push(depth);
                    index += 3;
                    continue;
                }
            }
            Token::Word(word) if word == "crate" || word == "super" => {
                let leads = next(1) == Some(&Token::Colons);
                let begins = index == 0
                    || !matches!(tokens.get(index - 1), Some((_, Token::Colons)))
                    || matches!(tokens.get(index.wrapping_sub(2)), Some((_, Token::Word(before))) if before == "self");
                if leads && begins {
                    let mut path = if word == "crate" { Vec::new() } else { parent(&module) };
                    let mut at = index + 2;
                    while tokens.get(at).map(|(_, token)| token) == Some(&Token::Word("super".to_owned()))
                        && tokens.get(at + 1).map(|(_, token)| token) == Some(&Token::Colons)
                    {
                        path = parent(&path);
                        at += 2;
                    }
                    tree(&tokens, &mut at, &path, &mut found);
                    // Braces of the tree are balanced, so the depth is as it was.
                    index = at.max(index + 1);
                    continue;
                }
            }
            _ => {}
        }
        index += 1;
    }
    found
}

fn parent(module: &[String]) -> Vec<String> {
    match module.split_last() {
        Some((_, parent)) => parent.to_vec(),
        None => vec!["super of the root".to_owned()],
    }
}

/// What follows a `::`: a path, a `*`, or a group of trees.
fn tree(tokens: &[(usize, Token)], at: &mut usize, path: &[String], found: &mut Vec<Named>) {
    let Some((line, token)) = tokens.get(*at) else { return };
    match token {
        Token::Word(word) => {
            let mut path = path.to_vec();
            if word == "super" {
                path = parent(&path);
            } else if word != "self" {
                path.push(word.clone());
            }
            *at += 1;
            let goes_on = tokens.get(*at).map(|(_, token)| token) == Some(&Token::Colons)
                && tokens.get(*at + 1).is_some_and(|(_, token)| *token != Token::Sign('<'));
            if goes_on {
                *at += 1;
                tree(tokens, at, &path, found);
            } else {
                found.push(Named { line: *line, path });
            }
        }
        Token::Sign('*') => {
            *at += 1;
            let mut path = path.to_vec();
            path.push("*".to_owned());
            found.push(Named { line: *line, path });
        }
        Token::Sign('{') => {
            *at += 1;
            while let Some((_, token)) = tokens.get(*at) {
                match token {
                    Token::Sign('}') => {
                        *at += 1;
                        return;
                    }
                    Token::Word(word) if word == "as" => *at += 2,
                    Token::Word(_) | Token::Sign('{' | '*') => tree(tokens, at, path, found),
                    _ => *at += 1,
                }
            }
        }
        _ => {}
    }
}

/// Everything that is wrong: the file, its line, and the rule.
fn violations(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    // Which modules each one names.
    let mut knows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, source) in files {
        let module = module_of(file);
        let Some(from) = module.first() else {
            // The root declares and re-exports.
            continue;
        };
        for Named { line, path } in named(file, source) {
            let Some(to) = path.first() else { continue };
            if to == from || OF_THE_ROOT.contains(&to.as_str()) {
                continue;
            }
            knows.entry(from.clone()).or_default().insert(to.clone());
            if let Some(rule) = forbids(from, to) {
                wrong.push(format!("tool-runtime/src/{file}:{line}: `crate::{}`: {rule}", path.join("::")));
            }
        }
    }
    let mut reached = BTreeSet::new();
    let mut pending = vec!["wire".to_owned()];
    while let Some(module) = pending.pop() {
        for to in knows.get(&module).into_iter().flatten() {
            if reached.insert(to.clone()) {
                pending.push(to.clone());
            }
        }
    }
    for module in reached {
        if module != "wire" && !OF_WIRE.contains(&module.as_str()) {
            wrong.push(format!(
                "`wire` reaches `{module}`, be it through others; it may reach `schema` and `call` alone"
            ));
        }
    }
    wrong
}

/// Why `from` may not name `to`.
fn forbids(from: &str, to: &str) -> Option<String> {
    let place = |module: &str| ORDER.iter().position(|known| *known == module);
    match (from, to) {
        (_, "__private") => Some("only generated code names `__private`".to_owned()),
        ("__private", _) => None,
        (_, "mcp") => Some("nobody knows `mcp`".to_owned()),
        ("mcp", to) if ["wire", "harness"].contains(&to) || place(to).is_some() => None,
        (_, "harness") => Some("only `mcp` may know `harness`".to_owned()),
        ("wire", to) if OF_WIRE.contains(&to) => None,
        ("wire", _) => Some("`wire` reaches `schema` and `call` alone".to_owned()),
        ("harness", to) if to == "wire" || place(to).is_some() => None,
        (_, "wire") => Some("only `harness` and `mcp` may know `wire`".to_owned()),
        (from, to) => match (place(from), place(to)) {
            (Some(from), Some(to)) if to < from => None,
            (Some(_), Some(_)) => Some(format!("`{to}` stands below `{from}`, which knows only those above it")),
            (None, _) => Some(format!("`{from}` isn't in the map of `lib.rs`")),
            (_, None) => Some(format!("name the module that `{to}` is in: a re-export of the root hides it")),
        },
    }
}

fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool-runtime/src");
    let mut files = BTreeMap::new();
    let mut pending: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = pending.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => panic!("{}: {error}", folder.display()),
        };
        for entry in entries {
            let path = entry.map(|entry| entry.path()).unwrap_or_else(|error| panic!("{error}"));
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).map(|path| path.to_string_lossy().replace('\\', "/"));
                let text = fs::read_to_string(&path);
                match (name, text) {
                    (Ok(name), Ok(text)) => files.insert(name, text),
                    (name, text) => panic!("{}: {name:?}, {text:?}", path.display()),
                };
            }
        }
    }
    files
}

#[test]
fn imports_point_up_the_map() {
    let files = sources();
    assert!(files.len() > 40, "only {} files were found", files.len());
    let wrong = violations(&files);
    assert!(wrong.is_empty(), "imports that point down the map of `lib.rs`:\n{}", wrong.join("\n"));
}

/// The test and the map say the same, and nothing is left out of the map.
#[test]
fn the_map_names_every_module_in_order() {
    let files = sources();
    let lib = &files["lib.rs"];
    let of_row = |line: &str| {
        let cell = line.strip_prefix("//! | ")?.split(" |").next()?.trim_matches(['[', ']', '`']).to_owned();
        (!["module", "---", ""].contains(&cell.as_str()) && !cell.starts_with('-')).then_some(cell)
    };
    let map: Vec<String> = lib.lines().filter_map(of_row).collect();
    assert_eq!(map, [&ORDER[..], &["wire", "harness", "mcp"]].concat());
    let declared: BTreeSet<&str> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .filter(|module| *module != "__private")
        .collect();
    assert_eq!(declared, map.iter().map(String::as_str).collect());
    let in_folders: BTreeSet<String> = files.keys().filter_map(|file| module_of(file).into_iter().next()).collect();
    let expected: BTreeSet<String> = map.into_iter().chain(["__private".to_owned()]).collect();
    assert_eq!(in_folders, expected);
}

/// What the checker says of files that are planted.
fn with(planted: &[(&str, &str)]) -> Vec<String> {
    violations(&planted.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect())
}

#[test]
fn a_planted_import_is_found() {
    for (file, text, line) in [
        ("schema/planted.rs", "use crate::call::Content;", 1),
        ("schema/planted.rs", "\n\nfn f() -> crate::tool::HostTool { todo!() }", 3),
        ("schema/json/planted.rs", "use super::super::super::tool::HostTool;", 1),
        ("schema/planted/mod.rs", "mod tests {\n    use super::super::super::ledger::Verdict;\n}", 2),
        ("schema/planted.rs", "mod a { mod b { } use super::super::super::gate::Policy; }", 1),
        (
            "call/planted.rs",
            "use std::fmt;\nuse crate::{\n    schema::Digest,\n    path::{Permit, settle::Settled},\n};",
            4,
        ),
        ("tool/planted.rs", "pub(crate) use crate::registry::*;", 1),
        ("gate/planted.rs", "use super::super::{schema, ledger as l};", 1),
        ("ledger/planted.rs", "const X: &str = \"\\\" // no comment\"; use crate::execute::run_body;", 1),
        ("ledger/planted.rs", "const X: &str = r#\"\"/*\"#; type Y = crate::execute::Ended;", 1),
        ("execute/planted.rs", "fn f(c: char) -> bool { c == '\"' || crate::path::Loaded::new().has(\"\") }", 1),
        ("path/planted.rs", "use crate::harness::Harness;", 1),
        ("path/planted.rs", "use crate::wire::openai_chat;", 1),
        ("harness/planted.rs", "use crate::mcp::McpServer;", 1),
        ("registry/planted.rs", "use crate::HostTool;", 1),
        ("registry/planted.rs", "use crate::*;", 1),
        ("registry/planted.rs", "use crate::__private::Tool;", 1),
        ("wire/planted.rs", "use crate::tool::HostTool;", 1),
        ("wire/planted.rs", "use super::super::execute::run_body;", 1),
        ("elsewhere.rs", "use crate::schema::Digest;", 1),
        ("execute/planted.rs", "use self::super::super::path::Permit;", 1),
    ] {
        let wrong = with(&[(file, text)]);
        let place = format!("tool-runtime/src/{file}:{line}: ");
        assert!(wrong.iter().any(|wrong| wrong.starts_with(&place)), "{text:?} passes as {file}: {wrong:?}");
    }
}

#[test]
fn what_wire_reaches_through_others_is_found() {
    let wrong =
        with(&[("call/planted.rs", "use crate::ledger::Verdict;"), ("wire/planted.rs", "use crate::call::ToolCall;")]);
    assert!(wrong.iter().any(|wrong| wrong.starts_with("`wire` reaches `ledger`")), "{wrong:?}");
}

#[test]
fn what_is_allowed_passes() {
    for (file, text) in [
        ("call/planted.rs", "use crate::schema::{Digest, json::{Json, self}};\nuse crate::BoxFuture;"),
        (
            "schema/planted.rs",
            "// use crate::tool::HostTool;\n/* crate::tool /* */ crate::tool */\n//! [`crate::tool`]",
        ),
        ("schema/planted.rs", "const X: &str = \"crate::tool::HostTool\"; const Y: &str = r#\"crate::\"tool\"#;"),
        ("schema/json/planted.rs", "use super::super::digest::Digest; pub(in crate::schema) fn f<'a>(_: &'a str) {}"),
        ("harness.rs", "use crate::path::Permit; use crate::wire::openai_chat;"),
        ("mcp/planted.rs", "use crate::harness::Harness; use crate::wire::Value;"),
        ("wire/planted.rs", "use crate::call::ToolCall; use super::openai_chat;"),
        ("path/planted.rs", "use crate::execute::Ended; mod tests { use super::super::permit::Permit; }"),
        ("gate/planted.rs", "mod tests { use super::*; mod deep { use super::super::*; } } use super::policy;"),
    ] {
        assert_eq!(with(&[(file, text)]), [] as [String; 0], "{text:?} as {file}");
    }
}
