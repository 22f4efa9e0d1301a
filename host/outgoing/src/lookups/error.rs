//! The reasons why a look-up fails.

use crate::OutgoingError;

/// The maximum number of bytes of an answer.
pub const MAX_ANSWER_BYTES: usize = 64 << 10;

/// The maximum number of bytes of a file: as many as the body of a call has by default.
pub const MAX_FILE_BYTES: usize = 256 << 10;

/// The maximum number of bytes of the address of a file. It has the file's secret, which some servers make long.
pub(super) const FILE_ADDRESS_BYTES: usize = 2048;

/// The reason why a look-up failed. Callers may read the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("The DNS resolver does not answer.")]
    ResolverUnavailable,
    #[error("The DNS cannot resolve this name now.")]
    Refused,
    #[error("The TXT records of this name have more than {MAX_ANSWER_BYTES} bytes.")]
    RecordsTooLarge,
    #[error("The server cannot be reached over TLS, or does not answer in time.")]
    Unreachable,
    #[error("The server's address is not public.")]
    NotPublic,
    #[error("The server answers with the status {0}.")]
    Status(u16),
    #[error("The page redirects to another host.")]
    OtherHost,
    #[error("The page is neither plain text nor HTML nor JSON.")]
    NotText,
    #[error("The page has more than {MAX_ANSWER_BYTES} bytes.")]
    PageTooLarge,
    #[error(
        "The server redirects to an address that is not the https address of a public host, or has more than \
         {FILE_ADDRESS_BYTES} bytes."
    )]
    BadRedirect,
    #[error("The server redirects too often.")]
    TooManyRedirects,
    #[error("The server answers with a file of another type.")]
    OtherType,
    #[error("The file has more than {MAX_FILE_BYTES} bytes.")]
    FileTooLarge,
    #[error("The address cannot be opened, because a key of this host is missing.")]
    KeyMissing,
}

impl LookupError {
    /// Returns whether a later attempt at the same look-up may succeed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::ResolverUnavailable | Self::Refused | Self::Unreachable => true,
            Self::Status(status) => *status == 429 || *status >= 500,
            Self::RecordsTooLarge
            | Self::NotPublic
            | Self::OtherHost
            | Self::NotText
            | Self::PageTooLarge
            | Self::BadRedirect
            | Self::TooManyRedirects
            | Self::OtherType
            | Self::FileTooLarge
            | Self::KeyMissing => false,
        }
    }
}

impl From<OutgoingError> for LookupError {
    fn from(error: OutgoingError) -> Self {
        match error {
            OutgoingError::Refused(_) | OutgoingError::OperatorPort => Self::NotPublic,
            OutgoingError::Unreachable | OutgoingError::NotJson => Self::Unreachable,
            OutgoingError::Status(status) => Self::Status(status),
            OutgoingError::TooLarge => Self::PageTooLarge,
        }
    }
}
