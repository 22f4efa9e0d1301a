//! The publisher of a component.

use crate::hexadecimal::from_hex;
use std::{fmt, str::FromStr};

/// The publisher of a component. A capability's id belongs to a publisher, with its collections, secrets and
/// grants.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Publisher {
    /// The publisher of this host: it signed the component with the key whose public part was built into
    /// the binary.
    Host,
    /// The holder of the Ed25519 key with this public part.
    Key([u8; 32]),
    /// Unknown: the component is not signed. The text is its file's name without `.wasm`.
    Unsigned(String),
}

impl Publisher {
    /// Returns whether the publisher proves itself with a key.
    pub const fn is_key(&self) -> bool {
        matches!(self, Self::Host | Self::Key(_))
    }
}

impl fmt::Display for Publisher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => formatter.write_str("host"),
            Self::Key(key) => {
                formatter.write_str("ed25519:")?;
                key.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
            }
            Self::Unsigned(file) => write!(formatter, "unsigned:{file}"),
        }
    }
}

/// The error for a text that is not the written form of a publisher.
#[derive(Debug, thiserror::Error)]
#[error("a publisher is written as host, ed25519:<64 hexadecimal digits> or unsigned:<file>")]
pub struct NotAPublisher;

impl FromStr for Publisher {
    type Err = NotAPublisher;

    fn from_str(text: &str) -> Result<Self, NotAPublisher> {
        match text.split_once(':') {
            None if text == "host" => Ok(Self::Host),
            Some(("ed25519", digits)) => key(digits).map(Self::Key).ok_or(NotAPublisher),
            Some(("unsigned", file)) => Ok(Self::Unsigned(file.to_owned())),
            _ => Err(NotAPublisher),
        }
    }
}

/// Parses a public key of 64 hexadecimal digits. Returns `None` for any other text.
fn key(digits: &str) -> Option<[u8; 32]> {
    from_hex(digits)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_is_read_as_it_is_written() {
        for publisher in
            [Publisher::Host, Publisher::Key([0xa7; 32]), Publisher::Unsigned("a:b".into())]
        {
            assert_eq!(publisher.to_string().parse::<Publisher>().ok(), Some(publisher));
        }
        for text in [
            "",
            "hosts",
            "ed25519:",
            "ed25519:+1",
            "key:00",
            &format!("ed25519:{}", "é".repeat(32)),
        ] {
            assert!(text.parse::<Publisher>().is_err(), "{text}");
        }
    }
}
