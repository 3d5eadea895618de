//! What users meet, theme by theme.
//!
//! A test that keeps an entry of the bug log, a behaviour or an invariant bears its number.

mod rules;
