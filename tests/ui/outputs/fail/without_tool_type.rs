use tool_runtime::tool;

struct Weather {
    degrees: f64,
}

/// Looks up the weather.
#[tool]
async fn weather() -> Weather {
    Weather { degrees: 1.0 }
}

/// Looks up the weather of some days.
#[tool]
async fn forecast() -> Result<Vec<Weather>, std::io::Error> {
    Ok(Vec::new())
}

fn main() {
    let _ = |weather: Weather| weather.degrees;
}
