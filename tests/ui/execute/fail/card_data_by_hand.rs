use tool_runtime::CardData;

fn main() {
    let _ = CardData("{}".into());
}
