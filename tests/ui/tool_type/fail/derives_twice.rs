use tool_runtime::tool_type;

#[tool_type]
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Place {
    city: String,
}

fn main() {
    let _ = |place: &Place| place.clone().city;
}
