//! The commands for authors of capabilities.

mod build;
mod componentize;
mod dev;
mod embedded;
mod engine;
mod language;
mod log;
mod new;
mod sdk;
mod test;
mod wit;

pub(super) use build::Build;
pub(super) use componentize::Componentize;
pub(super) use dev::Dev;
pub(super) use engine::Engine;
pub(super) use new::New;
pub(super) use test::Test;
pub(super) use wit::Wit;
