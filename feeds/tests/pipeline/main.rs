//! The whole pipeline, through real HTTP, against servers on this machine.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod costs;
mod demo;
mod places;
mod manners;
mod recorded;
mod objections;
mod signals;
mod sources;
mod support;
