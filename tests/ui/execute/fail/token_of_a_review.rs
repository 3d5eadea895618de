use tool_runtime::path::Reviewed;
use tool_runtime::StoredResult;

fn review(result: &StoredResult) -> Reviewed {
    result.token().cancel();
    Reviewed::Accept
}

fn main() {
    let _ = review;
}
