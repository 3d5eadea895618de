//! Conditions as CEL expressions: what they say is what another evaluator says, or that nobody can say; and no text
//! and no argument breaks them.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::UNIX_EPOCH;

use cel::{Context, Program, Value};
use proptest::prelude::*;
use proptest::sample::select;
use tests::config;
use tool_runtime::{DynamicTool, Expression, Facts, HostTool, Reason, ReasonKind, Scope, Truth};

static TOOL: LazyLock<HostTool> = LazyLock::new(|| {
    DynamicTool::builder("pay", "Pays.")
        .parameters(
            r#"{"type":"object","additionalProperties":false,"required":["n","m","f","s","t","b","l","w","r"],
                "properties":{"n":{"type":"integer"},"m":{"type":"integer"},"f":{"type":"number"},
                "s":{"type":"string"},"t":{"type":"string"},"b":{"type":"boolean"},"o":{"type":"string"},
                "l":{"type":"array","items":{"type":"integer"}},"w":{"type":"array","items":{"type":"string"}},
                "r":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["k"],
                     "properties":{"k":{"type":"integer"},"v":{"type":"string"}}}}}}"#,
        )
        .output("true")
        .run(|arguments, _| async move { Ok(arguments) })
        .expect("a legal tool")
});

fn scope() -> Scope<'static> {
    Scope::new().tool(&TOOL).state("x").caller("id")
}

const EDGES: [i64; 11] =
    [0, 1, -1, 7, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, i64::MAX - 1, i64::MAX, i64::MIN + 1];

/// Arguments, as JSON and as the other evaluator has them.
#[derive(Debug, Clone)]
struct Call {
    integers: [i64; 2],
    fraction: f64,
    texts: [String; 2],
    boolean: bool,
    option: Option<String>,
    list: Vec<i64>,
    words: Vec<String>,
    records: Vec<(i64, Option<String>)>,
}

fn integers() -> impl Strategy<Value = i64> {
    prop_oneof![3 => -4..5_i64, 1 => select(&EDGES[..])]
}

fn words() -> impl Strategy<Value = String> {
    select(&["", "a", "b", "ab", "é", "a\"b\\"][..]).prop_map(str::to_owned)
}

fn fractions() -> impl Strategy<Value = f64> {
    select(&[0.5, -0.5, 2.0, 2.5, 1e-7, 0.1, 1e15][..])
}

fn calls() -> impl Strategy<Value = Call> {
    let records = proptest::collection::vec((integers(), proptest::option::of(words())), 0..4);
    let lists = (proptest::collection::vec(integers(), 0..5), proptest::collection::vec(words(), 0..4), records);
    let scalars =
        ([integers(), integers()], fractions(), [words(), words()], any::<bool>(), proptest::option::of(words()));
    (scalars, lists).prop_map(|((integers, fraction, texts, boolean, option), (list, words, records))| Call {
        integers,
        fraction,
        texts,
        boolean,
        option,
        list,
        words,
        records,
    })
}

impl Call {
    fn json(&self) -> String {
        let quoted = |text: &String| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let record = |(k, v): &(i64, Option<String>)| match v {
            Some(v) => format!("{{\"k\":{k},\"v\":{}}}", quoted(v)),
            None => format!("{{\"k\":{k}}}"),
        };
        let joined = |elements: Vec<String>| elements.join(",");
        let [n, m] = self.integers;
        let [s, t] = &self.texts;
        format!(
            "{{\"n\":{n},\"m\":{m},\"f\":{},\"s\":{},\"t\":{},\"b\":{},{}\"l\":[{}],\"w\":[{}],\"r\":[{}]}}",
            self.fraction,
            quoted(s),
            quoted(t),
            self.boolean,
            self.option.as_ref().map(|option| format!("\"o\":{},", quoted(option))).unwrap_or_default(),
            joined(self.list.iter().map(i64::to_string).collect()),
            joined(self.words.iter().map(quoted).collect()),
            joined(self.records.iter().map(record).collect()),
        )
    }

    fn values(&self) -> Value {
        let text = |text: &String| Value::from(text.clone());
        let record = |(k, v): &(i64, Option<String>)| {
            let mut members: HashMap<String, Value> = [("k".to_owned(), Value::Int(*k))].into();
            members.extend(v.as_ref().map(|v| ("v".to_owned(), text(v))));
            Value::from(members)
        };
        let list = |elements: Vec<Value>| Value::List(elements.into());
        let mut members: HashMap<String, Value> = HashMap::new();
        let mut add = |name: &str, value: Value| members.insert(name.to_owned(), value);
        add("n", Value::Int(self.integers[0]));
        add("m", Value::Int(self.integers[1]));
        // As JSON has it: a whole number is an integer.
        let whole = self.fraction.fract() == 0.0;
        add("f", if whole { Value::Int(self.fraction as i64) } else { Value::Float(self.fraction) });
        add("s", text(&self.texts[0]));
        add("t", text(&self.texts[1]));
        add("b", Value::Bool(self.boolean));
        if let Some(option) = &self.option {
            add("o", text(option));
        }
        add("l", list(self.list.iter().copied().map(Value::Int).collect()));
        add("w", list(self.words.iter().map(text).collect()));
        add("r", list(self.records.iter().map(record).collect()));
        Value::from(members)
    }
}

/// Texts of expressions of the three kinds that conditions are made of.
#[derive(Debug, Clone)]
struct Texts {
    integer: String,
    text: String,
    boolean: String,
}

fn leaves() -> impl Strategy<Value = Texts> {
    let integer = prop_oneof![
        integers().prop_map(|integer| if integer < 0 { format!("({integer})") } else { integer.to_string() }),
        select(&["args.n", "args.m", "size(args.s)", "args.l.size()", "args.w.size()"][..]).prop_map(str::to_owned),
    ];
    let text = prop_oneof![
        select(&["''", "'a'", "\"ab\"", "'é'", "'a\"b\\\\'"][..]).prop_map(str::to_owned),
        select(&["args.s", "args.t"][..]).prop_map(str::to_owned),
    ];
    let boolean =
        select(&["true", "false", "args.b", "has(args.o)", "args.f < 1", "args.f >= 0.5", "args.f == args.f"][..]);
    (integer, text, boolean).prop_map(|(integer, text, boolean)| Texts { integer, text, boolean: boolean.to_owned() })
}

fn expressions() -> impl Strategy<Value = String> {
    let deeper = |inner: BoxedStrategy<Texts>| {
        let integer = (select(&["+", "-", "*", "/", "%"][..]), inner.clone(), inner.clone(), any::<bool>()).prop_map(
            |(operator, a, b, choice)| match choice {
                true => format!("({} {operator} {})", a.integer, b.integer),
                false => format!("({} ? {} : {})", a.boolean, a.integer, b.integer),
            },
        );
        let text = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, choice)| match choice {
            true => format!("({} + {})", a.text, b.text),
            false => format!("({} ? {} : {})", a.boolean, a.text, b.text),
        });
        let compared = select(&["==", "!=", "<", "<=", ">", ">="][..]);
        let boolean = (0..17, compared, inner.clone(), inner).prop_map(|(form, operator, a, b)| match form {
            0 | 1 => format!("({} {operator} {})", a.integer, b.integer),
            2 => format!("({} {operator} {})", a.text, b.text),
            3 | 4 => format!("({} && {})", a.boolean, b.boolean),
            5 | 6 => format!("({} || {})", a.boolean, b.boolean),
            7 => format!("(!{})", a.boolean),
            8 => format!("({} in args.l)", a.integer),
            9 => format!("({} in [{}, 'a'])", a.text, b.text),
            10 => format!("{}.startsWith({})", a.text, b.text),
            11 => format!("(has(args.o) && args.o {operator} {})", a.text),
            12 => format!("(!has(args.o) || args.o.contains({}))", a.text),
            13 => format!("args.l.exists(x, x {operator} {})", a.integer),
            14 => format!("args.w.all(x, x {operator} {} || {})", a.text, b.boolean),
            15 => format!("args.r.filter(x, has(x.v) && x.v != {}).map(x, x.k) == args.l", a.text),
            _ => format!("args.r.exists_one(x, x.k {operator} {})", b.integer),
        });
        (integer, text, boolean).prop_map(|(integer, text, boolean)| Texts { integer, text, boolean }).boxed()
    };
    leaves().prop_recursive(4, 24, 2, deeper).prop_map(|texts| texts.boolean)
}

fn said(truth: &Truth) -> Option<bool> {
    match truth {
        Truth::True => Some(true),
        Truth::False => Some(false),
        Truth::Unknown(_) => None,
    }
}

/// What anybody may rely on, whatever an expression is and whatever it is judged by.
fn holds_for_all(text: &str, expression: &Expression, facts: &Facts) {
    let truth = expression.judge(facts);
    assert_eq!(truth, expression.judge(facts), "{text}");
    let value = expression.value(facts);
    match &truth {
        Truth::Unknown(reason) => {
            assert_ne!(reason.kind(), ReasonKind::Broken, "{text}: {reason}");
            assert!(!value.is_ok_and(|value| value == "true" || value == "false"), "{text}: {reason}");
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&reason.line()) && reason.column() >= 1, "{text}: {reason}");
        }
        truth => assert_eq!(value.as_deref(), Ok(if *truth == Truth::True { "true" } else { "false" }), "{text}"),
    }
}

/// Tokens that expressions are made of, and some that they are not.
const TOKENS: &[&str] = &[
    "args",
    "state",
    "caller",
    "now",
    ".",
    ".",
    "n",
    "s",
    "l",
    "r",
    "x",
    "id",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">=",
    "&&",
    "||",
    "in",
    "has",
    "size",
    "all",
    "map",
    "exists",
    "filter",
    "sum",
    "timestamp",
    "duration",
    "getHours",
    "1",
    "9223372036854775807",
    "9223372036854775808",
    "0.5",
    "1e400",
    "2u",
    "'a'",
    "\"",
    "'",
    "'''",
    "b'x'",
    "r'\\'",
    "\\",
    "true",
    "null",
    "if",
    "`a`",
    "//",
    "\n",
    "\0",
    "§",
    "\u{202e}",
    "=",
    "&",
    "@",
    "args.n",
    "args.s",
    "args.l",
    "state.x",
    "args.l.map(x, ",
    "has(state.x.y)",
];

/// Is it an expression?
fn is_judged_or_refused(text: &str, call: &Call) -> bool {
    let compiled = Expression::compile(text, &scope());
    let is_judged = compiled.is_ok();
    match compiled {
        Ok(expression) => {
            for facts in [
                Facts::new(&call.json()),
                Facts::new("{}").state("x", &call.json()).caller("id", "i").now(UNIX_EPOCH),
                Facts::without_arguments().state("x", "[1"),
            ] {
                holds_for_all(text, &expression, &facts);
            }
        }
        Err(error) => {
            let lines: Vec<&str> = text.split('\n').collect();
            assert!(error.faults().len() > 0);
            for fault in error.faults() {
                let line = lines.get(fault.line() - 1).unwrap_or_else(|| panic!("{text:?}: {fault}"));
                assert!((1..=line.chars().count() + 1).contains(&fault.column()), "{text:?}: {fault}");
                assert!(!fault.what().chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}: {fault}");
                assert!(!fault.what().contains("broke"), "{text:?}: {fault}");
                assert!(fault.what().len() < 1000, "{text:?}: {fault}");
            }
        }
    }
    is_judged
}

proptest! {
    #![proptest_config(config(400))]

    /// Where this evaluator has an answer, it is the one of the `cel` crate, and where only that has one, it is
    /// about numbers that aren't exact.
    #[test]
    fn an_answer_is_the_answer_of_cel(text in expressions(), call in calls()) {
        let facts = Facts::new(&call.json());
        let expression = Expression::condition(&text, &scope());
        // Literals that can never be equal are refused, and comprehensions in others, and what is too deep.
        let Ok(expression) = expression else { return Ok(()) };
        holds_for_all(&text, &expression, &facts);
        let program = Program::compile(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut context = Context::default();
        context.add_variable_from_value("args", call.values());
        let theirs = program.execute(&context);
        match (expression.judge(&facts), &theirs) {
            // Whatever compiled reads nothing that may be absent, and compares nothing with another kind.
            (Truth::Unknown(reason), _) => {
                prop_assert!(matches!(reason.kind(), ReasonKind::Arithmetic | ReasonKind::Unreadable), "{reason}");
            }
            (truth, theirs) => {
                prop_assert_eq!(theirs.clone().ok(), said(&truth).map(Value::Bool), "{}: {:?}", text, call);
            }
        }
    }

    #[test]
    fn no_tokens_break_it(tokens in proptest::collection::vec(select(TOKENS), 0..40), spaced: bool, call in calls()) {
        is_judged_or_refused(&tokens.join(if spaced { " " } else { "" }), &call);
    }

    /// Of what is observed nobody knows whether it is there, what kind it is, or whether it can be read at all.
    #[test]
    fn nothing_observed_breaks_it(text in expressions(), call in calls()) {
        let observed = text.replace("args.", "state.x.");
        // Less is known of it than of arguments, so nothing more is refused.
        let is_judged = is_judged_or_refused(&observed, &call);
        prop_assert!(is_judged || Expression::compile(&text, &scope()).is_err(), "{}", observed);
    }

    /// Near to what compiles is what nearly does.
    #[test]
    fn no_change_breaks_it(text in expressions(), cut: prop::sample::Index, length in 0..4_usize, put in select(TOKENS),
                           call in calls()) {
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
        let at = cut.index(places.len());
        let end = (at + length).min(places.len() - 1);
        is_judged_or_refused(&format!("{}{put}{}", &text[..places[at]], &text[places[end]..]), &call);
    }

    #[test]
    fn no_text_breaks_it(text in "\\PC{0,60}|[ -~\n]{0,60}", call in calls()) {
        is_judged_or_refused(&text, &call);
    }

    /// Exactly as integers of any size are ordered, or unreadable.
    #[test]
    fn inv15_integers_are_compared_exactly(near in select(&[0, 1_i128 << 53, 1 << 63, -(1 << 53), -(1 << 63)][..]),
                                           a in -3..4_i128, b in -3..4_i128) {
        let (a, b) = (near + a, near + b);
        let Ok(literal) = i64::try_from(b) else { return Ok(()) };
        for (operator, expected) in [("==", a == b), ("!=", a != b), ("<", a < b), ("<=", a <= b), (">", a > b), (">=", a >= b)] {
            let text = format!("state.x {operator} {literal}");
            let expression = Expression::condition(&text, &scope()).unwrap_or_else(|error| panic!("{text}: {error}"));
            let truth = expression.judge(&Facts::without_arguments().state("x", &a.to_string()));
            match i64::try_from(a) {
                Ok(_) => prop_assert_eq!(said(&truth), Some(expected), "{} {}", a, text),
                Err(_) => prop_assert!(
                    matches!(&truth, Truth::Unknown(reason) if reason.kind() == ReasonKind::Unreadable), "{a} {text}"
                ),
            }
        }
    }

    /// A fraction next to an integer is on its right side, or nobody can say.
    #[test]
    fn inv15_fractions_are_not_rounded_to_integers(integer in -(1_i64 << 54)..1 << 54, over: bool) {
        let fraction = format!("{integer}.{}", if over { "5" } else { "0" });
        let Ok(expression) = Expression::condition("state.x.a < state.x.b", &scope()) else { panic!() };
        let truth = expression.judge(&Facts::without_arguments().state("x", &format!(r#"{{"a":{integer},"b":{fraction}}}"#)));
        if integer.unsigned_abs() < 1 << 52 {
            prop_assert_eq!(said(&truth), Some(over && integer >= 0), "{}", fraction);
        }
        if said(&truth) == Some(true) {
            prop_assert!(over, "{fraction}");
        }
    }
}

/// What holds everywhere can be shared between threads.
#[test]
fn expressions_and_facts_are_shared() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Expression>();
    shared::<Facts>();
    shared::<Reason>();
}

/// Answers that don't depend on which features of `serde_json` a build has.
#[test]
fn inv15_answers_are_the_same_in_every_build() {
    let facts = Facts::new(
        r#"{"n":9007199254740993,"m":30,"f":0.1,"s":"a","t":"b","b":true,"l":[1,18446744073709551615],"w":[],"r":[]}"#,
    )
    .state("x", r#"{"z":1e2,"a":0.30000000000000004,"i":12345678901234567890,"b":1.10,"half":0.5}"#);
    for (text, expected) in [
        ("args.n", Ok("9007199254740993")),
        ("args.n - 1", Ok("9007199254740992")),
        ("args.f + 0.2", Ok("0.3")),
        ("args.f + 0.2 == state.x.a", Ok("false")),
        ("state.x.z + args.m", Ok("130")),
        ("state.x.b", Ok("1.1")),
        ("[state.x.half, state.x.z]", Ok("[0.5,100]")),
        ("state.x.i", Err(ReasonKind::Unreadable)),
        ("args.l[1]", Err(ReasonKind::Unreadable)),
        ("args.l.sum()", Err(ReasonKind::Unreadable)),
        ("args.n == state.x.half", Err(ReasonKind::Unreadable)),
    ] {
        let expression = Expression::compile(text, &scope()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let value = expression.value(&facts);
        assert_eq!(value.as_deref().map_err(Reason::kind), expected, "{text}");
    }
}
