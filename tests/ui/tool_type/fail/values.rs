use tool_runtime::tool_type;

#[tool_type]
enum Change {
    Payment {
        #[arg(range = 10..=1)]
        amount: u32,
        #[arg(secret, example = "hunter2")]
        pin: String,
    },
}

fn main() {
    let _ = |change: Change| match change {
        Change::Payment { amount, pin } => (amount, pin),
    };
}
