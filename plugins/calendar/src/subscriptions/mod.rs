//! Subscriptions: calendars elsewhere, which the host reads again and again by their secret addresses.

mod actions;
mod reading;
mod schedule;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use actions::{list, refresh, subscribe, unsubscribe};
pub(crate) use reading::{poll, take};
pub(crate) use types::*;
