//! OAuth's endpoints and their wire format. Crate `identity` decides what a request means.

pub(super) mod account;
mod account_email;
mod account_session;
mod actions;
pub(super) mod authorize;
mod browser;
pub(super) mod claim;
mod client;
mod consent;
pub(super) mod device;
pub(super) mod email_link;
mod forms;
pub(super) mod message_link;
pub(super) mod passkey;
mod person;
pub(super) mod register;
mod session;
pub(super) mod sign_in;
pub(super) mod token;

pub(super) use browser::see_other;
#[cfg(feature = "fuzzing")]
pub(super) use client::{parameters, parse_basic};
pub(super) use person::{handoff, page as person_page};
