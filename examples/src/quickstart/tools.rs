//! The tools of the quickstart. None needs a network: what is to be seen is the path of a call, not the weather.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tool_runtime::{
    CallContext, Card, Content, Registry, RegistryError, Secret, StoredResult, tool, tool_type, toolset,
};

/// All tools with the state that their `#[host]` parameters ask for.
pub(super) fn registry() -> Result<Registry, RegistryError> {
    Registry::builder()
        .tool(GetWeatherTool::host())
        .tool(ScheduleMeetingTool::host())
        .tool(TransferMoneyTool::host())
        .tool(BuildReportTool::host())
        .tools(Arc::new(Notes::sample()).tools())
        .state(Stations::sample())
        .state(Calendar::default())
        .build()
}

/// Whether a panic began in one of the tools.
pub(super) fn is_here(location: &Location<'_>) -> bool {
    location.file() == file!()
}

// --- weather: a default, limits, host state, and two narrations of one value ---

/// Unit of a temperature.
#[tool_type]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Days from today on.
#[tool_type]
struct Forecast {
    city: String,
    unit: Unit,
    days: Vec<Day>,
}

#[tool_type]
struct Day {
    high: f64,
    low: f64,
    sky: String,
}

/// Look up the weather forecast for a city.
#[tool(host(
    timeout = "5s",
    concurrency_safe,
    read_only,
    project = narrate,
    present_result = forecast_card,
))]
async fn get_weather(
    /// City name, e.g. "Paris".
    #[arg(length = 1..=80)]
    city: String,
    /// Unit of the answer.
    #[arg(default = Unit::Celsius)]
    unit: Unit,
    /// How many days, today included.
    #[arg(default = 2, range = 1..=7)]
    days: usize,
    #[host] stations: &Stations,
) -> Result<Forecast, NoStation> {
    // A station answers in its own time.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let Some(measured) = stations.0.get(city.as_str()) else {
        return Err(NoStation { city });
    };
    let shown = |celsius: f64| match unit {
        Unit::Celsius => celsius,
        Unit::Fahrenheit => celsius * 1.8 + 32.0,
    };
    let days = measured.iter().cycle().take(days).map(|&(low, high, sky)| Day {
        high: shown(high),
        low: shown(low),
        sky: sky.to_owned(),
    });
    Ok(Forecast { city, unit, days: days.collect() })
}

/// What the model reads instead of the JSON.
fn narrate(forecast: &Forecast) -> Content {
    let unit = match forecast.unit {
        Unit::Celsius => "°C",
        Unit::Fahrenheit => "°F",
    };
    let days: Vec<String> = forecast
        .days
        .iter()
        .enumerate()
        .map(|(index, day)| format!("day {}: {}, {} to {} {unit}", index + 1, day.sky, day.low, day.high))
        .collect();
    format!("{}: {}.", forecast.city, days.join("; ")).into()
}

/// What a person is shown of the result.
fn forecast_card(args: &GetWeatherArgs, result: &StoredResult) -> Card {
    if result.is_error {
        Card::new(format!("No forecast for {}", args.city))
    } else {
        let days = if args.days == 1 { "1 day".to_owned() } else { format!("{} days", args.days) };
        Card::new(format!("Forecast for {}, {days}", args.city))
    }
}

/// Lows, highs and skies in degrees Celsius, by city.
struct Stations(BTreeMap<&'static str, Vec<(f64, f64, &'static str)>>);

impl Stations {
    fn sample() -> Self {
        Stations(BTreeMap::from([
            ("Oslo", vec![(-3.0, 1.5, "snow"), (-6.0, -1.0, "clear")]),
            ("Paris", vec![(11.0, 18.5, "sunny"), (9.5, 14.0, "rain")]),
        ]))
    }
}

#[derive(Debug)]
struct NoStation {
    city: String,
}

impl fmt::Display for NoStation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "No station reports the weather of {:?}.", self.city)
    }
}

impl std::error::Error for NoStation {}

// --- calendar: nested arguments ---

/// Who is to come.
#[tool_type]
struct Attendee {
    /// Full name.
    #[arg(length = 1..=80)]
    name: String,
    /// Where the invitation goes.
    email: String,
    /// What they do in the meeting.
    #[arg(default = Role::Guest)]
    role: Role,
}

#[tool_type]
#[derive(Debug, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Role {
    Host,
    Speaker,
    Guest,
}

/// Put a meeting into the calendar and invite its attendees.
#[tool(host(changes("a meeting is added"), present_result = meeting_card))]
async fn schedule_meeting(
    /// What it is about.
    #[arg(length = 1..=80)]
    title: String,
    /// When it begins, in UTC, e.g. "2026-03-02T09:30:00Z".
    #[arg(format = "date-time")]
    start: String,
    /// How long it takes.
    #[arg(default = 30, range = 15..=240)]
    minutes: u16,
    /// Everybody who is invited.
    #[arg(length = 1..=20)]
    attendees: Vec<Attendee>,
    #[host] calendar: &Calendar,
) -> String {
    // Nothing panics while the lock is held, so a poisoned one has nothing half-done in it.
    let mut meetings = calendar.0.lock().unwrap_or_else(PoisonError::into_inner);
    meetings.push(title.clone());
    let invited: Vec<String> = attendees
        .iter()
        .map(|attendee| format!("{} <{}> ({:?})", attendee.name, attendee.email, attendee.role))
        .collect();
    format!("{title:?} is at {start} for {minutes} minutes. Invited: {}.", invited.join(", "))
}

fn meeting_card(args: &ScheduleMeetingArgs, result: &StoredResult) -> Card {
    let card = Card::new(format!("Meeting: {}, {} min", args.title, args.minutes));
    if result.is_error { card.with_body("not scheduled") } else { card }
}

/// Titles are enough for an example.
#[derive(Default)]
struct Calendar(Mutex<Vec<String>>);

// --- money: what policies and people are for ---

/// Send money from the user's account.
#[tool(host(
    timeout = "5s",
    destructive,
    changes("money leaves the account"),
    present_call = transfer_card,
    present_result = transferred_card,
))]
async fn transfer_money(
    /// IBAN of the account that gets the money.
    #[arg(length = 15..=34)]
    to: String,
    /// How much, in euro cents.
    #[arg(range = 1..)]
    cents: u64,
    /// One-time code that the user was sent.
    code: Secret<String>,
) -> Result<String, String> {
    if code.expose().len() != 6 {
        return Err("The bank refused the one-time code.".to_owned());
    }
    Ok(format!("{} EUR were sent to {to}.", euros(cents)))
}

/// What a person is shown when they are asked.
fn transfer_card(args: &TransferMoneyArgs) -> Card {
    Card::new(format!("Send {} EUR to {}", euros(args.cents), args.to))
}

fn transferred_card(args: &TransferMoneyArgs, result: &StoredResult) -> Card {
    let said = if result.is_error { "Not sent" } else { "Sent" };
    Card::new(format!("{said}: {} EUR to {}", euros(args.cents), args.to))
}

fn euros(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

// --- notes: a set of methods with one receiver ---

/// Texts by their paths.
struct Notes(BTreeMap<&'static str, &'static str>);

impl Notes {
    fn sample() -> Self {
        Notes(BTreeMap::from([
            ("ideas/boat.md", "Name the boat after the dog."),
            ("ideas/harness.md", "The model proposes, the code executes."),
            ("todo.md", "Write to the harbour about the boat."),
        ]))
    }
}

#[toolset(prefix = "notes_")]
impl Notes {
    /// Find the notes that contain a text.
    #[tool(host(inline, read_only, concurrency_safe))]
    fn search(
        &self,
        /// What to look for.
        query: String,
        /// At most so many notes.
        #[arg(default = 5, range = 1..=20)]
        limit: usize,
    ) -> Vec<String> {
        let found = self.0.iter().filter(|(_, text)| text.contains(&query));
        found.take(limit).map(|(path, _)| (*path).to_owned()).collect()
    }

    /// Read a note.
    #[tool(host(inline, read_only, concurrency_safe, reads(path)))]
    fn read(
        &self,
        /// Path of the note.
        #[arg(path)]
        path: String,
    ) -> Result<String, NoNote> {
        match self.0.get(path.as_str()) {
            Some(text) => Ok((*text).to_owned()),
            None => Err(NoNote {
                cause: std::io::Error::other(format!("no row for {path:?} in /var/lib/notes/index.db")),
                path,
            }),
        }
    }

    /// Say how long the notes in a folder are on average.
    #[tool(host(inline, read_only, concurrency_safe))]
    fn average_length(
        &self,
        /// Path of the folder.
        #[arg(path)]
        folder: String,
    ) -> usize {
        let inside: Vec<usize> =
            self.0.iter().filter(|(path, _)| path.starts_with(&folder)).map(|(_, text)| text.len()).collect();
        // The bug of this example: nobody thought of an empty folder.
        inside.iter().sum::<usize>() / inside.len()
    }
}

/// The model reads the first line; the cause stays in the host.
#[derive(Debug)]
struct NoNote {
    path: String,
    cause: std::io::Error,
}

impl fmt::Display for NoNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "There is no note at {:?}.", self.path)
    }
}

impl std::error::Error for NoNote {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

// --- report: slower than its budget ---

/// Build the sales report of a year.
#[tool(host(timeout = "150ms", read_only))]
async fn build_report(
    /// Year, e.g. 2025.
    #[arg(range = 2000..=2100)]
    year: u16,
    #[host] cx: &CallContext,
) -> String {
    // The deadline is the host's: the model is never told of it. This body doesn't look, and is dropped when its time
    // is over.
    let _deadline = cx.deadline();
    tokio::time::sleep(Duration::from_secs(30)).await;
    format!("Sales of {year}: …")
}
