use tool_runtime::tool;

struct Point {
    x: f64,
    y: f64,
}

/// Measures an area.
#[tool]
fn area(
    /// Width and height.
    (w, h): (f64, f64),
) -> f64 {
    w * h
}

/// Goes somewhere.
#[tool]
fn go(
    /// Where to.
    Point { x, y }: Point,
    /// How fast.
    _: f64,
) -> f64 {
    x + y
}

fn main() {}
