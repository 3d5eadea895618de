use tool_runtime::{AllowAll, Answer, Harness, QuestionSet, Registry};

fn main() {
    let harness = || Harness::new(Registry::builder().build().unwrap(), AllowAll);
    let _ = harness().approver(|set: QuestionSet| vec![Answer::Yes; set.questions.len()]);
    let _ = harness().approver(|_: QuestionSet| async { Answer::Yes });
}
