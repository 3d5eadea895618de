use tool_runtime::{Attempt, BoxFuture, Layer, Ran};

struct Forgets;

impl Layer for Forgets {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            attempt.run().await;
        })
    }
}

fn main() {}
