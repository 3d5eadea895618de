use tool_runtime::tool;

/// Pays.
#[tool(host(
    condition(name = "balance", holds = "args.amount <= state.balance"),
    condition(text = "the balance is sufficient"),
    condition(name = "limit", text = "within the limit", holds = "args.amount < 9", prohibits = "args.amount > 9"),
    condition(name = "then", text = "so it is", holds = "args.amount < 9", then = "holds"),
    condition(name = "word", text = "so it is", check = "is_so", then = "approve"),
    condition(name = "who", text = "so it is", holds = "args.amount < 9", approver = "user"),
    condition(name = "whom", text = "so it is", approve_if = "args.amount < 9", approver = "treasurer"),
    condition(name = "key", text = "so it is", hold = "args.amount < 9"),
    condition(name = "", text = "so it is", check = 7),
    condition(name = "twice", name = "twice", text = "so it is", check = "is_so"),
    condition,
))]
fn pay(
    /// How much.
    amount: u32,
) {
    let _ = amount;
}

/// Pays more.
#[tool(condition(name = "model", text = "it is no key of the model", check = "is_so"))]
fn pay_more() {}

fn main() {}
