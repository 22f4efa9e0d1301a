//! Code that the shipped capabilities about people and listings share: rules for texts that people
//! write, calendars, and calls between the capabilities.

#[cfg(test)]
mod attempts;
pub mod acquaintances;
pub mod ages;
pub mod calendar;
pub mod contact;
pub mod credits;
pub mod delivery;
pub mod encounters;
mod lexicon;
pub mod fair_text;
pub mod fairness;
pub mod hex;
mod host_name;
pub mod ics;
pub mod listings;
pub mod organisations;
pub mod pairings;
pub mod patterns;
mod plain;
pub mod people;
pub mod relations;
pub mod taxonomy;
pub mod text;
pub mod threads;
pub mod visible;
pub mod words;
pub mod zones;

pub use host_name::is_host_name;

/// The value of the field `trust` in objects with texts that other people wrote.
pub const UNTRUSTED: &str = "untrusted_user_content";
