//! Members that nobody declared, and ones that go by several names.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;
use tool_runtime::{tool, tool_type};

use super::{KeepTool, NowTool};
use crate::support::{bench, objects, parameters};

/// Logs.
#[tool]
fn log(
    /// How far back.
    hours_back: Option<u32>,
) -> String {
    format!("{hours_back:?}")
}

/// Puts.
#[tool]
fn put(
    /// In here.
    parent_folder_id: String,
) -> String {
    parent_folder_id
}

#[tool_type]
#[derive(Debug)]
struct Filter {
    limit: Option<u32>,
    tags: Vec<Filter>,
}

/// Filters.
#[tool]
fn filter(
    /// By this.
    filter: Filter,
) -> String {
    format!("{filter:?}")
}

/// Takes more than is known.
#[tool_type]
#[derive(Debug)]
struct Open {
    name: String,
    #[serde(flatten)]
    more: HashMap<String, u8>,
}

/// Takes what is known, and more.
#[tool]
fn extras(#[args] open: Open) -> String {
    let more: BTreeMap<_, _> = open.more.into_iter().collect();
    format!("{} {more:?}", open.name)
}

#[tool_type]
#[derive(Debug)]
struct Paging {
    page: Option<u32>,
}

/// Part of it is another type.
#[tool_type]
#[derive(Debug)]
struct Listing {
    name: String,
    #[serde(flatten)]
    paging: Paging,
}

/// Lists.
#[tool]
fn listing(#[args] listing: Listing) -> String {
    format!("{} {:?}", listing.name, listing.paging.page)
}

/// Lists inside.
#[tool]
fn listing_inside(
    /// What.
    listing: Listing,
) -> String {
    format!("{} {:?}", listing.name, listing.paging.page)
}

#[tokio::test]
async fn b47_a_flattened_struct_opens_nothing() {
    let whole = bench(ListingTool::host());
    assert_eq!(whole.ok(r#"{"name":"n","page":1}"#).await, "n Some(1)");
    let problems = whole.refused(r#"{"name":"n","pages":1}"#).await;
    assert_eq!(problems, ["`pages`: unknown name; did you mean `page`?"]);
    let inside = bench(ListingInsideTool::host());
    assert_eq!(inside.ok(r#"{"listing":{"name":"n","page":1}}"#).await, "n Some(1)");
    let problems = inside.refused(r#"{"listing":{"name":"n","pages":1}}"#).await;
    assert_eq!(problems, ["`listing.pages`: unknown name; did you mean `page`?"]);
}

#[tokio::test]
async fn b47_unknown_names_are_refused_at_every_depth() {
    let log = bench(LogTool::host());
    assert_eq!(
        log.refused(r#"{"hours":1,"status":"x"}"#).await,
        ["`hours`: unknown name; did you mean `hours_back`?", "`status`: unknown name; known: `hours_back`",]
    );
    assert_eq!(bench(NowTool::host()).refused(r#"{"tz":"UTC"}"#).await, ["`tz`: unknown name; none is taken here"]);
    assert_eq!(
        bench(PutTool::host()).refused(r#"{"parentId":"1"}"#).await,
        ["`parent_folder_id`: missing, expected string", "`parentId`: unknown name; known: `parent_folder_id`",]
    );
    assert_eq!(
        bench(FilterTool::host())
            .refused(r#"{"filter":{"limit":1,"tags":[{"tags":[]},{"limits":1,"tags":[],"x":0}]}}"#)
            .await,
        [
            "`filter.tags[1].limits`: unknown name; did you mean `limit`?",
            "`filter.tags[1].x`: unknown name; known: `limit`, `tags`",
        ]
    );
    for tool in [LogTool::host(), PutTool::host(), FilterTool::host(), NowTool::host()] {
        for (pointer, object) in objects(&parameters(&tool)) {
            if object.get("type") == Some(&json!("object")) {
                assert_eq!(object.get("additionalProperties"), Some(&json!(false)), "{}{pointer}", tool.name());
            }
        }
    }
    let extras = bench(ExtrasTool::host());
    assert_eq!(extras.ok(r#"{"b":2,"name":"n","a":1}"#).await, r#"n {"a": 1, "b": 2}"#);
    assert_eq!(extras.judged(), [r#"{"name":"n","a":1,"b":2}"#]);
    assert_eq!(
        extras.refused(r#"{"name":"n","a":"1"}"#).await,
        ["`a`: expected integer from 0 to 255, got string \"1\""]
    );
}

/// Reads.
#[tool]
fn read(
    /// Which.
    file_path: String,
) -> String {
    file_path
}

/// Reads, whatever it is called.
#[tool]
fn read_alias(
    /// Which.
    #[arg(alias = "filePath", alias = "path")]
    file_path: String,
) -> String {
    file_path
}

#[tokio::test]
async fn b48_near_misses_are_named_and_aliases_are_one_argument() {
    let read = bench(ReadTool::host());
    for name in ["filePath", "FILE_PATH", "file-path", "path", "filepath"] {
        assert_eq!(
            read.refused(format!(r#"{{"{name}":"a"}}"#)).await,
            [
                "`file_path`: missing, expected string".to_owned(),
                format!("`{name}`: unknown name; did you mean `file_path`?"),
            ]
        );
    }
    assert_eq!(
        read.refused(r#"{"file_path":"a","filePath":"b"}"#).await,
        ["`filePath`: unknown name; did you mean `file_path`?"]
    );

    let shown = ReadAliasTool::schema().parameters();
    assert!(!shown.contains("filePath"), "{shown}");
    let alias = bench(ReadAliasTool::host());
    for arguments in [r#"{"file_path":"a"}"#, r#"{"filePath":"a"}"#, r#"{"path":"a"}"#] {
        assert_eq!(alias.ok(arguments).await, "a");
    }
    // Whoever judges sees one name.
    assert_eq!(alias.judged(), [r#"{"file_path":"a"}"#; 3]);
    for (arguments, also) in [
        (r#"{"file_path":"a","filePath":"b"}"#, "filePath"),
        (r#"{"filePath":"a","file_path":"b"}"#, ""),
        (r#"{"filePath":"a","path":"a"}"#, "path"),
    ] {
        let problems = alias.refused(arguments).await;
        assert_eq!(problems.len(), 1, "{problems:?}");
        let said = if also.is_empty() {
            "`file_path`: given twice".to_owned()
        } else {
            format!("`file_path`: given twice, also as `{also}`")
        };
        assert_eq!(problems, [said]);
    }
    assert_eq!(read.refused(r#"{"file_path":"a","file_path":"a"}"#).await, ["`file_path`: given twice"]);
}

#[tool_type]
#[derive(Debug)]
struct Aliased {
    #[arg(alias = "filePath")]
    file_path: String,
    #[serde(alias = "lineNo")]
    line_no: Option<u32>,
}

/// Reads inside.
#[tool]
fn read_inside(
    /// What.
    what: Aliased,
) -> String {
    format!("{} {:?}", what.file_path, what.line_no)
}

#[tokio::test]
async fn b48_aliases_of_fields_are_one_member_too() {
    let shown = ReadInsideTool::schema().parameters();
    assert!(!shown.contains("filePath") && !shown.contains("lineNo"), "{shown}");
    let inside = bench(ReadInsideTool::host());
    assert_eq!(inside.ok(r#"{"what":{"filePath":"a"}}"#).await, "a None");
    assert_eq!(inside.ok(r#"{"what":{"lineNo":1,"file_path":"a"}}"#).await, "a Some(1)");
    assert_eq!(inside.judged(), [r#"{"what":{"file_path":"a"}}"#, r#"{"what":{"file_path":"a","line_no":1}}"#]);
    assert_eq!(inside.refused(r#"{"what":{"filePath":"a","file_path":"b"}}"#).await, ["`what.file_path`: given twice"]);
}

/// A name that is given twice has two values, and whoever reads one of them is wrong.
#[tokio::test]
async fn b48_no_name_is_given_twice_at_any_depth() {
    let keep = bench(KeepTool::host());
    assert_eq!(keep.refused(r#"{"value":{"a":[{"b":1,"c":2,"b":3}]}}"#).await, ["`value.a[0].b`: given twice"]);
    assert_eq!(keep.refused(r#"{"value":{"a":1,"\u0061":1}}"#).await, ["`value.a`: given twice"]);
    assert_eq!(
        bench(FilterTool::host()).refused(r#"{"filter":{"tags":[],"limit":1,"limit":2}}"#).await,
        ["`filter.limit`: given twice"]
    );
    assert_eq!(bench(ExtrasTool::host()).refused(r#"{"name":"n","a":1,"a":2}"#).await, ["`a`: given twice"]);
}
