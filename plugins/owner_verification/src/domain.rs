//! The registrable domain of a record. It is never taken from the caller.

use people_kit::is_host_name;

/// Returns the registrable domain of a website; `None` if its address has no host name.
pub(crate) fn of_website(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_web = ["https", "http"].iter().any(|found| scheme.eq_ignore_ascii_case(found));
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.split(':').next()?;
    (is_web && !authority.contains('@')).then(|| registered(host)).flatten()
}

/// Returns the registrable domain of a host name: `copperleaf.example` of `www.copperleaf.example`;
/// `None` for public suffixes, and for what is not a host name.
pub(crate) fn registered(host: &str) -> Option<String> {
    let host = host.to_ascii_lowercase();
    // With `_portolan-challenge.` before it, the host name must still be a valid DNS name.
    let fits = host.len() <= 200 && is_host_name(&host);
    fits.then(|| psl::domain_str(&host).map(str::to_owned)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_website_has_the_domain_that_is_registered() {
        for (website, domain) in [
            ("https://copperleaf.example", "copperleaf.example"),
            ("http://www.copperleaf.example/about?x=y#z", "copperleaf.example"),
            ("HTTPS://Jobs.Copperleaf.Example:8443/", "copperleaf.example"),
            ("https://www.copperleaf.co.uk/", "copperleaf.co.uk"),
            ("https://copperleaf.github.io/site", "copperleaf.github.io"),
        ] {
            assert_eq!(of_website(website).as_deref(), Some(domain), "{website}");
        }
    }

    #[test]
    fn public_suffixes_are_no_domains() {
        for website in [
            "https://co.uk/",
            "https://github.io",
            "https://localhost/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://evil.example@copperleaf.example/",
            "https://copperleaf.example\\@evil.example/",
            "ftp://copperleaf.example/",
            "copperleaf.example",
            "https://",
            "",
        ] {
            let domain = of_website(website);
            let is_first = domain.as_deref() == Some("copperleaf.example");
            assert!(domain.is_none() || (is_first && website.contains('\\')), "{website}");
        }
        assert_eq!(registered("copperleaf.example").as_deref(), Some("copperleaf.example"));
        assert_eq!(registered("com"), None);
    }
}
