//! Which key belongs where, and what to say of one that stands elsewhere.

use crate::names;

/// Where a key can stand.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// `#[tool(…)]`, outside `host(…)`.
    Model,
    /// `#[tool(host(…))]`.
    Host,
    /// `#[arg(…)]`.
    Param,
    /// `condition(…)` in there.
    Condition,
    /// `#[toolset(…)]`.
    Set,
    /// `#[tool_type(…)]`.
    Type,
}

struct Key {
    name: &'static str,
    /// How it is written.
    form: &'static str,
}

const fn key(name: &'static str, form: &'static str) -> Key {
    Key { name, form }
}

const MODEL: &[Key] = &[
    key("name", r#"name = "…""#),
    key("description", r#"description = "…""#),
    key("defer", "defer"),
    key("type", "type = Name"),
    key("args", "args = Name"),
    key("crate", "crate = path::to::sdk"),
    key("host", "host(…)"),
];

const HOST: &[Key] = &[
    key("timeout", r#"timeout = "5s""#),
    key("concurrency_safe", "concurrency_safe"),
    key("reads", "reads(argument)"),
    key("writes", "writes(argument)"),
    key("project", "project = path"),
    key("finalize", "finalize = path"),
    key("present_call", "present_call = path"),
    key("present_result", "present_result = path"),
    key("read_only", "read_only"),
    key("destructive", "destructive"),
    key("idempotent", "idempotent"),
    key("deterministic", "deterministic"),
    key("changes", r#"changes("…")"#),
    key("condition", r#"condition(name = "…", text = "…", holds = "…")"#),
    key("causes", "causes"),
    key("inline", "inline"),
];

const CONDITION: &[Key] = &[
    key("name", r#"name = "…""#),
    key("text", r#"text = "…""#),
    key("holds", r#"holds = "…""#),
    key("prohibits", r#"prohibits = "…""#),
    key("approve_if", r#"approve_if = "…""#),
    key("check", r#"check = "…""#),
    key("then", r#"then = "…""#),
    key("approver", r#"approver = "…""#),
];

const PARAM: &[Key] = &[
    key("default", "default = value"),
    key("alias", r#"alias = "…""#),
    key("rename", r#"rename = "…""#),
    key("example", "example = value"),
    key("range", "range = 1..=100"),
    key("length", "length = 1..=80"),
    key("pattern", r#"pattern = "…""#),
    key("format", r#"format = "…""#),
    key("path", "path"),
    key("secret", "secret"),
    key("authored", "authored"),
];

const SET: &[Key] = &[key("prefix", r#"prefix = "…""#), key("crate", "crate = path::to::sdk")];

const TYPE: &[Key] = &[key("crate", "crate = path::to::sdk")];

impl Place {
    fn keys(self) -> &'static [Key] {
        match self {
            Place::Model => MODEL,
            Place::Host => HOST,
            Place::Condition => CONDITION,
            Place::Param => PARAM,
            Place::Set => SET,
            Place::Type => TYPE,
        }
    }

    fn find(self, name: &str) -> Option<&'static Key> {
        self.keys().iter().find(|key| key.name == name)
    }
}

/// How the key is written, wherever it belongs.
pub(crate) fn form(name: &str) -> Option<&'static str> {
    [Place::Model, Place::Host, Place::Condition, Place::Param, Place::Set]
        .into_iter()
        .find_map(|place| place.find(name))
        .map(|key| key.form)
}

/// The message for a key that is not legal in `place`: where it belongs, or the nearest that is legal.
pub(crate) fn not_here(name: &str, place: Place) -> String {
    elsewhere(name, place).unwrap_or_else(|| {
        let legal: Vec<&str> = place.keys().iter().map(|key| key.name).collect();
        let list = names::list(&legal);
        match names::nearest(name, &legal) {
            Some(nearest) => {
                format!("unknown key `{name}`, did you mean `{nearest}`? legal here: {list}")
            }
            None => format!("unknown key `{name}`, legal here: {list}"),
        }
    })
}

fn elsewhere(name: &str, place: Place) -> Option<String> {
    let known = |place: Place| place.find(name).map(|key| key.form);
    let on_function = || {
        known(Place::Host)
            .map(|form| format!("#[tool(host({form}))]"))
            .or_else(|| known(Place::Model).map(|form| format!("#[tool({form})]")))
    };
    let on_parameter = || known(Place::Param).map(|form| format!("#[arg({form})]"));
    let belongs = |to: &str, form: String| format!("`{name}` belongs on {to}: write `{form}` there");
    match (place, name) {
        (Place::Model, _) => match known(Place::Host) {
            Some(form) => Some(format!("`{name}` is a host key and never reaches the model: write `host({form})`")),
            None => on_parameter().map(|form| belongs("a parameter", form)),
        },
        (Place::Host, "host") => Some("`host(…)` is not nested: write its keys here".to_owned()),
        (Place::Host, _) => match known(Place::Model) {
            Some(form) => Some(format!("`{name}` is about what the model sees: write `{form}` outside `host(…)`")),
            None => on_parameter().map(|form| belongs("a parameter", form)),
        },
        (Place::Param, "host" | "args") => Some(format!("`{name}` is an attribute of its own: write `#[{name}]`")),
        (Place::Param, "description" | "doc") => {
            Some("the description is the doc comment: write `/// …` above".to_owned())
        }
        (Place::Param, _) => on_function().map(|form| belongs("the function", form)),
        (Place::Condition, _) => None,
        (Place::Set, _) => on_function().map(|form| belongs("a method", form)),
        (Place::Type, _) => on_parameter().map(|form| belongs("a field", form)),
    }
}
