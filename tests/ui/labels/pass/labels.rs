use tool_runtime::{LabelKind, tool};

/// Books a flight.
///
/// [required] The passport is valid.
/// [confirm] The price.
/// [notice]
#[tool]
fn book(
    /// Which flight.
    /// [required] Its number.
    /// [confirm] The date.
    flight: String,
) -> String {
    flight
}

fn main() {
    let tool = BookTool::host();
    let labels: Vec<_> = tool.labels().iter().map(|label| (label.kind(), label.text())).collect();
    assert_eq!(
        labels,
        [
            (LabelKind::Required, "The passport is valid."),
            (LabelKind::Confirm, "The price."),
            (LabelKind::Notice, ""),
        ]
    );
    assert!(tool.schema().description().contains("[required] The passport"));
}
