//! OAuth's endpoints: what they take and how they answer. What it means is in the room `identity`.

pub(super) mod authorize;
mod browser;
mod client;
mod deeds;
pub(super) mod register;
pub(super) mod token;

pub(super) use browser::{Forms, page};
