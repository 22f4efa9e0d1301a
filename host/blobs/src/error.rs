//! Why something about a file is refused, and the failures that callers see in its place.

use portolan_store::{DbError, StateError};
use portolan_vocabulary::{ErrorCode, Failure, RETRY_SOON_S};
use std::io;

/// A refusal about a file.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// No upload has this address: it was never made here, or its blob is deleted.
    #[error("there is no such upload")]
    NoUpload,
    #[error("the upload was received already, or its time is over")]
    UploadEnded,
    #[error("the file is larger than the {0} bytes of this upload")]
    TooLarge(u64),
    #[error("too many files arrive at once")]
    Busy,
    #[error("the file did not arrive whole")]
    Interrupted,
    #[error("the file did not arrive in the time of a body")]
    TooSlow,
    #[error("the file is empty")]
    Empty,
    /// The folder of the contents, such as a full disk.
    #[error("the folder of the files: {0}")]
    Folder(#[from] io::Error),
    #[error(transparent)]
    State(#[from] StateError),
}

impl From<DbError> for BlobError {
    fn from(error: DbError) -> Self {
        Self::State(StateError::Db(error))
    }
}

impl From<BlobError> for Failure {
    fn from(error: BlobError) -> Self {
        let refused = |code, message: &'static str| Self::new(code).message(message);
        match error {
            BlobError::NoUpload => {
                refused(ErrorCode::NotFound, "There is no upload at this address.")
            }
            BlobError::UploadEnded => refused(
                ErrorCode::ResourceGone,
                "This address was used already, or its time is over. Begin another upload.",
            ),
            BlobError::TooLarge(most) => Self::new(ErrorCode::PayloadTooLarge)
                .message(format!("The file must have at most {most} bytes.")),
            BlobError::Busy => Self::new(ErrorCode::CapabilityUnavailable).after_s(RETRY_SOON_S),
            BlobError::Interrupted => refused(
                ErrorCode::ValidationFailed,
                "The file did not arrive whole. Nothing was stored; send it again.",
            ),
            BlobError::TooSlow => refused(
                ErrorCode::ValidationFailed,
                "The file did not arrive in the time that the operator allows for a body (`request_body_time_ms`). Nothing was stored; send it again, or a smaller file.",
            ),
            BlobError::Empty => refused(
                ErrorCode::ValidationFailed,
                "The file is empty. Send its bytes as the body.",
            ),
            BlobError::Folder(error) => {
                tracing::error!(%error, "a file cannot be stored or read");
                let message = "The storage of files is full or unavailable. Nothing was stored; try again later.";
                refused(ErrorCode::DependencyUnavailable, message).after_s(RETRY_SOON_S)
            }
            BlobError::State(error) => error.into(),
        }
    }
}
