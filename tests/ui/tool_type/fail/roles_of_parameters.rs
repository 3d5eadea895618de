use tool_runtime::tool_type;

#[tool_type]
struct Place {
    #[host]
    client: String,
    #[args]
    city: String,
}

fn main() {
    let _ = |place: Place| (place.client, place.city);
}
