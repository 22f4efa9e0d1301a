//! The contract as generated from `wit/`: the layer under the typed one.
//!
//! Interfaces that a capability does not use disappear when it is linked. Those of `wit/sensitive.wit`
//! make it one that a host loads only with its operator's grant.
#![allow(
    unsafe_code,
    missing_debug_implementations,
    unreachable_pub,
    clippy::all,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::allow_attributes_without_reason,
    reason = "generated"
)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "any-capability",
    pub_export_macro: true,
    default_bindings_module: "portolan_sdk::contract",
});

pub use portolan::capability::{
    context, description, documents, events, feeds, identity, inbox, invoke, lookups, platform,
    secrets, sms, timers, types, webhooks,
};
pub use types::{AgentCaller, HostError};
