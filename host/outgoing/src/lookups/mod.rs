//! What the public says of itself, for components that ask: texts of the DNS, and pages.

mod names;
mod pages;
mod settings;

pub use settings::LookupSettings;

use crate::OutgoingError;
use ipnet::IpNet;
use names::Names;
use pages::Pages;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// For one question, all servers and redirects included.
const PATIENCE: Duration = Duration::from_secs(5);
/// What one answer may hold.
pub const MOST_BYTES: usize = 64 << 10;

/// What a component wants to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// The texts of this name.
    Txt(String),
    /// What stands on this page.
    Page(String),
}

/// Why there is no answer, in words that callers may read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("The DNS does not answer.")]
    NoDns,
    #[error("The DNS has no answer for this name now.")]
    Refused,
    #[error("The texts of this name are more than {MOST_BYTES} bytes.")]
    TextsTooLarge,
    #[error("The server cannot be reached over TLS, or takes too long.")]
    Away,
    #[error("The address of this server is not a public one.")]
    NotPublic,
    #[error("The server answers with the status {0}.")]
    Status(u16),
    #[error("The page leads to another host.")]
    Elsewhere,
    #[error("The page is neither plain text nor HTML nor JSON.")]
    NotText,
    #[error("The page has more than {MOST_BYTES} bytes.")]
    PageTooLarge,
}

impl LookupError {
    /// Whether the same question may be answered later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::NoDns | Self::Refused | Self::Away => true,
            Self::Status(status) => *status == 429 || *status >= 500,
            Self::TextsTooLarge
            | Self::NotPublic
            | Self::Elsewhere
            | Self::NotText
            | Self::PageTooLarge => false,
        }
    }
}

impl From<OutgoingError> for LookupError {
    fn from(error: OutgoingError) -> Self {
        match error {
            OutgoingError::Refused(_) => Self::NotPublic,
            OutgoingError::Away | OutgoingError::NotJson => Self::Away,
            OutgoingError::Status(status) => Self::Status(status),
            OutgoingError::TooLarge => Self::PageTooLarge,
        }
    }
}

/// What answers questions.
#[derive(Debug)]
pub struct Lookups {
    names: Arc<Names>,
    pages: Pages,
}

impl Lookups {
    /// `allowed` are ranges of addresses where pages are read although they are not public.
    pub fn new(settings: &LookupSettings, allowed: &[IpNet]) -> Result<Self, reqwest::Error> {
        let names = Arc::new(Names::new(&settings.servers()));
        let pages = Pages::new(Arc::clone(&names), settings.https_port, allowed)?;
        Ok(Self { names, pages })
    }

    pub async fn answer(&self, question: &Question) -> Result<Vec<String>, LookupError> {
        match question {
            Question::Txt(name) => {
                let texts = tokio::time::timeout(PATIENCE, self.names.texts(name)).await;
                texts.unwrap_or(Err(LookupError::NoDns))
            }
            Question::Page(url) => Ok(vec![self.pages.read(url).await?]),
        }
    }
}

/// Whether this is the name of a host, and not the address of a machine.
pub fn is_host_name(name: &str) -> bool {
    let top = name.rsplit('.').next().unwrap_or_default();
    name.len() <= 253
        && name.contains('.')
        && top.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&label.len()) && label.bytes().all(inside)
}

/// Whether this is the address of a page that may be asked for.
pub fn is_page(address: &str) -> bool {
    let Ok(url) = url::Url::parse(address) else { return false };
    url.scheme() == "https"
        && url.host_str().is_some_and(is_host_name)
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hosts() {
        for name in ["copperleaf.example", "_portolan-challenge.a-b.co.uk", "xn--p1ai.xn--p1ai"] {
            assert!(is_host_name(name), "{name}");
        }
        let long = format!("{}.example", "a".repeat(64));
        for name in
            ["", "localhost", "127.0.0.1", "a..example", ".example", "a b.example", "a.1", &long]
        {
            assert!(!is_host_name(name), "{name}");
        }
    }

    #[test]
    fn pages_are_on_https_and_on_hosts_with_names() {
        assert!(is_page("https://copperleaf.example/.well-known/portolan-verification.txt"));
        for address in [
            "http://copperleaf.example/",
            "https://copperleaf.example:8443/",
            "https://ada@copperleaf.example/",
            "https://copperleaf.example/#top",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://[::1]/",
            "https://localhost/",
            "copperleaf.example",
        ] {
            assert!(!is_page(address), "{address}");
        }
    }
}
