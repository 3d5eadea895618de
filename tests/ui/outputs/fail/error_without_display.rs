use tool_runtime::tool;

#[derive(Debug)]
enum WeatherError {
    NoSuchCity,
}

/// Looks up the weather.
#[tool]
async fn weather() -> Result<f64, WeatherError> {
    Err(WeatherError::NoSuchCity)
}

fn main() {}
