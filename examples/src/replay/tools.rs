//! Tools that between them have every kind of argument. All state is in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tool_runtime::{Registry, RegistryError, Secret, tool, tool_type, toolset};

/// All tools, with empty state.
pub(super) fn registry() -> Result<Registry, RegistryError> {
    Registry::builder()
        .tool(AddTool::host())
        .tool(DivideTool::host())
        .tool(RepeatTool::host())
        .tool(GetWeatherTool::host())
        .tool(SendMailTool::host())
        .tool(CreateOrderTool::host())
        .tool(DrawTool::host())
        .tool(LogInTool::host())
        .tool(FindFlightsTool::host())
        .tool(WaitTool::host())
        .tools(Arc::new(Files::default()).tools())
        .tools(Arc::new(Store::default()).tools())
        .build()
}

// --- scalars ---

/// Add two whole numbers.
#[tool(host(inline, read_only, idempotent, deterministic))]
fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> Result<i64, &'static str> {
    a.checked_add(b).ok_or("The sum is too large.")
}

/// Divide two whole numbers.
// It panics when asked to divide by zero, as a tool with a bug does; and it isn't `inline`, so it runs on a thread
// where it may block.
#[tool(host(timeout = "5s", read_only, idempotent, deterministic))]
fn divide(
    /// What is divided.
    dividend: i64,
    /// By what.
    divisor: i64,
) -> i64 {
    dividend / divisor
}

/// Repeat a text.
#[tool(host(inline, read_only, deterministic))]
fn repeat(
    /// What to repeat.
    #[arg(length = 1..=200)]
    text: &str,
    /// How often.
    #[arg(range = 1..=10)]
    times: u8,
    /// What stands between two of them; nothing if absent.
    separator: Option<char>,
    /// In capitals.
    #[arg(default)]
    loud: bool,
    /// Part of the text to take, from its beginning.
    #[arg(default = 1.0, range = 0.0..=1.0)]
    part: f64,
) -> String {
    let length = text.chars().count();
    // Between 0 and `length`, since `part` is between 0 and 1.
    let kept = (length as f64 * part).round() as usize;
    let text: String = text.chars().take(kept).collect();
    let text = if loud { text.to_uppercase() } else { text };
    let separator = separator.map(String::from).unwrap_or_default();
    vec![text; usize::from(times)].join(&separator)
}

// --- an enum with a default ---

/// Unit of a temperature.
#[tool_type]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[tool_type]
struct Weather {
    city: String,
    temperature: f64,
    unit: Unit,
}

/// Look up the weather in a city.
#[tool(host(timeout = "5s", concurrency_safe, read_only))]
async fn get_weather(
    /// City name, e.g. "Paris".
    #[arg(length = 1..=80)]
    city: String,
    /// Unit of the answer.
    #[arg(default = Unit::Celsius)]
    unit: Unit,
) -> Weather {
    // As good as any forecast, and the same each time.
    let temperature = match unit {
        Unit::Celsius => 21.5,
        Unit::Fahrenheit => 70.7,
    };
    Weather { city, temperature, unit }
}

// --- lists, a map, text that the model writes ---

/// Send a mail.
#[tool(host(timeout = "5s", destructive, changes("a mail is sent")))]
async fn send_mail(
    /// Addresses of those who get it.
    #[arg(length = 1..=20)]
    to: Vec<String>,
    /// Addresses of those who get a copy.
    #[arg(default)]
    cc: Vec<String>,
    /// What it is about.
    #[arg(length = 1..=120, alias = "title")]
    subject: String,
    /// The text.
    #[arg(authored)]
    body: String,
    /// Further header lines by their names.
    headers: Option<BTreeMap<String, String>>,
) -> String {
    let headers = headers.map_or(0, |headers| headers.len());
    let (to, cc) = (to.join(", "), cc.len());
    format!(
        "{subject:?} was sent to {to}: {cc} copies, {headers} further headers, {} characters.",
        body.chars().count()
    )
}

// --- nested structs ---

#[tool_type]
struct Address {
    /// Street and number.
    street: String,
    /// Postal code.
    zip: String,
    /// ISO 3166 code of two letters.
    #[arg(length = 2, default = "DE")]
    country: String,
}

#[tool_type]
struct Customer {
    /// Full name.
    name: String,
    /// Where the order goes.
    address: Address,
}

#[tool_type]
struct Line {
    /// What is ordered.
    article: u64,
    /// How many.
    #[arg(range = 1..=1000, default = 1)]
    quantity: u32,
    /// Price of one, in cents.
    #[arg(range = 0..)]
    cents: u64,
}

#[tool_type]
struct Order {
    country: String,
    lines: usize,
    total_cents: u64,
}

/// Create an order.
#[tool(host(timeout = "5s", changes("an order is created")))]
async fn create_order(
    /// Who orders.
    customer: Customer,
    /// What is ordered.
    #[arg(length = 1..=100)]
    lines: Vec<Line>,
    /// Day of delivery, e.g. "2026-03-02".
    #[arg(format = "date")]
    on: Option<String>,
) -> Result<Order, String> {
    if on.as_deref().is_some_and(|day| day < "2026-01-01") {
        return Err(format!("{} can't have anything delivered in the past.", customer.name));
    }
    let cents =
        lines.iter().try_fold(0_u64, |sum, line| line.cents.checked_mul(line.quantity.into())?.checked_add(sum));
    Ok(Order {
        country: customer.address.country,
        lines: lines.len(),
        total_cents: cents.ok_or("Nobody can pay that much.")?,
    })
}

// --- a tagged enum and tuples ---

/// What can be drawn. Points are pairs of x and y.
#[tool_type]
#[serde(tag = "shape", rename_all = "snake_case")]
enum Shape {
    Circle {
        /// Its middle.
        centre: (f64, f64),
        /// How far its line is from there.
        radius: f64,
    },
    Rectangle {
        /// One corner.
        from: (f64, f64),
        /// The opposite corner.
        to: (f64, f64),
    },
    Label {
        /// Where it begins.
        at: (f64, f64),
        /// What it says.
        #[arg(length = 1..=80)]
        text: String,
    },
}

/// Draw shapes, and get the area that they cover if none overlap.
#[tool(host(inline))]
fn draw(
    /// From back to front.
    #[arg(length = 1..=50)]
    shapes: Vec<Shape>,
    /// Red, green and blue.
    #[arg(default = (0, 0, 0))]
    colour: (u8, u8, u8),
) -> String {
    let area: f64 = shapes
        .iter()
        .map(|shape| match shape {
            Shape::Circle { radius, centre: _ } => std::f64::consts::PI * radius * radius,
            Shape::Rectangle { from, to } => ((to.0 - from.0) * (to.1 - from.1)).abs(),
            Shape::Label { at: _, text: _ } => 0.0,
        })
        .sum();
    let (red, green, blue) = colour;
    format!("{} shapes in #{red:02x}{green:02x}{blue:02x}, {area:.2} square units", shapes.len())
}

// --- secrets ---

/// Log in to the shop.
#[tool(host(timeout = "5s"))]
async fn log_in(
    /// Name of the account.
    account: String,
    /// Its password.
    #[arg(secret, length = 8..=128)]
    password: String,
    /// One-time code, if the account asks for one.
    code: Option<Secret<String>>,
) -> Result<String, &'static str> {
    if password.chars().all(char::is_alphabetic) {
        return Err("The account or its password is wrong.");
    }
    let factors = if code.is_some() { 2 } else { 1 };
    Ok(format!("{account} is logged in, by {factors} factors."))
}

// --- the whole object is one type ---

/// Which class to sit in.
#[tool_type]
#[derive(Debug, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Cabin {
    Economy,
    Business,
}

#[tool_type]
struct FlightQuery {
    /// IATA code of the airport to leave from.
    #[arg(length = 3)]
    from: String,
    /// IATA code of the airport to arrive at.
    #[arg(length = 3)]
    to: String,
    /// Day of departure, e.g. "2026-03-02".
    #[arg(format = "date")]
    date: String,
    /// Which class to sit in.
    #[arg(default = Cabin::Economy)]
    cabin: Cabin,
    /// At most so many stops; any number if absent.
    #[arg(range = 0..=3)]
    stops: Option<u8>,
}

/// Find flights between two airports.
#[tool(host(timeout = "5s", concurrency_safe, read_only))]
async fn find_flights(#[args] query: FlightQuery) -> Vec<String> {
    let FlightQuery { from, to, date, cabin, stops } = query;
    let stops = stops.unwrap_or(1);
    vec![format!("EX {stops}0{stops} {from}-{to} on {date}, {cabin:?}, {stops} stops")]
}

// --- a budget ---

/// Wait for some time.
#[tool(host(timeout = "200ms", read_only))]
async fn wait(
    /// How long.
    #[arg(range = 0..=60_000)]
    milliseconds: u64,
) -> String {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    format!("{milliseconds} ms have passed.")
}

// --- paths, no arguments ---

/// Texts by their paths.
#[derive(Default)]
struct Files(Mutex<BTreeMap<String, String>>);

impl Files {
    /// Nothing panics while the lock is held, so a poisoned one has nothing half-done in it.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[toolset]
impl Files {
    /// List the paths of all files.
    #[tool(host(inline, read_only, concurrency_safe))]
    fn list_files(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Read a file.
    #[tool(host(inline, read_only, concurrency_safe, reads(path)))]
    fn read_file(
        &self,
        /// Where it is.
        #[arg(path)]
        path: &str,
    ) -> Result<String, String> {
        self.lock().get(path).cloned().ok_or_else(|| format!("There is no file at {path:?}."))
    }

    /// Write a file, in the place of one that is there.
    #[tool(host(inline, destructive, idempotent, writes(path), changes("a file has other content")))]
    fn write_file(
        &self,
        /// Where it goes.
        #[arg(path)]
        path: String,
        /// All of its text.
        #[arg(authored)]
        content: String,
    ) {
        self.lock().insert(path, content);
    }
}

// --- sets, free JSON ---

/// Values and tags by their keys.
#[derive(Default)]
struct Store(Mutex<BTreeMap<String, (Value, BTreeSet<String>)>>);

#[toolset(prefix = "store_")]
impl Store {
    /// Keep a value under a key.
    #[tool(host(inline, writes(key), changes("a value is kept")))]
    fn put(
        &self,
        /// The key.
        #[arg(length = 1..=64)]
        key: String,
        /// Any JSON.
        value: Value,
        /// Words to find it by.
        #[arg(default)]
        tags: BTreeSet<String>,
    ) -> String {
        let said = format!("{key:?} is kept with {} tags.", tags.len());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, (value, tags));
        said
    }

    /// Get the value under a key.
    #[tool(host(inline, read_only, reads(key)))]
    fn get(
        &self,
        /// The key.
        key: String,
    ) -> Option<Value> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&key).map(|(value, _)| value.clone())
    }
}
