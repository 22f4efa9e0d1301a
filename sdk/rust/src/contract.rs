//! The contract as generated from `wit/`: the layer under the typed one.
//!
//! The linker removes the imports that a capability does not use. A host loads a capability that
//! uses an interface of `wit/sensitive.wit` only with its operator's grant. Off WebAssembly, the
//! imports call the world of the running test.
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

#[cfg(not(target_arch = "wasm32"))]
pub use crate::imports::{
    approvals, blobs, context, delivery, documents, events, feeds, identity, inbox, invoke,
    lookups, messages, moderation, people, platform, secrets, sms, timers, webhooks,
};
#[cfg(target_arch = "wasm32")]
pub use portolan::capability::{
    approvals, blobs, context, delivery, documents, events, feeds, identity, inbox, invoke,
    lookups, messages, moderation, people, platform, secrets, sms, timers, webhooks,
};
pub use portolan::capability::{description, types};
pub use types::{AgentCaller, HostError};
