use tool_runtime::path::Accepted;

fn rewrite(mut accepted: Accepted) -> Accepted {
    accepted.0.walked.text = r#"{"amount": 1}"#.to_owned();
    accepted
}

fn main() {
    let _ = rewrite;
}
