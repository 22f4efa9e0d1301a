//! What errors of the store mean to a caller.

use crate::{DbError, StateError};
use portolan_vocabulary::{ErrorCode, Failure, RETRY_SOON_S};

impl From<DbError> for Failure {
    fn from(_: DbError) -> Self {
        Self::new(ErrorCode::DependencyUnavailable).after_s(RETRY_SOON_S)
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        match error {
            StateError::CursorInvalid => Self::new(ErrorCode::CursorInvalid),
            StateError::Db(error) => error.into(),
            _ => Self::new(ErrorCode::InternalError),
        }
    }
}
