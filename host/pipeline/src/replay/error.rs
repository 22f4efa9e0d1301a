//! Why recorded calls cannot be run again.

use portolan_catalog::LoadError;
use portolan_store::DbError;

/// The reason why recorded calls cannot be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("there is no recording of the request {0}")]
    Unknown(String),
    #[error(
        "the recording cannot be read: its key is destroyed, or this host lacks the key in secret.keys that sealed it"
    )]
    Unreadable,
    #[error("no run of this call is one of {0}")]
    OtherCapability(String),
    #[error("the version {version} of {id} is neither served nor kept")]
    NoComponent { id: String, version: String },
    #[error("the component does more than can be shown")]
    TooLarge,
    #[error("{0} does not serve: only a version of a serving capability can be tried")]
    NotServed(String),
    #[error(
        "{id} is of {owner}, and this component of {publisher}: only a version of the same publisher can be tried"
    )]
    OtherPublisher { id: String, publisher: String, owner: String },
    #[error("the serving version of {id} does not import {grants}: publish this version first")]
    MoreGrants { id: String, grants: String },
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Store(#[from] DbError),
}
