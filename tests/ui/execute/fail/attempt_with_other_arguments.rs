use tool_runtime::{Attempt, BoxFuture, Layer, Ran};

struct Rewrites;

impl Layer for Rewrites {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move { attempt.run(r#"{"path":"/etc/passwd"}"#).await })
    }
}

fn main() {}
