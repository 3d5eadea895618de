use tool_runtime::tool_type;

#[tool_type]
struct Place(
    #[arg(rename = "city")]
    String,
);

fn main() {
    let _ = |place: Place| place.0;
}
