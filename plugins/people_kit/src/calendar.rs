//! When people are free, and reservations of their time: asked of `calendar`.

use portolan_sdk::prelude::*;

/// The id of what a reservation is for.
const REFERENCE: &str = "^[A-Za-z0-9_:.-]{1,100}$";

/// Whose time one call is about.
pub const MOST_OWNERS: u32 = 20;
/// Slots that are asked about, or proposed, in one call.
pub const MOST_SLOTS: u32 = 50;

/// From `start` up to, and without, `end`.
#[message(PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// RFC 3339.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub start: String,
    /// RFC 3339.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub end: String,
}

impl Slot {
    /// Of milliseconds since the Unix epoch.
    pub fn of(start: u64, end: u64) -> Self {
        Self { start: time::rfc3339(start), end: time::rfc3339(end) }
    }

    /// In milliseconds since the Unix epoch; none if it does not end after it begins.
    pub fn millis(&self) -> Option<(u64, u64)> {
        let (start, end) = (time::parse(&self.start)?, time::parse(&self.end)?);
        (start < end).then_some((start, end))
    }
}

#[choice]
pub enum Firmness {
    /// It may come: nothing else is refused because of it.
    Tentative,
    /// It is settled, and nothing else may be at the same time.
    Firm,
}

/// The input of `calendar reserve`.
#[message]
pub struct Reserve {
    /// What it is for, such as a meeting's id. The same again replaces what it reserved before.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = REFERENCE))]
    pub reference: String,
    /// Whose time it is.
    #[schemars(length(min = 1, max = MOST_OWNERS), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
    #[serde(flatten)]
    pub slot: Slot,
    pub kind: Firmness,
    /// What the people read in their calendars.
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    /// Refuse also what lies outside of the hours that the people have set.
    #[serde(default)]
    pub within_availability: bool,
}

/// The input of `calendar release`.
#[message]
pub struct Release {
    /// What was reserved for it is free again; nothing is no error.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = REFERENCE))]
    pub reference: String,
}

/// The input of `calendar free`.
#[message]
pub struct WhoIsFree {
    #[schemars(length(min = 1, max = MOST_OWNERS), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
    #[schemars(length(min = 1, max = MOST_SLOTS))]
    pub slots: Vec<Slot>,
    /// What this one has reserved is not looked at.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = REFERENCE))]
    pub reference: Option<String>,
}

/// The output of `calendar free`: as many answers as slots, in their order.
#[message(PartialEq, Eq)]
pub struct Free {
    pub free: Vec<bool>,
}

/// The input of `calendar alternatives`.
#[message]
pub struct Wanted {
    #[schemars(length(min = 1, max = MOST_OWNERS), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
    #[schemars(range(min = 5, max = 1440))]
    pub duration_min: u32,
    /// RFC 3339: not before this.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub from: String,
    /// RFC 3339: over by then; at most 62 days later.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub to: String,
    #[schemars(range(min = 1, max = MOST_SLOTS))]
    pub limit: u32,
}

/// The output of `calendar alternatives`, the earliest first.
#[message(PartialEq, Eq)]
pub struct Slots {
    pub slots: Vec<Slot>,
}

/// The UID of a thing in files of calendars: the same wherever it is exported.
pub fn uid(id: &str) -> String {
    format!("{id}@portolan")
}

/// Reserves the time of all of them, or of nobody: then it is refused as `slot_taken`.
pub fn reserve(reservation: &Reserve) -> Result<(), Refusal> {
    let NoOutput {} = invoke::call("calendar", "reserve", reservation)?;
    Ok(())
}

/// Gives back what was reserved, if anything was.
pub fn release(reference: &str) -> Result<(), Refusal> {
    let release = Release { reference: reference.to_owned() };
    let NoOutput {} = invoke::call("calendar", "release", &release)?;
    Ok(())
}

/// Whether all of them are free, slot by slot. The hours that the people have set count for
/// everybody but the one who calls.
pub fn free(question: &WhoIsFree) -> Result<Vec<bool>, Refusal> {
    let answer: Free = invoke::call("calendar", "free", question)?;
    Ok(answer.free)
}

/// Times at which all of them are free, within everybody's hours.
pub fn alternatives(wanted: &Wanted) -> Result<Vec<Slot>, Refusal> {
    let answer: Slots = invoke::call("calendar", "alternatives", wanted)?;
    Ok(answer.slots)
}
