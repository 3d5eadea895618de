use std::rc::Rc;

use tool_runtime::{AllowAll, Answer, Harness, QuestionSet, Registry};

fn main() {
    let harness = Harness::new(Registry::builder().build().unwrap(), AllowAll);
    let _ = harness.approver(|_: QuestionSet| async {
        let answer = Rc::new(Answer::Yes);
        std::future::ready(()).await;
        vec![*answer]
    });
}
