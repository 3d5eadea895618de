//! What is refused when an expression is compiled.

use super::*;

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
