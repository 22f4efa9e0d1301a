//! When people are free, and reservations of their time: calls of `calendar`.

use portolan_sdk::prelude::*;

/// The pattern of a reservation's reference.
const REFERENCE: &str = "^[A-Za-z0-9_:.-]{1,100}$";

/// The maximum number of people of one call.
pub const MOST_OWNERS: u32 = 20;
/// The maximum number of people of one reservation: those of one call, and a guest who books them.
pub const MOST_ATTENDEES: u32 = MOST_OWNERS + 1;
/// The maximum number of slots of one call.
pub const MOST_SLOTS: u32 = 50;

/// A span from `start` up to, but not including, `end`.
#[message(PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The start (RFC 3339).
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub start: String,
    /// The end (RFC 3339).
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub end: String,
}

impl Slot {
    /// Makes a slot from milliseconds since the Unix epoch.
    pub fn of(start: u64, end: u64) -> Self {
        Self { start: time::rfc3339(start), end: time::rfc3339(end) }
    }

    /// Returns start and end in milliseconds since the Unix epoch; `None` if the end is not after
    /// the start.
    pub fn millis(&self) -> Option<(u64, u64)> {
        let (start, end) = (time::parse(&self.start)?, time::parse(&self.end)?);
        (start < end).then_some((start, end))
    }
}

#[choice]
pub enum Firmness {
    /// The meeting is not confirmed: nothing else is refused because of it.
    Tentative,
    /// The meeting is confirmed: nothing else may be at the same time.
    Firm,
}

/// The input of `calendar reserve`.
#[message]
pub struct Reserve {
    /// The reference of the reservation, such as a meeting's id. The same reference replaces its
    /// earlier reservation.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = REFERENCE))]
    pub reference: String,
    /// The people whose time is reserved.
    #[schemars(length(min = 1, max = MOST_ATTENDEES), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
    #[serde(flatten)]
    pub slot: Slot,
    pub kind: Firmness,
    /// The title that the people read in their calendars.
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    /// The person who wrote the title. Their erasure removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40))]
    pub title_by: Option<String>,
    /// Whether to refuse what is outside of the people's availability.
    #[serde(default)]
    pub within_availability: bool,
}

/// The input of `calendar release`.
#[message]
pub struct Release {
    /// The reference whose reservation is released; it is no error if there is none.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = REFERENCE))]
    pub reference: String,
}

/// The input of `calendar free`.
#[message]
pub struct FreeQuery {
    #[schemars(length(min = 1, max = MOST_OWNERS), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
    #[schemars(length(min = 1, max = MOST_SLOTS))]
    pub slots: Vec<Slot>,
    /// The reference whose reservation is ignored.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = REFERENCE))]
    pub reference: Option<String>,
}

/// The output of `calendar free`: one answer for each slot, in their order.
#[message(PartialEq, Eq)]
pub struct Free {
    pub free: Vec<bool>,
}

/// The input of `calendar alternatives`.
#[message]
pub struct AlternativesQuery {
    #[schemars(length(min = 1, max = MOST_OWNERS), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
    #[schemars(range(min = 5, max = 1440))]
    pub duration_min: u32,
    /// The earliest start (RFC 3339).
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub from: String,
    /// The latest end (RFC 3339), at most 62 days after `from`.
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

/// The length of a cell, in minutes. Cells begin at multiples of it.
pub const CELL_MIN: u32 = 15;
/// The maximum number of cells of one call: 16 days.
pub const MOST_CELLS: u32 = 16 * 24 * 4;

/// The input of `calendar cells`.
#[message]
pub struct CellsQuery {
    #[schemars(length(min = 1, max = MOST_OWNERS), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
    /// The start of the first cell (RFC 3339), a multiple of 15 minutes.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub from: String,
    /// The number of cells.
    #[schemars(range(min = 1, max = MOST_CELLS))]
    pub cells: u32,
}

/// The cells of one person.
#[message(PartialEq, Eq)]
pub struct PersonCells {
    pub owner_id: String,
    /// One character for each cell: `.` if others can book the person in all of it, otherwise `x`.
    pub cells: String,
}

/// The output of `calendar cells`, one entry for each person, ordered by id.
#[message(PartialEq, Eq)]
pub struct Cells {
    pub people: Vec<PersonCells>,
}

/// Returns the UID of an event in calendar files: it is the same in every export.
pub fn uid(id: &str) -> String {
    format!("{id}@portolan")
}

pub const RESERVE: Invocation<Reserve, ()> = Invocation::new("calendar", "reserve");
pub const RELEASE: Invocation<Release, ()> = Invocation::new("calendar", "release");
pub const FREE: Invocation<FreeQuery, Free> = Invocation::new("calendar", "free");
pub const ALTERNATIVES: Invocation<AlternativesQuery, Slots> =
    Invocation::new("calendar", "alternatives");
pub const CELLS: Invocation<CellsQuery, Cells> = Invocation::new("calendar", "cells");

/// Reserves the slot in the calendars of all people of the reservation, or refuses with
/// `slot_taken`.
pub fn reserve(reservation: &Reserve) -> Result<(), Refusal> {
    RESERVE.call(reservation)
}

/// Releases a reservation, if there is one.
pub fn release(reference: &str) -> Result<(), Refusal> {
    RELEASE.call(&Release { reference: reference.to_owned() })
}

/// Returns for each slot whether all the people are free in it. A slot must also be within the
/// availability of each person except the caller.
pub fn free(query: &FreeQuery) -> Result<Vec<bool>, Refusal> {
    Ok(FREE.call(query)?.free)
}

/// Returns the earliest slots in which all the people are free, within everybody's availability.
pub fn alternatives(query: &AlternativesQuery) -> Result<Vec<Slot>, Refusal> {
    Ok(ALTERNATIVES.call(query)?.slots)
}

/// Returns in which cells others can book these people: within their availability, and not while they are
/// busy.
pub fn cells(query: &CellsQuery) -> Result<Vec<PersonCells>, Refusal> {
    Ok(CELLS.call(query)?.people)
}
