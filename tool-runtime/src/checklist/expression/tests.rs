use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::schema::JsonPath;
use crate::tool::{DynamicTool, HostTool};

const PAY: &str = r#"{"type":"object","additionalProperties":false,
    "required":["to","amount","items","cabin","count","from","limit","day","ok"],
    "properties":{
        "to":{"type":"string"},"amount":{"type":"number"},"count":{"type":"integer"},"ok":{"type":"boolean"},
        "memo":{"type":"string"},"limit":{"type":["integer","null"]},"day":{"type":"string"},
        "cabin":{"enum":["economy","business"]},
        "file-name":{"type":"string"},
        "from":{"type":"object","additionalProperties":false,"required":["iban"],
                "properties":{"iban":{"type":"string","x-tool-alias":["account"]},"bic":{"type":"string"}}},
        "via":{"type":"object","additionalProperties":false,"required":["iban"],
               "properties":{"iban":{"type":"string"}}},
        "maybe":{"anyOf":[{"type":"null"},{"type":"object","required":["x"],"properties":{"x":{"type":"integer"}}}]},
        "items":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["price","count"],
                 "properties":{"price":{"type":"number"},"count":{"type":"integer"},"note":{"type":"string"}}}},
        "tags":{"type":"array","items":{"type":"string"},"default":[]},
        "free":{}}}"#;

const CALL: &str = r#"{"to":"bob","amount":30.5,"count":3,"ok":true,"limit":null,"day":"2024-03-01","cabin":"economy",
    "from":{"iban":"DE1"},"items":[{"price":0.1,"count":1},{"price":0.2,"count":2,"note":"x"}],"tags":["a","b"]}"#;

fn tool() -> HostTool {
    DynamicTool::builder("pay", "Pays.")
        .parameters(PAY)
        .output("true")
        .run(|arguments, _| async move { Ok(arguments) })
        .unwrap()
}

fn with_scope<T>(test: impl FnOnce(&Scope<'_>) -> T) -> T {
    let tool = tool();
    let account = r#"{"type":"object","required":["balance"],"additionalProperties":false,
        "properties":{"balance":{"type":"number"},"closed":{"type":"boolean"}}}"#;
    let scope = Scope::new().tool(&tool).state("weather").state("seats").caller("role");
    test(&scope.state_of("account", account).unwrap())
}

fn facts() -> Facts {
    Facts::new(CALL)
        .state("account", r#"{"balance":50}"#)
        .state("weather", r#"{"wind":{"speed":9007199254740993},"rain":null,"gust":12.5}"#)
        .caller("role", "clerk")
        .now(UNIX_EPOCH + Duration::from_secs(1_709_294_400))
}

fn compile(text: &str) -> Expression {
    with_scope(|scope| Expression::compile(text, scope)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fault(text: &str) -> String {
    match with_scope(|scope| Expression::compile(text, scope)) {
        Ok(_) => panic!("{text} compiles"),
        Err(error) => error.to_string(),
    }
}

fn truth(text: &str) -> Result<bool, ReasonKind> {
    match compile(text).judge(&facts()) {
        Truth::True => Ok(true),
        Truth::False => Ok(false),
        Truth::Unknown(reason) => Err(reason.kind()),
    }
}

fn value(text: &str) -> Result<String, ReasonKind> {
    compile(text).value(&facts()).map_err(|reason| reason.kind())
}

#[test]
fn conditions_are_true_or_false() {
    for text in [
        "args.to == 'bob' && args.amount <= state.account.balance",
        "args.cabin in ['economy', 'business']",
        "'a' in args.tags && !('c' in args.tags)",
        "has(args.from.iban) && !has(args.memo) && !has(args.limit) && !has(args.via.iban)",
        "has(args.memo) ? args.memo != '' : true",
        "!has(args.memo) || args.memo.size() < 80",
        "args.limit == null",
        "args.items.all(i, i.price < 1) && args.items.exists(i, i.count == 2)",
        "args.items.exists_one(i, has(i.note) && i.note == 'x')",
        "args.items.filter(i, i.count > 1).map(i, i.price) == [0.2]",
        "args.items.map(i, i.count > 1, i.count)[0] == 2",
        "args.from.iban.startsWith('DE') && args.from['iban'].endsWith('1') && args.from.iban.contains('E')",
        "args.from.account == 'DE1'",
        "!has(args['file-name'])",
        "caller.role == 'clerk'",
        "now > timestamp('2024-03-01T11:59:59Z') && now - timestamp('2024-02-29T12:00:00Z') == duration('24h')",
        "timestamp(args.day + 'T00:00:00Z') + duration('12h') == now",
        "now.getDayOfWeek() == 5 && now.getHours('+02:00') == 14",
        "{'economy': 1, 'business': 2}[args.cabin] == 1",
        "size(args.items) == 2 && size('é😀') == 2 && args.tags.size() == 2",
        "state.weather.wind.speed > 5 && !has(state.weather.rain) && !has(state.weather.snow.depth)",
        "-args.count == -3 && 7 % 4 == 3 && 6 / 2 == 3",
        "'B'.lowerAscii() == 'b' && ' x '.trim() == 'x'",
        "args.ok && !(!args.ok)",
    ] {
        assert_eq!(truth(text), Ok(true), "{text}");
        assert_eq!(truth(&format!("!({text})")), Ok(false), "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_unknown() {
    use ReasonKind::{Arithmetic, Mismatch, Missing, NotGiven, TooMuch, Unreadable};
    for (text, kind) in [
        ("state.seats > 3", NotGiven),
        ("has(state.seats.free)", NotGiven),
        ("state.weather.snow == 1", Missing),
        ("state.weather.rain > 1", Mismatch),
        ("state.weather.wind > 1", Mismatch),
        ("state.weather == 1", Mismatch),
        ("state.weather.wind.speed.x == 1", Mismatch),
        ("args.items[2].price > 0", Missing),
        ("9223372036854775807 + args.count > 0", Arithmetic),
        ("args.count / 0 == 0", Arithmetic),
        ("args.count / 2 == 1", Arithmetic),
        ("args.amount / 7 == 1", Arithmetic),
        ("int(args.to) == 1", Unreadable),
        ("timestamp(args.day) < now", Unreadable),
    ] {
        assert_eq!(truth(text), Err(kind), "{text}");
        // What can't be read makes nothing true or false.
        assert_eq!(truth(&format!("!({text})")), Err(kind), "{text}");
        assert_eq!(truth(&format!("({text}) || true")), Err(kind), "{text}");
        assert_eq!(truth(&format!("({text}) && false")), Err(kind), "{text}");
        assert_eq!(truth(&format!("true || ({text})")), Ok(true), "{text}");
        assert_eq!(truth(&format!("false && ({text})")), Ok(false), "{text}");
    }
    let long = format!("{{\"l\":[{}0]}}", "0,".repeat(100_000));
    let facts = Facts::without_arguments().state("weather", &long);
    let Truth::Unknown(reason) = compile("state.weather.l.all(x, x == 0)").judge(&facts) else { panic!() };
    assert_eq!(reason.kind(), TooMuch);
}

#[test]
fn reasons_say_where_and_quote_no_value() {
    let reason = |text: &str| {
        let Truth::Unknown(reason) = compile(text).judge(&facts()) else { panic!("{text}") };
        assert!(!reason.to_string().contains("9007199254740993"), "{reason}");
        reason.to_string()
    };
    let Truth::Unknown(unknown) = compile("state.weather.snow > 1").judge(&facts()) else { panic!() };
    assert_eq!(unknown.about(), Some("state.weather.snow"));
    assert_eq!(
        reason("true &&\n state.weather.wind.speed == 'x'"),
        "line 2, column 27: integer and string can't be compared"
    );
    assert_eq!(reason("state.weather.snow > 1"), "line 1, column 1: `state.weather.snow` isn't there");
    assert_eq!(reason("state.seats > 1"), "line 1, column 7: `state.seats` isn't given");
}

#[test]
fn integers_are_exact_up_to_the_last() {
    let judge = |text: &str, observed: &str| {
        let facts = Facts::without_arguments().state("weather", observed);
        match compile(text).judge(&facts) {
            Truth::True => Ok(true),
            Truth::False => Ok(false),
            Truth::Unknown(reason) => Err(reason.kind()),
        }
    };
    let unreadable = Err(ReasonKind::Unreadable);
    assert_eq!(judge("state.weather == 9007199254740993", "9007199254740993"), Ok(true));
    assert_eq!(judge("state.weather == 9007199254740993", "9007199254740992"), Ok(false));
    assert_eq!(judge("state.weather - 1 == 0", "1"), Ok(true));
    assert_eq!(judge("state.weather == 9007199254740992.0", "9007199254740993"), unreadable);
    assert_eq!(judge("state.weather > 0.5", "9007199254740993"), unreadable);
    assert_eq!(judge("state.weather > 0.5", "9007199254740991"), Ok(true));
    assert_eq!(judge("state.weather == 9223372036854775807", "9223372036854775807"), Ok(true));
    assert_eq!(judge("state.weather == 9223372036854775807", "9223372036854775806"), Ok(false));
    assert_eq!(judge("state.weather == -9223372036854775808", "-9223372036854775808"), Ok(true));
    assert_eq!(judge("state.weather > 0", "9223372036854775808"), unreadable);
    assert_eq!(judge("state.weather > 0", "18446744073709551615"), unreadable);
    assert_eq!(judge("state.weather > 0", "1e300"), unreadable);
    assert_eq!(judge("-state.weather > 0", "-9223372036854775808"), Err(ReasonKind::Arithmetic));
    assert_eq!(judge("state.weather == 30", "30.0"), Ok(true));
    assert_eq!(judge("state.weather == 30", "3e1"), Ok(true));
    assert_eq!(judge("state.weather == 1", "[1"), unreadable);
}

#[test]
fn derivations_have_values() {
    assert_eq!(value("args.items.map(i, i.price * i.count).sum()").unwrap(), "0.5");
    assert_eq!(value("args.items.map(i, i.count).sum()").unwrap(), "3");
    assert_eq!(value("args.items.map(i, i.price).sum()").unwrap(), "0.3");
    assert_eq!(value("[1, 2.5, 2].max()").unwrap(), "2.5");
    assert_eq!(value("[3, 2.5, 4].min()").unwrap(), "2.5");
    assert_eq!(value("[].sum()").unwrap(), "0");
    assert_eq!(value("[].max()"), Err(ReasonKind::Missing));
    assert_eq!(value("12.5 * 2").unwrap(), "25");
    assert_eq!(value("7.0 / 2").unwrap(), "3.5");
    assert_eq!(value("double(7) / 2").unwrap(), "3.5");
    assert_eq!(
        value("{'b': args.to, 'a': [now, duration('90m'), null, true]}").unwrap(),
        r#"{"a":["2024-03-01T12:00:00Z","5400s",null,true],"b":"bob"}"#
    );
    assert_eq!(value("args.from").unwrap(), r#"{"iban":"DE1"}"#);
    assert_eq!(value("int(2.9) + int('-3')").unwrap(), "-1");
    assert_eq!(value("string(2.50) + string(7) + string(true)").unwrap(), r#""2.57true""#);
    assert_eq!(value("args.tags + ['c']").unwrap(), r#"["a","b","c"]"#);
    assert_eq!(value("9223372036854775807 + 1"), Err(ReasonKind::Arithmetic));
}

#[test]
fn names_are_checked_when_it_is_compiled() {
    for (text, expected) in [
        ("args.amuont > 1", "line 1, column 6: there is no `args.amuont`; did you mean `args.amount`?"),
        ("amount > 1", "line 1, column 1: there is no `amount`; did you mean `args.amount`?"),
        ("account.balance > 1", "line 1, column 1: there is no `account`; did you mean `state.account`?"),
        ("arg.to == ''", "line 1, column 1: there is no `arg`; did you mean `args`?"),
        ("args.from.ibn == ''", "line 1, column 11: there is no `args.from.ibn`; did you mean `args.from.iban`?"),
        ("state.acount == 1", "line 1, column 7: no state `acount` is declared; did you mean `state.account`?"),
        (
            "state.account.balnce > 1",
            "line 1, column 15: there is no `state.account.balnce`; did you mean `state.account.balance`?",
        ),
        ("caller.rol == ''", "line 1, column 8: nothing is said of `caller.rol`; did you mean `caller.role`?"),
        ("args.to.lenght() > 1", "line 1, column 9: there is no function `lenght`"),
        ("args.to.startWith('a')", "line 1, column 9: there is no function `startWith`; did you mean `startsWith`?"),
        (
            "args.items.exists(i, i.prise > 1)",
            "line 1, column 24: there is no `args.items[*].prise`; did you mean `args.items[*].price`?",
        ),
        (
            "args.to.matches('a+')",
            "line 1, column 9: `matches` isn't here: write `startsWith`, `endsWith` or `contains`, or give the argument a `pattern`",
        ),
        ("args.to.size(1) == 1", "line 1, column 9: `size` takes 0 values in its brackets, and here are 1"),
        (
            "args == args",
            "line 1, column 1: `args` has to be read by name: `args.amount`\nline 1, column 9: `args` has to be read by name: `args.amount`",
        ),
    ] {
        assert_eq!(fault(text), expected, "{text}");
    }
}

#[test]
fn kinds_are_checked_when_it_is_compiled() {
    for (text, expected) in [
        ("args.to == 5", "`args.to` is string, and can't be compared with 5"),
        ("5 != args.to", "`args.to` is string, and can't be compared with 5"),
        ("args.count == 1.5", "`args.count` is integer, and never 1.5"),
        ("args.amount > '1'", "`args.amount` is number, and has no order with \"1\""),
        ("args.ok > false", "`args.ok` is boolean, and has no order with false"),
        ("args.cabin == 'econmy'", "`args.cabin` is never \"econmy\"; did you mean \"economy\"?"),
        ("args.cabin in ['economy', 'first']", "`args.cabin` is never \"first\": it is one of"),
        ("args.to in [1, 2]", "`args.to` is string, and can't be compared with"),
        ("5 in args.tags", "`args.tags[*]` is string, and can't be compared with 5"),
        ("args.tags.exists(t, t == 5)", "`args.tags[*]` is string, and can't be compared with 5"),
        ("args.to == null", "`args.to` is string, and never null"),
        ("args.to == args.count", "`args.to` is string, and can't be compared with `args.count`"),
        ("args.to + 1 == 'x'", "this can't be done with string and integer"),
        ("args.to && true", "`args.to` is string, and is used as a condition: it has to be boolean"),
        ("args.amount.startsWith('1')", "`args.amount` is number, and is given to `startsWith`: it has to be string"),
        ("now > args.day", "`args.day` is string, and has no order with timestamp"),
        ("args.to.iban == 'x'", "there is no `args.to.iban`"),
        ("args.to.all(c, true)", "`args.to` is string, and is gone through: it has to be list or map"),
        ("timestamp('2024-02-30T00:00:00Z') < now", "this is no date and time"),
        ("now.getHours('Europe/Rome') == 1", "names of time zones aren't known here"),
        ("args.count == 5u", "integers have a sign here"),
    ] {
        let fault = fault(text);
        assert!(fault.contains(expected), "{text}: {fault}");
    }
    let error = with_scope(|scope| Expression::condition("args.count + 1", scope)).unwrap_err();
    assert_eq!(error.to_string(), "line 1, column 1: a condition has to be true or false, and this is integer");
}

#[test]
fn what_may_be_absent_has_to_be_asked_for() {
    for text in [
        "args.memo == 'x'",
        "args.via.iban == 'x'",
        "has(args.memo) || args.memo == 'x'",
        "!has(args.memo) && args.memo == 'x'",
        "has(args.from) && args.from.bic == 'x'",
        "(has(args.memo) || has(args.via)) && args.memo == 'x'",
        "args.items.exists(i, i.note == 'x')",
        "args.items.exists(i, has(i.note)) && args.items.all(i, i.note == 'x')",
        "has(args.memo) ? true : args.memo == 'x'",
        "args['file-name'] == 'x'",
        "args.limit > 5",
        "args.maybe.x > 5",
        "args.limit == null && args.limit > 5",
        "state.account.closed",
    ] {
        assert!(fault(text).contains("first"), "{text}: {}", fault(text));
    }
    for text in [
        "has(args.memo) && args.memo == 'x'",
        "args.to == 'bob' && has(args.memo) && args.amount > 1 && args.memo == 'x'",
        "has(args.via) && args.via.iban == 'x'",
        "has(args.via.iban) && args.via.iban == 'x'",
        "!(has(args.memo) && args.memo == 'x')",
        "!has(args.memo) || args.memo == 'x'",
        "!(!has(args.memo)) && args.memo == 'x'",
        "!has(args.memo) ? true : args.memo == 'x'",
        "(has(args.memo) && args.ok || has(args.memo) && args.to == '') && args.memo == 'x'",
        "args.items.exists(i, has(i.note) && i.note == 'x')",
        "args.items.map(i, has(i.note), i.note) == ['x']",
        "has(args['file-name']) && args['file-name'] == 'x'",
        "has(args.limit) && args.limit > 5",
        "args.limit != null && args.limit > 5",
        "args.limit == null || args.limit > 5",
        "has(args.maybe) && args.maybe.x > 5",
        "has(args.maybe.x) && args.maybe.x > 5",
        "has(state.account.closed) && state.account.closed",
    ] {
        compile(text);
    }
}

#[test]
fn what_cannot_be_parsed_is_said_in_words() {
    for (text, expected) in [
        ("", "line 1, column 1: the expression is empty"),
        ("  \n ", "line 1, column 1: the expression is empty"),
        ("args.to = 'x'", "line 1, column 9: write `==` to compare"),
        ("args.ok and true", "line 1, column 9: write `&&` for `and`"),
        ("args.ok\nor true", "line 2, column 1: write `||` for `or`"),
        ("args.ok & true", "line 1, column 9: write `&&` for `and`"),
        ("args.to ==", "line 1, column 11: something is missing at the end"),
        ("(args.ok", "line 1, column 9: something is missing at the end"),
        ("'é' == \"x", "line 1, column 8: a text isn't closed, or has an escape that nobody knows"),
        ("args.ok ) ", "line 1, column 9: `)` can't stand here"),
        ("9223372036854775808 > 1", "line 1, column 1: an integer has to fit 64 bits, with a sign"),
        ("args.to == if", "line 1, column 12: `if` is a reserved word"),
        ("args.?to", "line 1, column 5: this isn't supported here"),
        ("1e400 > 1", "line 1, column 1: this number is too large"),
        ("args.m{a: 1}", "messages can't be made here"),
        (
            "args.items.all(i, args.items.all(j, true))",
            "line 1, column 33: a comprehension can't stand inside of another one",
        ),
    ] {
        let fault = fault(text);
        assert!(fault.contains(expected), "{text}: {fault}");
    }
}

#[test]
fn hostile_texts_are_refused_on_a_small_stack() {
    let nested = |open: &str, close: &str, count: usize| format!("{}1{}", open.repeat(count), close.repeat(count));
    let hostile = [
        "x".repeat(4097),
        nested("(", ")", 2000),
        nested("[", "]", 2000),
        nested("{'a':", "}", 600),
        nested("size(", ")", 600),
        nested("(", ")", 40),
        "(".repeat(4000),
        format!("{}true", "!".repeat(4001)),
        format!("{}args.count", "-".repeat(4000)),
        format!("args.free{}", ".b".repeat(2000)),
        format!("args.free{}", "[0]".repeat(1300)),
        format!("args.to{}", ".trim()".repeat(500)),
        format!("{}1", "1+".repeat(2000)),
        format!("{}true", "true?true:".repeat(400)),
        "'".repeat(4000),
        "§".repeat(2000),
        "\0".repeat(4000),
        "`a`".repeat(1000),
        "'\\U00110000'".to_owned(),
        "\u{202e}".to_owned(),
    ];
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let work = move || {
        for text in &hostile {
            let error = with_scope(|scope| Expression::compile(text, scope));
            if let Ok(expression) = error {
                let _ = expression.judge(&facts());
                continue;
            }
            let shown = fault(text);
            assert!(shown.len() < 4000, "{shown}");
            assert!(!shown.contains('\u{202e}'));
        }
        // Wide is not deep.
        compile(&format!("args.count in [{}1]", "1,".repeat(2000)));
        assert_eq!(truth(&format!("{}true", "args.ok&&".repeat(450))), Ok(true));
    };
    small.spawn(work).unwrap().join().unwrap();
}

#[test]
fn what_is_open_in_a_draft_is_unknown() {
    let path = |pointer: &str| JsonPath::from_pointer(pointer).unwrap();
    let draft = Facts::new(r#"{"to":"bob","items":[{"price":1}]}"#).open(&path("/memo")).open(&path("/items/0/count"));
    for text in [
        "has(args.memo)",
        "!has(args.memo) || args.memo == 'x'",
        "args.items.all(i, i.count > 0)",
        "args.items == []  || args.items[0] == args.items[0]",
        "size(args.items[0]) == 1",
    ] {
        let Truth::Unknown(reason) = compile(text).judge(&draft) else { panic!("{text}") };
        assert_eq!(reason.kind(), ReasonKind::Open, "{text}: {reason}");
    }
    assert_eq!(compile("args.to == 'bob' && args.items.all(i, i.price == 1)").judge(&draft), Truth::True);
    let Truth::Unknown(reason) = compile("args.count > 0").judge(&draft) else { panic!() };
    assert_eq!(reason.kind(), ReasonKind::Missing);
}

#[test]
fn what_is_read_is_known() {
    let expression = compile(
        "args.items.exists(i, i.price > state.account.balance) && has(args.via.iban) && args.from.account == args.to \
         && args.items[0].count == 1 && caller.role == 'x' && now > now && has(args['file-name'])",
    );
    let reads = expression.reads();
    let arguments: Vec<&str> = reads.arguments().collect();
    assert_eq!(arguments, ["file-name", "from.account", "items", "items[*].price", "items[0].count", "to", "via.iban"]);
    assert_eq!(reads.state().collect::<Vec<_>>(), ["account"]);
    assert_eq!(reads.caller().collect::<Vec<_>>(), ["role"]);
    assert!(reads.now());
    assert!(!compile("args.ok").reads().now());
}

#[test]
fn facts_show_no_values() {
    let shown = format!("{:?}", facts());
    assert!(!shown.contains("bob") && !shown.contains("clerk") && !shown.contains("50"), "{shown}");
    let error = Scope::new().state_of("x", "{\"type\":\"strin\"}").unwrap_err();
    assert!(error.to_string().starts_with("the schema of state `x`: "), "{error}");
}
