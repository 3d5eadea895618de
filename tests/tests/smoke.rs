//! smoke
use std::sync::Arc;
use tool_runtime::{AllowAll, CallContext, Harness, Registry, ToolCall, tool, tool_type, toolset};

/// A unit.
#[tool_type]
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[tool_type]
#[derive(Debug, Clone)]
struct Filter {
    /// zeta
    zeta: u32,
    alpha: Option<String>,
    #[arg(secret)]
    key: Option<String>,
}

#[tool_type]
struct Weather {
    city: String,
    degrees: f64,
}

struct Client {
    base: f64,
}

/// Look up the weather for a city.
#[tool(host(timeout = "5s", concurrency_safe, read_only))]
async fn get_weather(
    /// City name.
    city: String,
    /// Unit.
    #[arg(default = Unit::Celsius)]
    unit: Unit,
    /// filter
    filter: Option<Filter>,
    #[host] client: Arc<Client>,
    #[host] cx: &CallContext,
) -> Result<Weather, std::io::Error> {
    let _ = (unit, cx.call_id(), &filter);
    Ok(Weather {
        city,
        degrees: client.base,
    })
}

/// Adds.
#[tool]
fn add(
    /// a
    #[arg(range = 1..=10)]
    a: i64,
    /// b
    b: i64,
) -> i64 {
    a + b
}

struct Files;
#[toolset]
impl Files {
    /// Reads.
    #[tool]
    async fn read(
        &self,
        /// path
        #[arg(path)]
        path: String,
    ) -> String {
        path
    }
}

#[tokio::test]
async fn smoke() {
    println!("{:?}", GetWeatherTool::schema());
    let registry = Registry::builder()
        .tool(GetWeatherTool::host())
        .tool(AddTool::host())
        .tools(Arc::new(Files).tools())
        .state(Arc::new(Client { base: 1.5 }))
        .build()
        .unwrap();
    let harness = Harness::new(registry, AllowAll);
    for (name, args) in [
        ("get_weather", r#"{"city":"Paris"}"#),
        (
            "get_weather",
            r#"{"city":5,"unti":"Celsius","filter":{"zeta":"x","alpha":1,"keyy":3,"key":5}}"#,
        ),
        ("get_weather", r#"{"city":"x","unit":"celsius"}"#),
        ("add", r#"{"a":3.0,"b":2}"#),
        ("add", r#"[1,2]"#),
        ("add", r#"{"a":11,"b":1e30}"#),
        ("add", r#"{"a":1,"#),
        ("read", r#"{"path":"./a/../b"}"#),
        ("reed", r#"{"path":"./a/../b"}"#),
    ] {
        for settled in harness.run_settled([ToolCall::new("c1", name, args)], None).await {
            println!(
                "{} -> {:?}\n{}",
                settled.record().code(),
                settled.record().verdict().map(|v| v.arguments()),
                settled.result().text()
            );
        }
    }
}
