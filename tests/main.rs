//! Black box: the real binary, HTTP, a temporary folder and free ports for each test.
#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod harness;

mod cases {
    mod agent_listings;
    mod authorize;
    mod calls;
    mod catalog;
    mod claim;
    mod clients;
    mod command;
    mod deliveries;
    mod events;
    mod faults;
    mod histories;
    mod identity;
    mod limits;
    mod markup;
    mod modes;
    mod newcomer;
    mod oauth;
    mod install;
    mod operator;
    mod people;
    mod plugins;
    mod process;
    mod refusals;
    mod replacement;
    mod sandbox;
    mod social_relationships;
    mod state;
    mod queries;
    mod store;
    mod tidy;
    mod torture;
    mod webhooks;
}
