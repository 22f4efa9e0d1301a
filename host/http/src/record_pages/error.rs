//! The reason why a page cannot be made.

/// The reason why a page cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error(transparent)]
    Records(#[from] portolan_store::StateError),
    #[error("a page cannot be rendered: {0}")]
    Template(#[from] askama::Error),
    #[error("a description cannot be read: {0}")]
    Description(#[from] std::io::Error),
}
