//! Plans of several calls: which call feeds which, whatever the order in which they are listed; and where they agree.

use proptest::collection::vec;
use proptest::prelude::*;
use tests::config;
use tool_runtime::agreement::{
    AgreementGate, Bounds, Epoch, Figures, PlanTool, PlanTools, PlannedCall, Sample, SampleSet,
};
use tool_runtime::{JsonPath, tool};

/// Send something to somebody.
#[tool]
fn send(
    /// Whom to.
    to: String,
    /// What.
    what: String,
    /// How often.
    #[arg(default = 1)]
    times: u32,
) -> String {
    format!("{to} {what} {times}")
}

fn figures(samples: impl IntoIterator<Item = Sample>) -> Figures {
    let epoch = Epoch::begin();
    let mut set = SampleSet::new(epoch.clone());
    for sample in samples {
        set.push(sample.within(&epoch)).unwrap();
    }
    let tools = PlanTools::new().tool("send", PlanTool::of(&SendTool::host()));
    AgreementGate::new(Bounds::seed()).rule(&set, &tools).figures().clone()
}

fn groups(samples: impl IntoIterator<Item = Sample>) -> Vec<usize> {
    figures(samples).groups
}

fn call(name: &str) -> PlannedCall {
    PlannedCall::new(name, "{}")
}

fn to() -> JsonPath {
    JsonPath::from_pointer("/to").unwrap()
}

#[test]
fn it_does_not_matter_which_of_two_equal_calls_feeds_a_third() {
    let one = Sample::of([call("x"), call("x"), call("y").using(0)]);
    let other = Sample::of([call("x"), call("x"), call("y").using(1)]);
    let between = Sample::of([call("x"), call("y").using(0), call("x")]);
    assert_eq!(groups([one, other, between]), [3]);
    // Both from one, or one from each.
    let same = Sample::of([call("x"), call("x"), call("y").using(0), call("z").using(0)]);
    let each = Sample::of([call("x"), call("x"), call("y").using(0), call("z").using(1)]);
    let crossed = Sample::of([call("x"), call("x"), call("y").using(1), call("z").using(0)]);
    assert_eq!(groups([same, each, crossed]), [2, 1]);
    // Two pairs, and one of which nobody uses anything.
    let pairs = |uses: [usize; 2]| {
        Sample::of([call("x"), call("x"), call("x"), call("y").using(uses[0]), call("y").using(uses[1])])
    };
    assert_eq!(groups([pairs([0, 1]), pairs([2, 0]), pairs([1, 2]), pairs([1, 1])]), [3, 1]);
}

#[test]
fn a_result_that_becomes_an_argument_is_not_missing() {
    let send = |arguments: &str| PlannedCall::new("send", arguments);
    // Accepted by the schema, so that a default is filled in, although `to` comes from elsewhere.
    let fed = |arguments: &str, step: usize| Sample::of([call("x"), call("y"), send(arguments).using_for(to(), step)]);
    assert_eq!(groups([fed(r#"{"what":"hi"}"#, 0), fed(r#"{"times":1.0,"what":"hi"}"#, 0)]), [2]);
    assert_eq!(groups([fed(r#"{"what":"hi"}"#, 0), fed(r#"{"what":"hi"}"#, 1)]), [1, 1]);
    let other = JsonPath::from_pointer("/what").unwrap();
    let elsewhere = Sample::of([call("x"), call("y"), send(r#"{"to":"a"}"#).using_for(other, 0)]);
    let somehow = Sample::of([call("x"), call("y"), send(r#"{"what":"hi"}"#).using(0)]);
    assert_eq!(groups([fed(r#"{"what":"hi"}"#, 0), elsewhere, somehow]), [1, 1, 1]);
}

#[test]
fn what_diverges_is_named_by_argument_and_by_call() {
    let plan = |what: &str, more: usize| {
        let send = PlannedCall::new("send", format!(r#"{{"to":"ann","what":"{what}"}}"#));
        Sample::of(std::iter::once(send).chain((0..more).map(|_| call("pay"))))
    };
    let figures = figures([plan("hi", 2), plan("hi", 2), plan("ho", 2), plan("hi", 1), Sample::unparsable()]);
    assert_eq!(figures.groups, [2, 1, 1]);
    assert_eq!(figures.diverging, [("send".to_owned(), "what".to_owned(), 2.0 / 3.0)]);
    // Paying twice is agreed on by three, paying at all by four.
    let of = |tool: &str, share: f64| (tool.to_owned(), share);
    assert_eq!(figures.calls, [of("pay", 0.8), of("pay", 0.6), of("send", 0.6)]);
    assert_eq!(groups([]), [] as [usize; 0]);
}

/// A plan as its calls' names and what each uses.
type Listed = Vec<(u8, Vec<usize>)>;

fn listed() -> impl Strategy<Value = Listed> {
    vec((0_u8..3, vec(any::<prop::sample::Index>(), 0..3)), 1..9).prop_map(|calls| {
        let uses = |at: usize, uses: Vec<prop::sample::Index>| match at {
            0 => Vec::new(),
            at => uses.iter().map(|index| index.index(at)).collect(),
        };
        calls.into_iter().enumerate().map(|(at, (name, used))| (name, uses(at, used))).collect()
    })
}

fn sample(listed: &Listed) -> Sample {
    Sample::of(listed.iter().map(|(name, uses)| uses.iter().fold(call(&name.to_string()), |call, &at| call.using(at))))
}

/// The same plan in another order, in which still nothing uses what comes after it.
fn relisted(listed: &Listed, draws: &[prop::sample::Index]) -> Listed {
    let mut place: Vec<Option<usize>> = vec![None; listed.len()];
    let mut other = Vec::new();
    for draw in draws.iter().cycle().take(listed.len()) {
        let ready: Vec<usize> = (0..listed.len())
            .filter(|&at| place[at].is_none() && listed[at].1.iter().all(|&used| place[used].is_some()))
            .collect();
        let chosen = ready[draw.index(ready.len())];
        place[chosen] = Some(other.len());
        let mut uses: Vec<usize> = listed[chosen].1.iter().filter_map(|&used| place[used]).collect();
        uses.reverse();
        other.push((listed[chosen].0, uses));
    }
    other
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn inv13_a_plan_is_one_however_it_is_listed(plan in listed(), draws in vec(any::<prop::sample::Index>(), 1..9)) {
        prop_assert_eq!(groups([sample(&plan), sample(&relisted(&plan, &draws))]), [2]);
    }

    #[test]
    fn a_use_more_makes_another_plan(plan in listed(), at in any::<prop::sample::Index>()) {
        let mut other = plan.clone();
        let at = at.index(plan.len());
        if at > 0 {
            other[at].1.push(at - 1);
            prop_assert_eq!(groups([sample(&plan), sample(&other)]), [1, 1]);
        }
    }
}
