use tool_runtime::toolset;

struct Cache<S>(S);

#[toolset]
impl<S: Send + Sync + 'static> Cache<S> {
    /// Empties the cache.
    #[tool]
    fn clear(&self) {
        let _ = &self.0;
    }
}

fn main() {}
