//! A type of every kind that a model can fill in, each as the arguments of a tool that gives them back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::num::NonZeroU8;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::Value;
use tool_runtime::{HostTool, Secret, tool, tool_type};

/// What the bodies were given last, as `serde_json` writes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Option<String>>>);

impl Seen {
    fn note(&self, value: &impl Serialize) {
        let text = serde_json::to_string(value).expect("the zoo's values can be written");
        *self.0.lock().unwrap() = Some(text);
    }

    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap().take()
    }
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Scalars {
    a: u8,
    b: u16,
    c: u32,
    d: u64,
    e: i8,
    f: i16,
    g: i32,
    h: i64,
    size: usize,
    positive: NonZeroU8,
    double: f64,
    flag: bool,
    letter: char,
    text: String,
    nothing: (),
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Wide {
    unsigned: u128,
    signed: i128,
    many: Vec<Option<i128>>,
}

/// What a `f32` keeps of a number isn't what the model wrote, so it isn't compared.
#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Single {
    single: f32,
    maybe: Option<f32>,
    many: Vec<f32>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Options {
    number: Option<i32>,
    text: Option<String>,
    twice: Option<Option<bool>>,
    inner: Option<Inner>,
    boxed: Option<Box<Inner>>,
    list: Option<Vec<Option<u8>>>,
    level: Option<Level>,
    choice: Option<External>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Collections {
    list: Vec<i32>,
    by_name: HashMap<String, i64>,
    inner_by_name: HashMap<String, Inner>,
    pair: (u8, String),
    triple: (f64, bool, Option<u8>),
    array: [u8; 3],
    grid: Vec<Vec<bool>>,
    boxed: Box<u16>,
    metres: Metres,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Sets {
    numbers: BTreeSet<u8>,
    words: BTreeSet<String>,
    pairs: BTreeSet<(u8, bool)>,
    hashed: HashSet<i64>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct NumberKeys {
    by_number: BTreeMap<u32, String>,
    by_signed: BTreeMap<i64, bool>,
    by_small: HashMap<u8, Vec<u8>>,
}

#[tool_type]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metres(f64);

#[tool_type]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inner {
    zeta: u8,
    alpha: Option<String>,
    #[arg(default = 7)]
    middle: i32,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Nested {
    inner: Inner,
    many: Vec<Inner>,
    by_name: BTreeMap<String, Inner>,
    unit: Empty,
    empty: EmptyBraces,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Empty;

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct EmptyBraces {}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    value: i64,
    children: Vec<Tree>,
    next: Option<Box<Tree>>,
}

#[tool_type]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Level {
    Low,
    High,
    #[serde(rename = "very-high")]
    VeryHigh,
}

#[tool_type]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Documented {
    /// The first.
    One,
    /// The second.
    Two,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) enum External {
    Nothing,
    Also,
    Number(u8),
    Pair(u8, String),
    Shape { width: u32, height: Option<u32> },
    Inner(Inner),
}

#[tool_type]
#[derive(Debug, Clone)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Internal {
    Nothing,
    Move { by: i64, to: Option<String> },
    Paint { colour: Level, layers: Vec<u8> },
    Whole(Inner),
}

#[tool_type]
#[derive(Debug, Clone)]
#[serde(tag = "t", content = "c")]
pub(crate) enum Adjacent {
    Nothing,
    Number(f64),
    Pair(bool, Level),
    Shape { side: u16 },
}

#[tool_type]
#[derive(Debug, Clone)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(i64),
    Text(String),
    List(Vec<u8>),
    Object { left: u8, right: Option<u8> },
    Other { left: String },
}

#[tool_type]
#[derive(Debug, Clone)]
#[serde(untagged)]
pub(crate) enum Expression {
    Number(i64),
    Name(String),
    All(Vec<Expression>),
    Sum { left: Box<Expression>, right: Box<Expression> },
    Less { left: Box<Expression>, than: Box<Expression> },
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Enums {
    level: Level,
    documented: Documented,
    external: External,
    internal: Internal,
    adjacent: Adjacent,
    untagged: Untagged,
    many: Vec<Internal>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Expressions {
    expression: Expression,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Page {
    #[arg(range = 1..=50)]
    size: u8,
    cursor: Option<String>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct FlatStruct {
    query: String,
    #[serde(flatten)]
    page: Page,
    inner: Vec<FlatInner>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct FlatInner {
    #[serde(flatten)]
    page: Page,
    last: bool,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct FlatMap {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, i64>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct FlatEnums {
    internal: FlatInternal,
    external: FlatExternal,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct FlatInternal {
    name: String,
    #[serde(flatten)]
    choice: Internal,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) enum Either {
    Left(u8),
    Right { text: String },
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct FlatExternal {
    name: Option<String>,
    #[serde(flatten)]
    choice: Either,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Free {
    value: Value,
    maybe: Option<Value>,
    list: Vec<Value>,
    map: BTreeMap<String, Value>,
    object: serde_json::Map<String, Value>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Limited {
    #[arg(range = -5..=5)]
    small: i64,
    #[arg(range = 0.5..2.0)]
    fraction: f64,
    #[arg(length = 1..=4)]
    short: String,
    #[arg(length = 2..=3)]
    few: Vec<u8>,
    #[arg(path)]
    path: String,
    #[arg(path, length = 3..=12)]
    near_path: Option<String>,
    #[arg(alias = "colour", alias = "hue")]
    color: Level,
    #[arg(rename = "type")]
    kind: String,
    #[arg(default = Level::High)]
    level: Level,
    #[arg(default)]
    count: u32,
    #[arg(default = Some(3))]
    top: Option<u8>,
    #[arg(default = Inner { zeta: 1, alpha: None, middle: 2 })]
    inner: Inner,
    #[arg(format = "date")]
    day: String,
    #[arg(secret)]
    key: Option<String>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    count: u8,
    text: Option<String>,
    level: Level,
    inner: Option<Inner>,
    number: f64,
    list: Vec<String>,
    path: String,
    name: String,
    key: String,
    token: u64,
    choice: Internal,
}

/// Everything that a parameter can say.
#[tool(host(inline))]
#[expect(clippy::too_many_arguments, reason = "one for each attribute")]
fn parameters(
    /// A bounded integer with a default.
    #[arg(default = 5, range = 1..=10)]
    count: u8,
    /// Something optional.
    text: Option<String>,
    /// A default that is an enum.
    #[arg(default = Level::Low)]
    level: Level,
    /// An optional struct.
    inner: Option<Inner>,
    /// A bounded number.
    #[arg(range = 0.0..1.0)]
    number: f64,
    /// A list with a length.
    #[arg(length = 0..=3)]
    list: Vec<String>,
    /// A path.
    #[arg(path)]
    path: String,
    /// Several names.
    #[arg(alias = "title", alias = "label", length = 1..=8)]
    name: String,
    /// A secret.
    #[arg(secret)]
    key: String,
    /// A secret by its type.
    token: Secret<u64>,
    /// A choice.
    choice: Internal,
    #[host] seen: &Seen,
) -> Parameters {
    let parameters =
        Parameters { count, text, level, inner, number, list, path, name, key, token: *token.expose(), choice };
    seen.note(&parameters);
    parameters
}

/// Takes nothing.
#[tool(host(inline))]
fn nothing() {}

macro_rules! echo {
    ($($function:ident($type:ty) => $tool:ident,)*) => {
        $(
            /// Gives back what it is given.
            #[tool(host(inline))]
            fn $function(#[args] value: $type, #[host] seen: &Seen) -> $type {
                seen.note(&value);
                value
            }
        )*

        /// Every tool of the zoo.
        pub(crate) fn tools() -> Vec<HostTool> {
            vec![$($tool::host(),)* ParametersTool::host(), NothingTool::host()]
        }
    };
}

echo! {
    scalars(Scalars) => ScalarsTool,
    wide(Wide) => WideTool,
    single(Single) => SingleTool,
    options(Options) => OptionsTool,
    collections(Collections) => CollectionsTool,
    sets(Sets) => SetsTool,
    number_keys(NumberKeys) => NumberKeysTool,
    nested(Nested) => NestedTool,
    tree(Tree) => TreeTool,
    enums(Enums) => EnumsTool,
    expressions(Expressions) => ExpressionsTool,
    flat_struct(FlatStruct) => FlatStructTool,
    flat_map(FlatMap) => FlatMapTool,
    flat_enums(FlatEnums) => FlatEnumsTool,
    free(Free) => FreeTool,
    limited(Limited) => LimitedTool,
}

/// A tool whose arrays are sets, which have no order.
pub(crate) fn has_sets(tool: &str) -> bool {
    tool == "sets"
}

/// Tools whose handler's values say less or other than the canonical text.
pub(crate) fn is_lossy(tool: &str) -> bool {
    tool == "single"
}
