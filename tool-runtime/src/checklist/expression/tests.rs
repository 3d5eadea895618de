mod load;

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
fn what_takes_long_ends() {
    let many = |element: &str, count: usize| format!("[{}]", vec![element; count].join(","));
    let long = format!("\"{}\"", "x".repeat(100_000));
    let facts = Facts::without_arguments()
        .state("weather", &many("1", 50_000))
        .state("seats", &format!("{{{long}:{}}}", many(&long, 50)));
    for text in [
        "state.weather.all(x, x + x + x + x + x == 5)",
        "state.weather.map(x, x).map(x, x).map(x, x).map(x, x)",
        "state.weather == state.weather && state.weather == state.weather && state.weather == state.weather \
         && state.weather == state.weather && state.weather == state.weather",
        "state.weather.exists(x, state.weather == [x])",
        "state.weather.exists(x, x in state.weather && x == 2)",
        &format!("state.weather.map(x, '{}')", "x".repeat(3000)),
        "state.weather.map(x, state.seats)",
        "state.weather.all(x, !('x' in state.seats) && size(state.seats) == 1)",
    ] {
        let value = compile(text).value(&facts);
        assert_eq!(value.map(|value| value.len()).map_err(|reason| reason.kind()), Err(ReasonKind::TooMuch), "{text}");
    }
}

#[test]
fn a_state_may_be_looked_up_and_not_found() {
    let tool = tool();
    let schema = r#"{"type":["object","null"],"required":["iban"],"properties":{"iban":{"type":"string"}}}"#;
    let scope = Scope::new().tool(&tool).state_of("recipient", schema).unwrap();
    let condition = |text: &str| Expression::condition(text, &scope);
    assert!(
        condition("state.recipient.iban == args.to").unwrap_err().to_string().contains("`state.recipient` may be null")
    );
    let known = condition("has(state.recipient) && state.recipient.iban == args.to").unwrap();
    let facts = Facts::new(CALL);
    assert_eq!(known.judge(&facts.clone().state("recipient", "null")), Truth::False);
    assert_eq!(known.judge(&facts.clone().state("recipient", r#"{"iban":"bob"}"#)), Truth::True);
    let Truth::Unknown(reason) = known.judge(&facts) else { panic!() };
    assert_eq!((reason.kind(), reason.about()), (ReasonKind::NotGiven, Some("state.recipient")));
}

#[test]
fn facts_show_no_values() {
    let shown = format!("{:?}", facts());
    assert!(!shown.contains("bob") && !shown.contains("clerk") && !shown.contains("50"), "{shown}");
    let error = Scope::new().state_of("x", "{\"type\":\"strin\"}").unwrap_err();
    assert!(error.to_string().starts_with("the schema of state `x`: "), "{error}");
}
