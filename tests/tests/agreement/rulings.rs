//! Rulings over plans, with tools, proofs and epochs.

use std::collections::BTreeSet;

use tool_runtime::agreement::{
    AgreementGate, ArgumentForm, Bounds, CanonicalForm, CanonicalStep, Determinism, Epoch, EpochMixed, Judgement,
    JudgementKind, Observed, OutOfScope, PlanTool, PlanTools, PlannedCall, Probe, ProbeFault, ProbeFinding, Resolution,
    Ruling, RulingReason, Sample, SampleSet, Verified,
};
use tool_runtime::{DynamicTool, HostTool, JsonPath, tool};

/// Look for something.
#[tool(host(deterministic))]
fn find(
    /// What.
    what: String,
    /// How many at the most.
    #[arg(default = 10)]
    limit: u32,
) -> Vec<String> {
    vec![what; limit as usize]
}

/// Write something down.
#[tool(host(deterministic))]
fn note(
    /// What.
    what: String,
) {
    drop(what);
}

fn finding(result: &str, afterwards: &str) -> ProbeFinding {
    ProbeFinding { result: Observed::Value(result.to_owned()), afterwards: afterwards.to_owned() }
}

fn probed(tool: &HostTool, epoch: &Epoch) -> Verified {
    let probe = Probe::new(tool, epoch, r#"{"what":"x"}"#).unwrap();
    probe.compare([finding("[1]", r#"{"what":"x"}"#), finding("[1]", r#"{ "what": "x" }"#)]).unwrap()
}

fn known(epoch: &Epoch) -> PlanTools {
    let tool = |tool: HostTool| PlanTool::of(&tool).verified(probed(&tool, epoch));
    PlanTools::new().tool("find", tool(FindTool::host())).tool("note", tool(NoteTool::host()))
}

fn set(epoch: &Epoch, samples: impl IntoIterator<Item = Sample>) -> SampleSet {
    let mut set = SampleSet::new(epoch.clone());
    for sample in samples {
        set.push(sample.within(epoch)).unwrap();
    }
    set
}

fn finds(arguments: &str) -> Sample {
    Sample::of([("find", arguments)]).result("[\"x\"]")
}

#[track_caller]
fn is(ruling: &Ruling, kind: JudgementKind, reason: RulingReason) {
    assert_eq!((ruling.kind(), ruling.reason()), (kind, reason));
}

#[test]
fn canonical_form_is_the_schemas_and_each_step_can_be_left_out() {
    let epoch = Epoch::begin();
    let spelt = [
        r#"{"what":"x"}"#,
        r#"{"what":"x","limit":10}"#,
        r#"{"limit":10.0,"what":"\u0078"}"#,
        r#"{"limit":1e1, "what":"x"}"#,
        r#"{"what":"x"}"#,
    ];
    let samples = set(&epoch, spelt.map(finds));
    let largest = |form: CanonicalForm| {
        let ruling = AgreementGate::new(Bounds::seed()).form(form).rule(&samples, &known(&epoch));
        assert_eq!(ruling.steps(), form.steps().collect::<Vec<_>>());
        ruling.figures().groups[0]
    };
    let full = CanonicalForm::full();
    assert_eq!(largest(full), 5);
    assert_eq!(largest(full.without(CanonicalStep::Schema)), 3);
    assert_eq!(largest(full.without(CanonicalStep::Schema).without(CanonicalStep::Numbers)), 2);
    assert_eq!(largest(full.without(CanonicalStep::Keys)), 2);
}

#[test]
fn calls_are_a_multiset_and_no_call_is_a_vote() {
    let epoch = Epoch::begin();
    let (a, b) = (r#"{"what":"a"}"#, r#"{"what":"b"}"#);
    let of = |calls: &[&str]| Sample::of(calls.iter().map(|arguments| ("note", *arguments)));
    let groups = |samples: Vec<Sample>| {
        let ruling = AgreementGate::new(Bounds::seed()).rule(&set(&epoch, samples), &known(&epoch));
        ruling.figures().groups.clone()
    };
    assert_eq!(groups(vec![of(&[a, b]), of(&[b, a])]), [2]);
    assert_eq!(groups(vec![of(&[a, a]), of(&[a])]), [1, 1], "twice is not once");
    assert_eq!(groups(vec![Sample::no_call(), Sample::no_call(), of(&[a])]), [2, 1]);
    assert_eq!(groups(vec![Sample::unparsable(), Sample::unparsable(), of(&["{"]), of(&["{"])]), [] as [usize; 0]);
    // Refused arguments are compared, and are never those of an accepted call.
    assert_eq!(groups(vec![of(&[r#"{"that":1}"#]), of(&[r#"{"that":1}"#]), of(&[a])]), [2, 1]);

    let ruling = AgreementGate::new(Bounds::seed()).rule(&set(&epoch, vec![Sample::no_call(); 5]), &known(&epoch));
    is(&ruling, JudgementKind::Accept, RulingReason::Agreed);
}

#[test]
fn which_call_feeds_which_counts() {
    let call = |what: &str| PlannedCall::new("note", format!(r#"{{"what":"{what}"}}"#));
    let epoch = Epoch::begin();
    let samples = [
        Sample::of([call("a"), call("b"), call("c").using(0)]),
        Sample::of([call("b"), call("a"), call("c").using(1)]),
        Sample::of([call("a"), call("b"), call("c").using(1)]),
        Sample::of([call("a"), call("b"), call("c")]),
        // Nothing can use what comes after it.
        Sample::of([call("c").using(1), call("a"), call("b")]),
    ];
    let ruling = AgreementGate::new(Bounds::seed()).rule(&set(&epoch, samples), &known(&epoch));
    assert_eq!((ruling.figures().groups.as_slice(), ruling.figures().unparsable), (&[2, 1, 1][..], 1));
}

#[test]
fn a_reject_shows_its_proof() {
    let epoch = Epoch::begin();
    let samples = set(&epoch, (0..6).map(|i| finds(&format!(r#"{{"what":"{i}"}}"#))));
    let ruling = AgreementGate::new(Bounds::seed()).rule(&samples, &known(&epoch));
    let Judgement::Reject(rejection) = ruling.judgement() else { panic!("{ruling:?}") };
    assert_eq!(rejection.verified(), [probed(&FindTool::host(), &epoch)]);
    assert_eq!(ruling.figures().diverging, [("find".to_owned(), "what".to_owned(), 1.0 / 6.0)]);

    // Without proof, with a proof of another epoch, or of another tool, the same samples are deferred.
    let bare = PlanTool::of(&FindTool::host());
    for tool in [
        bare.clone(),
        bare.clone().verified(probed(&FindTool::host(), &Epoch::begin())),
        bare.clone().verified(probed(&NoteTool::host(), &epoch)),
        bare.verified(probed(&FindTool::host(), &epoch)).determinism(Determinism::Undeclared),
        PlanTool::unknown(),
    ] {
        let ruling = AgreementGate::new(Bounds::seed()).rule(&samples, &PlanTools::new().tool("find", tool));
        is(&ruling, JudgementKind::Defer, RulingReason::NotVerified);
    }
    // One tool of any sample that isn't verified is enough.
    let mixed = set(&epoch, samples.samples().iter().cloned().chain([Sample::of([("other", "{}")])]));
    is(
        &AgreementGate::new(Bounds::seed()).rule(&mixed, &known(&epoch)),
        JudgementKind::Defer,
        RulingReason::NotVerified,
    );
}

#[test]
fn epochs_are_not_mixed_and_end() {
    let (epoch, other) = (Epoch::begin(), Epoch::begin());
    let mut samples = set(&epoch, vec![finds(r#"{"what":"x"}"#); 5]);
    let mixed: EpochMixed = samples.push(finds("{}").within(&other)).unwrap_err();
    assert_eq!(samples.push(finds("{}")), Err(mixed));
    let gate = AgreementGate::new(Bounds::seed());
    is(&gate.rule(&samples, &known(&epoch)), JudgementKind::Accept, RulingReason::Agreed);
    let tools = known(&epoch);
    epoch.end();
    is(&gate.rule(&samples, &tools), JudgementKind::Defer, RulingReason::EpochMoved);
}

#[test]
fn results_that_differ_quarantine_the_tool() {
    let epoch = Epoch::begin();
    let samples = |results: &[&str]| {
        set(&epoch, results.iter().map(|result| Sample::of([("find", r#"{"what":"x"}"#)]).result(*result)))
    };
    let gate = AgreementGate::new(Bounds::seed());
    let ruling = gate.rule(&samples(&["[1]", "[2]", "[3]", "[1]", "[4]"]), &known(&epoch));
    is(&ruling, JudgementKind::Defer, RulingReason::ToolSuspect);
    assert_eq!(ruling.quarantines(), ["find"]);
    let ruling = gate.rule(&samples(&["[1]", "[1]", "[1]", "[2]", "[3]"]), &known(&epoch));
    is(&ruling, JudgementKind::Defer, RulingReason::ResultsSplit);
    assert_eq!(ruling.quarantines(), [] as [&str; 0]);
    let failed = set(&epoch, vec![Sample::of([("find", r#"{"what":"x"}"#)]).observed(Observed::Failed); 5]);
    is(&gate.rule(&failed, &known(&epoch)), JudgementKind::Defer, RulingReason::NoResultSignal);
    // What returns nothing isn't asked for results.
    let notes = set(&epoch, vec![Sample::of([("note", r#"{"what":"x"}"#)]); 5]);
    is(&gate.rule(&notes, &known(&epoch)), JudgementKind::Accept, RulingReason::Agreed);
}

#[test]
fn what_is_non_deterministic_by_contract_is_out_of_scope() {
    let epoch = Epoch::begin();
    let clock = PlanTool::of(&FindTool::host()).determinism(Determinism::ByContractNot);
    let tools = PlanTools::new().tool("find", clock);
    let agreeing = set(&epoch, (0..5).map(|i| Sample::of([("find", r#"{"what":"x"}"#)]).result(i.to_string())));
    let gate = AgreementGate::new(Bounds::seed());
    is(&gate.rule(&agreeing, &tools), JudgementKind::Defer, RulingReason::OutOfScope);
    let gate = gate.on_out_of_scope(OutOfScope::ArgumentsOnly);
    is(&gate.rule(&agreeing, &tools), JudgementKind::Accept, RulingReason::OutOfScope);
    let differing = set(&epoch, (0..9).map(|i| finds(&format!(r#"{{"what":"{i}"}}"#))));
    is(&gate.rule(&differing, &tools), JudgementKind::Defer, RulingReason::OutOfScope);
}

#[test]
fn a_probe_finds_differences_and_changed_arguments() {
    let (tool, epoch) = (FindTool::host(), Epoch::begin());
    let compare =
        |a: ProbeFinding, b: ProbeFinding| Probe::new(&tool, &epoch, r#"{"what":"x"}"#).unwrap().compare([a, b]);
    let kept = r#"{"what":"x"}"#;
    assert_eq!(compare(finding("[1,2]", kept), finding("[2,1]", kept)), Err(ProbeFault::ResultsDiffer));
    assert_eq!(compare(finding("[1]", kept), finding("[1]", "{}")), Err(ProbeFault::ArgumentsChanged));
    let failed = ProbeFinding { result: Observed::Failed, afterwards: kept.to_owned() };
    assert_eq!(compare(failed.clone(), failed), Err(ProbeFault::NoResult));
    assert!(compare(finding("[1.0]", kept), finding("[1]", kept)).is_ok());
    epoch.end();
    assert_eq!(compare(finding("[1]", kept), finding("[1]", kept)), Err(ProbeFault::EpochMoved));
    assert!(Probe::new(&tool, &epoch, "{").is_none());
}

/// The sizes of the groups of samples of one tool with these arguments.
fn groups_of(tool: PlanTool, form: CanonicalForm, arguments: &[&str]) -> Vec<usize> {
    let epoch = Epoch::begin();
    let samples = set(&epoch, arguments.iter().map(|arguments| Sample::of([("t", *arguments)])));
    let ruling = AgreementGate::new(Bounds::seed()).form(form).rule(&samples, &PlanTools::new().tool("t", tool));
    ruling.figures().groups.clone()
}

fn at(pointer: &str) -> JsonPath {
    JsonPath::from_pointer(pointer).unwrap()
}

#[test]
fn a_resolver_makes_known_values_one_and_unknown_ones_never() {
    let resolver = |text: &str| match text {
        r#""alias""# => Resolution::Resolved(r#" "id-7" "#.to_owned()),
        r#""broken""# => Resolution::Resolved("{".to_owned()),
        r#""down""# => Resolution::ResolverFailed,
        r#""panics""# => panic!("the resolver breaks"),
        _ => Resolution::Unresolved,
    };
    let tool = || PlanTool::of(&FindTool::host()).argument(at("/what"), ArgumentForm::resolved(resolver));
    let given = ["alias", "id-7", "alias", "unknown-1", "unknown-2", "broken", "down", "panics"];
    let given = given.map(|what| format!(r#"{{"what":"{what}"}}"#));
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let full = CanonicalForm::full();
    assert_eq!(groups_of(tool(), full, &given), [3, 1, 1, 1, 1, 1]);
    assert_eq!(groups_of(tool(), full.without(CanonicalStep::Declared), &given), [2, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn paths_and_sets_are_declared_where_no_type_says_so() {
    let tool = || {
        PlanTool::unknown()
            .argument(at("/file"), ArgumentForm::FilePath)
            .argument(at("/in/*/tags"), ArgumentForm::Unordered)
            .argument(at("/more/0"), ArgumentForm::FilePath)
    };
    let groups = |arguments: &[&str]| groups_of(tool(), CanonicalForm::full(), arguments);
    let paths = [r#"{"file":"./a/../b.txt"}"#, r#"{"file":"b.txt"}"#, r#"{"file":"B.txt"}"#, r#"{"file":7}"#];
    assert_eq!(groups(&paths), [2, 1, 1]);
    let sets = [
        r#"{"in":[{"tags":["x","y"]},{"tags":[1.0,2]}]}"#,
        r#"{"in":[{"tags":["y","x","\u0079"]},{"tags":[2,1]}]}"#,
        // What holds the sets is no set.
        r#"{"in":[{"tags":[1,2]},{"tags":["x","y"]}]}"#,
    ];
    assert_eq!(groups(&sets), [2, 1]);
    // A step of digits is a place, and the name of a member.
    assert_eq!(groups(&[r#"{"more":["./a"]}"#, r#"{"more":["a"]}"#]), [2]);
    assert_eq!(groups(&[r#"{"more":{"0":"./a"}}"#, r#"{"more":{"0":"a"}}"#]), [2]);
    assert_eq!(groups(&[r#"{"more":["a","./a"]}"#, r#"{"more":["a","a"]}"#]), [1, 1]);
    // Nothing is declared of what isn't JSON.
    assert_eq!(groups(&["{", "{"]), [] as [usize; 0]);
}

/// Label something.
#[tool(host(deterministic, read_only))]
fn label(
    /// With what.
    tags: BTreeSet<String>,
    /// In this order.
    steps: Vec<String>,
) -> usize {
    tags.len() + steps.len()
}

#[test]
fn sets_are_sets_by_their_type() {
    let given = [
        r#"{"tags":["a","b"],"steps":["1","2"]}"#,
        r#"{"tags":["b","a"],"steps":["1","2"]}"#,
        r#"{"tags":["a","b"],"steps":["2","1"]}"#,
    ];
    let full = CanonicalForm::full();
    let typed = || PlanTool::of(&LabelTool::host());
    assert_eq!(groups_of(typed(), full, &given), [2, 1]);
    assert_eq!(groups_of(typed(), full.without(CanonicalStep::Sets), &given), [1, 1, 1]);
    assert_eq!(groups_of(typed(), full.without(CanonicalStep::Schema), &given), [1, 1, 1]);
    // `uniqueItems` alone says nothing of an order.
    let schema = LabelTool::host().schema().parameters().to_string();
    assert!(schema.contains("uniqueItems"), "{schema}");
    let written = DynamicTool::builder("label", "Label something.").parameters(schema).output("true");
    let written = PlanTool::of(&written.run(|_, _| async { Ok(String::new()) }).unwrap());
    assert_eq!(groups_of(written.clone(), full, &given), [1, 1, 1]);
    assert_eq!(groups_of(written.argument(at("/tags"), ArgumentForm::Unordered), full, &given), [2, 1]);
}

#[test]
fn arguments_are_accepted_as_for_a_call_that_runs() {
    let given = [r#"{"what":"x"}"#, r#""{\"what\": \"x\"}""#, r#"{"what":"x","limit":null}"#];
    let groups = |given: &[&str]| groups_of(PlanTool::of(&FindTool::host()), CanonicalForm::full(), given);
    assert_eq!(groups(&given), [3]);
    assert_eq!(groups(&["", "null", "{}"]), [3], "refused alike");
}

#[test]
fn steps_that_depend_on_others_are_named_only_with_them() {
    use CanonicalStep::{Calls, Declared, Keys, Numbers, Schema, Sets};
    let steps = |form: CanonicalForm| form.steps().collect::<Vec<_>>();
    let full = CanonicalForm::full();
    assert_eq!(steps(full), [Schema, Sets, Declared, Keys, Numbers, Calls]);
    assert_eq!(steps(full.without(Schema)), [Declared, Keys, Numbers, Calls]);
    assert_eq!(steps(full.without(Keys)), [Calls]);
}

#[test]
fn bounds_are_said_in_samples() {
    let said = |n| Bounds::seed().said(n).to_string();
    assert_eq!(AgreementGate::new(Bounds::seed()).said().to_string(), "of 5: accept from 4, reject never");
    assert_eq!(said(6), "of 6: accept from 5, reject if no two agree");
    assert_eq!(said(8), "of 8: accept from 7, reject if no two agree");
    assert_eq!(said(20), "of 20: accept from 16, reject up to 3");
    assert_eq!(Bounds::measured().said(10).to_string(), "of 10: accept from 7, reject if no two agree");
    assert_eq!(Bounds::unanimous().said(5).to_string(), "of 5: accept from 5, reject never");
    assert_eq!(Bounds::squared().said(5).to_string(), "of 5: accept from 4, reject if no two agree");
    assert_eq!(Bounds::squared().said(10).to_string(), "of 10: accept from 8, reject up to 2");
}

#[test]
fn a_tool_that_is_not_here_is_compared_by_the_schema_that_came_with_it() {
    let epoch = Epoch::begin();
    let schema = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"m":{"type":"string","default":"x"}}}"#;
    let tools = PlanTools::new().tool("far", PlanTool::of_schema(schema).unwrap());
    let sample = |arguments: &str| Sample::of([("far", arguments)]).result("1");
    let texts = [r#"{"n":1}"#, r#"{"n":1.0,"m":"x"}"#, r#"{"m":"x","n":1}"#, r#"{"n":1}"#, r#"{"n":"1"}"#];
    let ruling = AgreementGate::new(Bounds::seed()).rule(&set(&epoch, texts.map(sample)), &tools);
    assert_eq!(ruling.figures().groups, [4, 1]);
    // However well they agree: nobody has shown anything of it.
    is(&ruling, JudgementKind::Defer, RulingReason::NotVerified);
    for wrong in ["", "[]", "3", r#"{"type":"string"}"#, r#"{"type":"object","properties":{"a":{"pattern":"("}}}"#] {
        let error = PlanTool::of_schema(wrong).unwrap_err();
        assert!(error.to_string().starts_with("arguments can't be compared by this schema: "), "{wrong}: {error}");
    }
}
