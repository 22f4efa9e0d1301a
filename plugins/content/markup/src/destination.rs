//! The destinations that links and images may have.

use ammonia::Url;

const LONGEST: usize = 1024;

const LINK_SCHEMES: &[&str] = &["http", "https", "mailto"];

/// Returns the address that a browser would request for a link, or why it is refused.
///
/// The address is parsed as a browser parses it, and written again. This removes every disguise:
/// control characters, entities, backslashes, look-alike hosts (they become punycode).
pub(crate) fn of_link(raw: &str) -> Result<String, String> {
    let url = parse(raw)?;
    let host = url.host_str().unwrap_or_default();
    if !LINK_SCHEMES.contains(&url.scheme()) {
        return Err(url.scheme().into());
    }
    if url.scheme() == "mailto" && !url.path().contains('@') {
        return Err("invalid".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        // The part before the @ can be mistaken for the host.
        return Err("credentials".into());
    }
    if host.starts_with('[') {
        return Err("ip_literal".into());
    }
    write(&url)
}

/// Returns the address that a browser would request for an image, or why it is refused: only https
/// is allowed.
pub(crate) fn of_image(raw: &str) -> Result<String, String> {
    match parse(raw)?.scheme() {
        "https" => of_link(raw),
        other => Err(other.into()),
    }
}

fn parse(raw: &str) -> Result<Url, String> {
    if raw.len() > LONGEST {
        return Err("too_long".into());
    }
    Url::parse(raw).map_err(|_| {
        let relative =
            raw.is_empty() || !raw.contains(':') || raw.starts_with(['/', '#', '?', '.']);
        if relative { "relative".into() } else { "invalid".into() }
    })
}

fn write(url: &Url) -> Result<String, String> {
    let mut address = String::with_capacity(url.as_str().len());
    for character in url.as_str().chars() {
        match character {
            // The URL standard allows them, but HTML writers percent-encode them.
            '[' | ']' | '\\' | '^' | '`' | '{' | '|' | '}' | ' ' => {
                address.push_str(&format!("%{:X}", u32::from(character)));
            }
            other => address.push(other),
        }
    }
    if address.len() > LONGEST { Err("too_long".into()) } else { Ok(address) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_comes_out_as_a_browser_reads_it() {
        for (raw, expected) in [
            ("https://example.org", "https://example.org/"),
            ("HTTPS:\\\\Example.ORG\\a b", "https://example.org/a%20b"),
            ("ht\ntps://example.org/", "https://example.org/"),
            ("https://\u{430}pple.com/", "https://xn--pple-43d.com/"),
            ("https://example.org/\u{202e}gpj", "https://example.org/%E2%80%AEgpj"),
            ("mailto:ada@example.org", "mailto:ada@example.org"),
        ] {
            assert_eq!(of_link(raw).unwrap(), expected);
        }
    }

    #[test]
    fn a_refusal_says_why() {
        for (raw, reason) in [
            ("javascript:alert(1)", "javascript"),
            (" java\tscript:alert(1)", "javascript"),
            ("data:text/html,x", "data"),
            ("//example.org", "relative"),
            ("page", "relative"),
            ("", "relative"),
            ("http://", "invalid"),
            ("mailto:", "invalid"),
            ("https://bank.example@evil.example/", "credentials"),
            ("http://[::1]/", "ip_literal"),
        ] {
            assert_eq!(of_link(raw).unwrap_err(), reason, "{raw}");
        }
        let long = format!("https://example.org/{}", "é".repeat(1000));
        assert_eq!(of_link(&long).unwrap_err(), "too_long");
    }

    #[test]
    fn images_come_over_https() {
        assert!(of_image("https://example.org/a.png").is_ok());
        assert_eq!(of_image("http://example.org/a.png").unwrap_err(), "http");
        assert_eq!(of_image("data:image/png;base64,AA").unwrap_err(), "data");
    }

    #[test]
    fn writing_twice_changes_nothing() {
        for raw in ["https://e.example/a[b]{c}|d^e`f?q=[x]#[y]", "mailto:a b@e.example?subject=[x]"]
        {
            let once = of_link(raw).unwrap();
            assert_eq!(of_link(&once).unwrap(), once);
        }
    }
}
