//! Addresses of evidence: which are valid, and which are the same.

use people_kit::is_host_name;

/// The maximum number of characters of an address. Its key has to fit into an index.
pub(crate) const LONGEST: usize = 480;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) url: String,
    /// A key that is equal for all spellings of the address.
    pub(crate) key: String,
    pub(crate) host: String,
}

/// Parses an https address with a host name, without a user, without a port, in ASCII; returns
/// `None` otherwise.
pub(crate) fn address(text: &str) -> Option<Address> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let after = rest.get(authority.len()..)?;
    let host = authority.to_ascii_lowercase();
    let hides_a_user = text.contains(['@', '\\']) || text.to_ascii_lowercase().contains("%40");
    let fits = scheme.eq_ignore_ascii_case("https")
        && text.len() <= LONGEST
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && !hides_a_user
        && is_host_name(&host);
    let page = after.split('#').next().unwrap_or_default().trim_end_matches('/');
    let site = host.strip_prefix("www.").filter(|site| site.contains('.')).unwrap_or(&host);
    let key = format!("{site}{page}");
    fits.then(|| Address { url: format!("https://{host}{after}"), key, host })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Option<String> {
        address(text).map(|address| address.key)
    }

    #[test]
    fn one_page_has_one_key_however_it_is_written() {
        let page = key("https://press.example/2026/copperleaf?page=2");
        assert_eq!(page.as_deref(), Some("press.example/2026/copperleaf?page=2"));
        for same in [
            " https://www.press.example/2026/copperleaf?page=2",
            "HTTPS://Press.Example/2026/copperleaf?page=2#top",
        ] {
            assert_eq!(key(same), page, "{same}");
        }
        assert_eq!(key("https://press.example/"), key("https://press.example"));
        assert_ne!(key("https://press.example/A"), key("https://press.example/a"));
        let shown = address("HTTPS://Press.Example/A#b").map(|address| (address.url, address.host));
        let told = ("https://press.example/A#b".to_owned(), "press.example".to_owned());
        assert_eq!(shown, Some(told));
    }

    #[test]
    fn only_public_pages_are_evidence() {
        for text in [
            "http://press.example/a",
            "ftp://press.example/a",
            "javascript:alert(1)",
            "//press.example/a",
            "https://ada@press.example/a",
            "https://ada:secret@press.example/a",
            "https://press.example/a%40b.example",
            "https://press.example\\@evil.example/",
            "https://press.example:8443/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://press.example/a b",
            "https://pr\u{e9}ss.example/",
            "https://",
            "",
        ] {
            assert_eq!(address(text), None, "{text}");
        }
        let long = format!("https://press.example/{}", "a".repeat(LONGEST));
        assert_eq!(address(&long), None);
    }
}
