//! A value of an ask, in all the forms in which a text can hold it.

use super::instruction::quoted;
use super::{Piece, Reading};
use crate::checklist::ask::Ask;
use crate::checklist::search::{Budget, Needle, Read};
use crate::checklist::shape::Shape;
use crate::checklist::source::Normalisation;
use crate::schema::Day;
use crate::schema::json::Json;

/// Bytes of a piece that hold a value.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) normalisation: Normalisation,
}

/// What is searched for.
pub(super) enum Wanted {
    /// A string, and other words for it.
    Text(Needle, Vec<Needle>),
    Number(Read),
    /// A string that is a day: searched as it is first.
    Day(Needle, Vec<Read>),
    /// Nothing in a text can be it.
    Nowhere,
}

impl Wanted {
    pub(super) fn new(ask: &Ask, value: &Json) -> Self {
        match value {
            Json::Number(number) => Wanted::Number(Read::Number(number.clone())),
            Json::String(text) => {
                let Some(needle) = Needle::new(text) else { return Wanted::Nowhere };
                match text.parse::<Day>() {
                    Ok(day) if matches!(ask.shape(), Shape::Date | Shape::Text | Shape::Any) => {
                        Wanted::Day(needle, readings_of(day, ask.now()))
                    }
                    _ => {
                        let of_value = ask.aliases().filter(|(other, _)| Some(*other) == ask.value());
                        Wanted::Text(needle, of_value.filter_map(|(_, phrase)| Needle::new(phrase)).collect())
                    }
                }
            }
            _ => Wanted::Nowhere,
        }
    }

    /// Does a text that agrees to it, without saying it, say another one of its kind: "yes, 300" to "shall I send 500"?
    pub(super) fn is_replaced_in(&self, piece: &Piece) -> bool {
        let is_number = |reading: &Reading| matches!(reading.value, Read::Number(_));
        match self {
            Wanted::Text(..) => !quoted(&piece.words).is_empty(),
            Wanted::Number(_) => piece.readings.iter().any(is_number),
            Wanted::Day(..) => !piece.readings.iter().all(is_number),
            Wanted::Nowhere => false,
        }
    }

    /// The last place where it stands.
    pub(super) fn last_in(&self, piece: &Piece, budget: &mut Budget) -> Option<Place> {
        let needle = |needle: &Needle, budget: &mut Budget| {
            let found = needle.last_in(&piece.words, budget)?;
            Some(Place { start: found.start, end: found.end, normalisation: found.normalisation })
        };
        let read = |value| {
            let reading = piece.last_reading(value)?;
            Some(Place { start: reading.start, end: reading.end, normalisation: reading.normalisation })
        };
        budget.spend(1)?;
        match self {
            Wanted::Text(text, aliases) => needle(text, budget).or_else(|| {
                let found = aliases.iter().filter_map(|alias| needle(alias, budget)).max_by_key(|place| place.start)?;
                Some(Place { normalisation: Normalisation::Alias, ..found })
            }),
            Wanted::Number(number) => read(number),
            Wanted::Day(text, readings) => {
                needle(text, budget).or_else(|| readings.iter().filter_map(read).max_by_key(|place| place.start))
            }
            Wanted::Nowhere => None,
        }
    }
}

/// The readings that mean a day.
fn readings_of(day: Day, now: Option<Day>) -> Vec<Read> {
    let mut readings = vec![Read::Day(day)];
    let Some(now) = now else { return readings };
    if of_now(day.month(), day.day(), now).contains(&Some(day)) {
        readings.push(Read::DayOfYear(day.month(), day.day()));
    }
    let near = [(Some(now), 0), (now.next(), 1), (now.previous(), -1)];
    readings.extend(near.into_iter().filter(|(other, _)| *other == Some(day)).map(|(_, days)| Read::FromNow(days)));
    readings
}

/// The days that a month and a day mean at a date: the one of this year, and if that is over, the next one too.
pub(super) fn of_now(month: u8, day: u8, now: Day) -> [Option<Day>; 2] {
    let this = Day::new(now.year(), month, day);
    let over = this.is_none_or(|this| this < now);
    [this, Day::new(now.year() + 1, month, day).filter(|_| over)]
}
