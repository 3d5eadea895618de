//! Yes for the session.

use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::{
    Answer, CallFacts, Code, Decision, DenyAll, DynamicTool, GrantScope, Grants, Harness, Policies, Registry, ToolCall,
};

use super::{ASKS, Person, code, harness, harness_of, one, pays};

#[tokio::test]
async fn b64_a_grant_turns_ask_into_allow_and_nothing_else() {
    let allow: fn(&CallFacts<'_>) -> Decision = |_| Decision::Allow;
    let deny: fn(&CallFacts<'_>) -> Decision =
        |call| if call.tool() == "pay" { Decision::deny("never") } else { Decision::NoOpinion };
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::AnyArguments));
    let asking = || harness().0.grants(grants.clone()).approver(person.clone());
    assert_eq!(code(&asking(), pays("1", r#"{"amount":1}"#)).await, Code::Ok);
    assert_eq!((grants.len(), person.asked().len()), (1, 1));
    for orders in [
        [deny, ASKS, allow],
        [deny, allow, ASKS],
        [ASKS, deny, allow],
        [ASKS, allow, deny],
        [allow, deny, ASKS],
        [allow, ASKS, deny],
    ] {
        let policy = orders.into_iter().fold(Policies::new(), Policies::and);
        let (harness, log, _) = harness_of(policy);
        let harness = harness.grants(grants.clone()).approver(person.clone());
        assert_eq!(code(&harness, pays("2", r#"{"amount":1}"#)).await, Code::Denied);
        assert!(log.take().is_empty());
    }
    let broken: fn(&CallFacts<'_>) -> Decision = |_| panic!("boom");
    for harness in
        [harness_of(DenyAll).0, harness_of(broken).0, harness().0.guard(|_: &CallFacts<'_>| Some("no".into()))]
    {
        assert_eq!(code(&harness.grants(grants.clone()), pays("2", r#"{"amount":1}"#)).await, Code::Denied);
    }
    // It spares the question, also where no rule says anything, and the record says so.
    for harness in [asking(), harness_of(Policies::new()).0.grants(grants.clone())] {
        let settled = one(&harness, pays("3", r#"{"amount":9}"#)).await;
        assert_eq!(settled.record().code(), Code::Ok);
        let verdict = settled.record().verdict().unwrap_or_else(|| panic!("a verdict"));
        let reason = verdict.reasons().last().cloned().unwrap_or_default();
        assert!(reason.starts_with("allowed for this session with any arguments"), "{reason}");
        assert!(reason.contains(person.asked()[0].id.as_str()), "{reason}");
        assert_eq!(verdict.question(), None);
    }
    assert_eq!(person.asked().len(), 1);
    // Another tool, another session, and after it was taken back.
    assert_eq!(
        code(&harness().0.grants(grants.clone()), ToolCall::new("4", "wire", r#"{"amount":1}"#)).await,
        Code::ApprovalUnavailable
    );
    assert_eq!(code(&harness().0, pays("5", r#"{"amount":1}"#)).await, Code::ApprovalUnavailable);
    let grant = grants.list().remove(0);
    assert_eq!((grant.tool(), grant.scope(), grant.arguments()), ("pay", GrantScope::AnyArguments, None));
    assert!(grants.revoke(&grant) && !grants.revoke(&grant));
    assert_eq!(code(&harness().0.grants(grants), pays("6", r#"{"amount":1}"#)).await, Code::ApprovalUnavailable);
}

/// What is denied when it is judged again is not granted either.
#[tokio::test]
async fn b64_a_grant_that_is_denied_at_once_is_none() {
    let judged = AtomicUsize::new(0);
    let (harness, log, _) = harness_of(move |_: &CallFacts<'_>| match judged.fetch_add(1, Ordering::SeqCst) {
        0 => Decision::ask("sure?"),
        _ => Decision::deny("not any more"),
    });
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::AnyArguments));
    let harness = harness.approver(person).grants(grants.clone());
    assert_eq!(code(&harness, pays("1", r#"{"amount":1}"#)).await, Code::Denied);
    assert!(grants.is_empty() && log.take().is_empty());
}

fn remote(description: &str) -> Registry {
    let tool = DynamicTool::builder("send", description)
        .parameters(r#"{"type":"object","properties":{"to":{"type":["string","null"]},"all":{"type":"object"}}}"#)
        .output("true")
        .run(|arguments, _| async move { Ok(arguments) });
    let tool = tool.unwrap_or_else(|error| panic!("{error}"));
    Registry::builder().tool(tool).build().unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn b64_another_definition_voids_a_grant() {
    for scope in [GrantScope::SameArguments, GrantScope::AnyArguments] {
        let grants = Grants::new();
        let call = || ToolCall::new("1", "send", r#"{"to":"a"}"#);
        let harness = |description: &str| Harness::new(remote(description), ASKS).grants(grants.clone());
        let granting = harness("Sends.").approver(Person::who_says(Answer::YesForSession(scope)));
        assert_eq!(code(&granting, call()).await, Code::Ok);
        assert_eq!(code(&harness("Sends."), call()).await, Code::Ok);
        assert_eq!(code(&harness("Sends, and tells everybody."), call()).await, Code::ApprovalUnavailable);
    }
}

#[tokio::test]
async fn b70_b74_a_grant_is_for_values_and_not_for_spellings() {
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::SameArguments));
    let granting = harness().0.grants(grants.clone()).approver(person.clone());
    assert_eq!(code(&granting, pays("1", r#"{"amount":1}"#)).await, Code::Ok);
    let after = harness().0.grants(grants.clone());
    for same in [
        r#"{"amount":1}"#,
        r#" { "amount" : 1.0 } "#,
        r#"{"to":"me","amount":1}"#,
        r#"{"recipient":"me","amount":1e0,"pin":null}"#,
        r#""{\"amount\":1}""#,
    ] {
        assert_eq!(code(&after, pays("2", same)).await, Code::Ok, "{same}");
    }
    for other in [r#"{"amount":100}"#, r#"{"amount":1,"to":"you"}"#, r#"{"amount":1,"pin":"1"}"#, r#"{"amount":1.5}"#] {
        assert_eq!(code(&after, pays("3", other)).await, Code::ApprovalUnavailable, "{other}");
    }
    assert_eq!(code(&after, ToolCall::new("4", "wire", r#"{"amount":1}"#)).await, Code::ApprovalUnavailable);
    assert_eq!(grants.list()[0].scope(), GrantScope::SameArguments);
    // A plain yes is for one call.
    let once = harness().0.grants(Grants::new()).approver(Person::who_says(Answer::Yes));
    let settled = one(&once, pays("5", r#"{"amount":1}"#)).await;
    assert_eq!(settled.record().code(), Code::Ok);
    let other = Person::who_says(Answer::No);
    assert_eq!(code(&once.approver(other.clone()), pays("5", r#"{"amount":1}"#)).await, Code::Rejected);
    assert_eq!(other.asked().len(), 1);
}

#[tokio::test]
async fn b74_the_digest_is_of_what_runs() {
    let person = Person::who_says(Answer::No);
    let harness = Harness::new(remote("Sends."), ASKS).approver(person.clone());
    let digest = async |id: &str, arguments: &str| {
        harness.run([ToolCall::new(id, "send", arguments)]).await;
        person.asked().last().map(|question| question.digest).unwrap_or_else(|| panic!("a question: {arguments}"))
    };
    let first = digest("1", r#"{"to":"é","all":{"a":[1,2],"b":1}}"#).await;
    assert_eq!(first, digest("2", "{ \"all\": {\"b\":1.0,\"a\":[1,2]}, \"to\":\"\\u00e9\" }").await);
    for other in [
        r#"{"to":"é","all":{"a":[2,1],"b":1}}"#,
        r#"{"to":"é","all":{"a":[1,2],"b":"1"}}"#,
        "{\"to\":\"e\u{301}\",\"all\":{\"a\":[1,2],\"b\":1}}",
        r#"{"to":"é"}"#,
        r#"{}"#,
    ] {
        assert_ne!(first, digest("3", other).await, "{other}");
    }
}

#[tokio::test]
async fn b73_missing_arguments_inherit_nothing() {
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::SameArguments));
    let granting = Harness::new(remote("Sends."), ASKS).grants(grants.clone()).approver(person);
    assert_eq!(code(&granting, ToolCall::new("1", "send", r#"{"to":"a"}"#)).await, Code::Ok);
    let after = Harness::new(remote("Sends."), ASKS).grants(grants);
    for less in ["", "null", "{}", r#"{"to":null}"#] {
        assert_eq!(code(&after, ToolCall::new("2", "send", less)).await, Code::ApprovalUnavailable, "{less}");
    }
    let absent = ToolCall::new("2", "send", tool_runtime::RawArguments::absent());
    assert_eq!(code(&after, absent).await, Code::ApprovalUnavailable);
    assert_eq!(code(&after, ToolCall::new("2", "send", r#"{"to":"a""#)).await, Code::InvalidArguments);
    assert_eq!(code(&after, ToolCall::new("2", "send", r#"{"to":"a"}"#)).await, Code::Ok);
}
