//! Releases: a version, the canary, is given to a share of the callers of a capability while another one serves.
//!
//! - `conditions`: which versions may be given to a share of callers
//! - `counts`: what this node counts of the calls of both versions
//! - `release`: a release of a snapshot, and which callers it gives the canary
//! - `canary`: a release as this node follows it

mod canary;
mod conditions;
mod counts;
mod release;

pub(super) use canary::{Canary, CanaryState};
pub(super) use conditions::obstacles;
pub use counts::ReleaseCounts;
pub(super) use counts::minute;
pub use release::Release;
