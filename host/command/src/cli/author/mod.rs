//! The commands for authors of capabilities.

mod componentize;
mod embedded;
mod wit;

pub(super) use componentize::Componentize;
pub(super) use wit::Wit;
