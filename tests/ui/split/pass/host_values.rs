// By value and by reference, whatever owns its data.
use std::sync::{Arc, Mutex};
use tool_runtime::{CallContext, HostState, HostTool, Registry, tool};

trait Store: Send + Sync {
    fn get(&self, key: &str) -> Option<String>;
}

struct Client {
    base: String,
}

#[derive(Clone)]
struct Tenant(u32);

type Shared<T> = Arc<Mutex<T>>;

/// Looks something up.
#[tool]
async fn look_up(
    #[host] store: Arc<dyn Store>,
    #[host] client: &Client,
    /// What to look for.
    key: String,
    #[host] Tenant(number): &Tenant,
    #[host] mut tenant: Tenant,
    #[host] log: Shared<Vec<String>>,
    #[host] registry: &Option<Registry>,
    #[host] cx: &CallContext,
    #[host] owned: CallContext,
) -> Option<String> {
    tenant.0 += 1;
    assert_eq!((tenant.0, cx.call_id()), (*number + 1, owned.call_id()));
    assert!(registry.is_none());
    log.lock().unwrap().push(client.base.clone());
    store.get(&key)
}

fn main() {
    let _: fn() -> HostTool = LookUpTool::host;
    let names: serde_json::Value = serde_json::from_str(LookUpTool::schema().parameters()).unwrap();
    assert_eq!(names["properties"].as_object().unwrap().len(), 1);
    let _ = HostState::default();
    let missing = Registry::builder().tool(LookUpTool::host()).build().unwrap_err().to_string();
    for name in ["dyn", "Client", "Tenant", "Mutex", "Registry"] {
        assert!(missing.contains(name), "{missing}");
    }
    assert!(!missing.contains("CallContext"), "{missing}");
}
