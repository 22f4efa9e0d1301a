//! The commands for authors of capabilities.

mod build;
mod componentize;
mod embedded;
mod language;
mod new;
mod sdk;
mod test;
mod wit;

pub(super) use build::Build;
pub(super) use componentize::Componentize;
pub(super) use new::New;
pub(super) use test::Test;
pub(super) use wit::Wit;
