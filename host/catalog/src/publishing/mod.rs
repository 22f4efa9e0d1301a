//! The publishing of versions: requests to the keeper, its answers, and the installations of this node.
//!
//! - `settings`: what the operator sets
//! - `error`: why a version is not published
//! - `installation`: a component on its way into the catalog folder
//! - `dropped`: a version that was dropped into the folder
//! - `note`: which desired versions this node has installed

mod dropped;
mod error;
mod installation;
mod note;
mod settings;

pub(super) use dropped::DroppedVersion;
pub use error::PublishError;
pub(super) use installation::{Cause, Installation, Installing, Requested};
pub use installation::{Decider, PublishRequest, Published, PublishedState};
pub(super) use note::{InstallationNote, Unapplied};
pub use settings::{BreakingPolicy, PublishSettings};
