//! The look-ups that a component may request.

use serde::{Deserialize, Serialize};

/// A look-up that a component requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LookupRequest {
    /// The TXT records of this name.
    Txt(String),
    /// The content of the page at this address.
    Page(String),
}

/// Returns whether a text is the name of a host, and not an IP address.
pub fn is_host_name(name: &str) -> bool {
    let top_level = name.rsplit('.').next().unwrap_or_default();
    name.len() <= 253
        && name.contains('.')
        && top_level.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_label_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&label.len()) && label.bytes().all(is_label_byte)
}

/// Returns whether a text is the address of a page that may be requested.
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
    fn only_host_names_are_accepted() {
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
    fn only_https_pages_of_named_hosts_are_accepted() {
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
