use tool_runtime::tool;

struct Weather;
struct WeatherError;

/// Looks up the weather.
#[tool]
fn weather() -> Result<Weather, WeatherError> {
    Err(WeatherError)
}

fn main() {
    let _ = Weather;
}
