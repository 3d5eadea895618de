use tool_runtime::{Attempt, BoxFuture, Layer, Ran};

struct Careless;

impl Layer for Careless {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        attempt.token = None;
        Box::pin(async move { attempt.run().await })
    }
}

fn main() {}
