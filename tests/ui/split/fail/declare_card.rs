// A card can be serialised, for the host's own use. That does not make it model-facing.
use tool_runtime::Card;
use tool_runtime::wire::openai_chat::Declarations;

fn declare(card: &Card) {
    Declarations::new().push(card);
}

fn main() {
    let _ = declare;
}
