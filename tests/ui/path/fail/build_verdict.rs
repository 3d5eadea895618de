use tool_runtime::Verdict;

fn main() {
    let _ = Verdict::new;
}
