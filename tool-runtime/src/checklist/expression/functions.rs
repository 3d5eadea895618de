//! The functions that an expression can call, and what they take and give.

use super::kinds::Kinds;
use super::time::Part;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    LowerAscii,
    UpperAscii,
    Trim,
    Sum,
    Least,
    Greatest,
    Integer,
    Double,
    Text,
    Timestamp,
    Duration,
    Part(Part),
}

/// One way to call a function. The receiver of a method is its first operand.
pub(super) struct Signature {
    pub(super) name: &'static str,
    pub(super) is_method: bool,
    pub(super) takes: &'static [Kinds],
    pub(super) gives: Kinds,
    pub(super) function: Function,
}

const fn method(name: &'static str, takes: &'static [Kinds], gives: Kinds, function: Function) -> Signature {
    Signature { name, is_method: true, takes, gives, function }
}

const fn global(name: &'static str, takes: &'static [Kinds], gives: Kinds, function: Function) -> Signature {
    Signature { name, is_method: false, takes, gives, function }
}

const TEXTS: &[Kinds] = &[Kinds::STRING, Kinds::STRING];
const SIZED: &[Kinds] = &[Kinds::STRING.or(Kinds::LIST).or(Kinds::MAP)];
const MOMENT: &[Kinds] = &[Kinds::MOMENT];
const MOMENT_AT: &[Kinds] = &[Kinds::MOMENT, Kinds::STRING];
/// `getMilliseconds` of a duration isn't here: implementations of CEL disagree about it.
const TIMED: &[Kinds] = &[Kinds::MOMENT.or(Kinds::SPAN)];

/// `sum`, `min` and `max` are no functions of CEL; all others mean what they mean there.
pub(super) const SIGNATURES: &[Signature] = &[
    global("size", SIZED, Kinds::INTEGER, Function::Size),
    method("size", SIZED, Kinds::INTEGER, Function::Size),
    method("contains", TEXTS, Kinds::BOOLEAN, Function::Contains),
    method("startsWith", TEXTS, Kinds::BOOLEAN, Function::StartsWith),
    method("endsWith", TEXTS, Kinds::BOOLEAN, Function::EndsWith),
    method("lowerAscii", &[Kinds::STRING], Kinds::STRING, Function::LowerAscii),
    method("upperAscii", &[Kinds::STRING], Kinds::STRING, Function::UpperAscii),
    method("trim", &[Kinds::STRING], Kinds::STRING, Function::Trim),
    method("sum", &[Kinds::LIST], Kinds::NUMBER, Function::Sum),
    method("min", &[Kinds::LIST], Kinds::NUMBER, Function::Least),
    method("max", &[Kinds::LIST], Kinds::NUMBER, Function::Greatest),
    global("int", &[Kinds::NUMBER.or(Kinds::STRING)], Kinds::INTEGER, Function::Integer),
    global("double", &[Kinds::NUMBER.or(Kinds::STRING)], Kinds::FRACTION, Function::Double),
    global(
        "string",
        &[Kinds::NUMBER.or(Kinds::STRING).or(Kinds::BOOLEAN).or(Kinds::MOMENT).or(Kinds::SPAN)],
        Kinds::STRING,
        Function::Text,
    ),
    global("timestamp", &[Kinds::STRING.or(Kinds::MOMENT)], Kinds::MOMENT, Function::Timestamp),
    global("duration", &[Kinds::STRING.or(Kinds::SPAN)], Kinds::SPAN, Function::Duration),
    method("getFullYear", MOMENT, Kinds::INTEGER, Function::Part(Part::Year)),
    method("getFullYear", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::Year)),
    method("getMonth", MOMENT, Kinds::INTEGER, Function::Part(Part::Month)),
    method("getMonth", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::Month)),
    method("getDayOfMonth", MOMENT, Kinds::INTEGER, Function::Part(Part::DayOfMonth)),
    method("getDayOfMonth", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::DayOfMonth)),
    method("getDate", MOMENT, Kinds::INTEGER, Function::Part(Part::Date)),
    method("getDate", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::Date)),
    method("getDayOfWeek", MOMENT, Kinds::INTEGER, Function::Part(Part::DayOfWeek)),
    method("getDayOfWeek", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::DayOfWeek)),
    method("getDayOfYear", MOMENT, Kinds::INTEGER, Function::Part(Part::DayOfYear)),
    method("getDayOfYear", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::DayOfYear)),
    method("getHours", TIMED, Kinds::INTEGER, Function::Part(Part::Hours)),
    method("getHours", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::Hours)),
    method("getMinutes", TIMED, Kinds::INTEGER, Function::Part(Part::Minutes)),
    method("getMinutes", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::Minutes)),
    method("getSeconds", TIMED, Kinds::INTEGER, Function::Part(Part::Seconds)),
    method("getSeconds", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::Seconds)),
    method("getMilliseconds", MOMENT, Kinds::INTEGER, Function::Part(Part::Milliseconds)),
    method("getMilliseconds", MOMENT_AT, Kinds::INTEGER, Function::Part(Part::Milliseconds)),
];

/// What isn't a function here, and what to write for it.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "matches" => {
            "`matches` isn't here: write `startsWith`, `endsWith` or `contains`, or give the argument a `pattern`"
        }
        "uint" => "`uint` isn't here: integers have a sign; write `int`",
        "bytes" => "`bytes` isn't here: JSON has none",
        "dyn" => "`dyn` isn't needed: kinds are checked when the value is there",
        "type" => "`type` isn't here: a value of another kind has no answer",
        "exists_one" | "all" | "exists" | "map" | "filter" => {
            "is written behind a list, with a name and an expression: `list.exists(x, x > 1)`"
        }
        _ => return None,
    })
}
