//! Why there is no answer.

use portolan_reach::Refused;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the server does not answer")]
    Away,
    #[error("the answer takes too long")]
    TooSlow,
    #[error("the server answers {0}")]
    Status(u16),
    #[error("the server asks to wait for {0} seconds")]
    Later(u64),
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    #[error("its answers have more than {0} bytes in all")]
    TooMuch(usize),
    #[error("its answers take more than {0} seconds in all")]
    TooLong(u64),
    #[error("the answer is not compressed as it says")]
    Compression,
    #[error("the server leads elsewhere, to {0}")]
    Elsewhere(String),
    #[error("the host failed too often and is not asked again in this build")]
    GivenUp,
    #[error("it is on this machine, which is read with `portolan feeds build --allow-local` only")]
    Local,
    #[error("the file cannot be read: {0}")]
    File(String),
    #[error(
        "robots.txt of {0} does not allow it; set ignore_robots = true for this source if the host's \
         operator permits it otherwise"
    )]
    Robots(String),
    #[error(
        "robots.txt of {0} answers {1}, so nothing is allowed; set ignore_robots = true for this \
         source if the host's operator permits it otherwise"
    )]
    NoRobots(String, u16),
}

impl FetchError {
    /// Returns whether another attempt may succeed.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Away | Self::TooSlow | Self::Later(_) => true,
            Self::Status(status) => matches!(status, 408 | 425 | 429 | 500..=599),
            Self::Refused(_)
            | Self::TooLarge(_)
            | Self::TooMuch(_)
            | Self::TooLong(_)
            | Self::Compression
            | Self::Elsewhere(_)
            | Self::GivenUp
            | Self::Local
            | Self::File(_)
            | Self::Robots(_)
            | Self::NoRobots(..) => false,
        }
    }
}
