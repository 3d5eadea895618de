//! What has to be known before a call runs.

mod slot;

pub use slot::{Checklist, Party, Report, Unknown};
