// A toolset of one of a generic type's types, which `Self` names as anywhere else.
use std::sync::Arc;
use tool_runtime::{Content, HostTool, toolset};

struct Store<T, const N: usize>(Vec<T>);

#[toolset(prefix = "store_")]
impl Store<u8, { 1 + 2 }> {
    const LIMIT: u8 = 3;

    fn shown(found: &Vec<u8>) -> Content {
        Content::text(format!("{found:?}"))
    }

    fn is_small(args: &StoreFindArgs) -> bool {
        args.limit < Self::LIMIT
    }

    /// Finds some.
    #[tool(host(project = Self::shown, concurrency_safe = Self::is_small))]
    fn find(
        &self,
        /// How many at most.
        #[arg(default = Self::LIMIT, example = Self::LIMIT - 1)]
        limit: u8,
        /// Which.
        only: [u8; Self::LIMIT as usize],
    ) -> Result<Vec<u8>, String> {
        Ok(self.0.iter().copied().filter(|it| only.contains(it)).take(limit.into()).collect())
    }
}

fn main() {
    let store = Arc::new(Store(vec![1]));
    assert!(store.clone().tools().iter().map(HostTool::name).eq(["store_find"]));
    assert_eq!(store.find(1, [1, 2, 3]), Ok(vec![1]));
}
