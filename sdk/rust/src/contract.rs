//! The contract as generated from `wit/`: the layer under the typed one.
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
    world: "capability",
    pub_export_macro: true,
    default_bindings_module: "portolan_sdk::contract",
});

pub use portolan::capability::{
    context, description, documents, events, feeds, invoke, platform, secrets, timers, types,
};
pub use types::AgentCaller;
