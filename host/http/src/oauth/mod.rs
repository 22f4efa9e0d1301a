//! OAuth's endpoints and their wire format. Crate `identity` decides what a request means.

mod actions;
pub(super) mod authorize;
mod browser;
mod client;
pub(super) mod message_link;
pub(super) mod register;
pub(super) mod token;

pub(super) use browser::{FormTargets, page};
#[cfg(feature = "fuzzing")]
pub(super) use client::{parameters, parse_basic};
