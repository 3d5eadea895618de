//! What is deprecated is so for those who use it, and not for what is generated.
#![deny(warnings)]

use tool_runtime::{tool, tool_type, toolset};

/// A place.
#[tool_type]
#[derive(Debug, Clone, PartialEq)]
#[deprecated = "use Spot"]
#[serde(default)]
pub struct Place {
    /// City.
    #[arg(length = 1..=80)]
    city: String,
    #[deprecated(note = "it is always 3")]
    unit: u32,
    #[arg(default = 7)]
    floor: u8,
    #[cfg(any())]
    not_there: Missing,
    within: Option<Box<Self>>,
}

#[allow(deprecated)]
impl Default for Place {
    fn default() -> Self {
        Self { city: "Paris".to_owned(), unit: 3, floor: 7, within: None }
    }
}

/// A way.
#[tool_type]
#[derive(Default)]
pub enum Way {
    #[deprecated(note = "slow")]
    Fast,
    #[default]
    Slow,
    Long {
        #[deprecated]
        #[arg(default = 5)]
        miles: u8,
    },
    #[deprecated]
    Other(u8),
}

#[tool_type]
#[deprecated]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    Red,
    Mixed {
        #[arg(default = 5)]
        share: u8,
    },
}

#[tool_type]
#[deprecated]
pub struct Listed<T>
where
    T: Clone,
{
    items: Vec<T>,
    #[arg(default = 1)]
    page: u8,
    next: Option<Box<Listed<T>>>,
}

#[tool_type]
#[derive(Clone)]
#[deprecated]
pub struct Id(u64);

/// The types of its fields are deprecated, and it isn't.
#[tool_type]
#[allow(deprecated)]
pub struct Trip {
    from: Place,
    ids: Listed<Id>,
    id: u8,
}

/// Travels.
#[tool]
#[deprecated]
pub fn travel(
    /// Which way.
    #[arg(default)]
    way: Way,
    /// From where, and where to.
    trip: Trip,
) -> bool {
    matches!(way, Way::Slow) && trip.id == 1
}

/// Paints.
#[tool]
#[allow(deprecated)]
pub fn paint(
    /// In which colour.
    colour: Colour,
    /// Where.
    place: Place,
) -> Place {
    let Colour::Red = colour else { unreachable!() };
    place
}

pub struct Hall;

#[toolset]
impl Hall {
    /// Closes.
    #[tool]
    #[deprecated]
    pub fn close(&self) {}
}

fn main() {
    let schema = PaintTool::schema().parameters();
    for part in [
        r#""deprecated":true"#,
        r#""description":"A place.""#,
        r#""default":"Paris""#,
        r#""default":7"#,
        r#""maxLength":80"#,
        r#""enum":["red"]"#,
    ] {
        assert!(schema.contains(part), "{part} in {schema}");
    }
    assert!(!schema.contains("SchemaOf"), "{schema}");
    let schema = TravelTool::schema().parameters();
    assert!(!schema.contains("SchemaOf"), "{schema}");
    let _ = std::sync::Arc::new(Hall).tools();
}
