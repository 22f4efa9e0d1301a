//! What a host's `robots.txt` allows (RFC 9309).

use percent_encoding::percent_decode_str;
use url::Url;

/// How many bytes of the file are read (RFC 9309, section 2.5, asks for at least 500 KiB).
pub(super) const MOST_BYTES: usize = 512 * 1024;
/// The name under which a file addresses this client.
pub(super) const PRODUCT: &str = "Portolan-feeds";
const MOST_RULES: usize = 10_000;
/// How many bytes of a pattern are compared.
const MOST_PATTERN: usize = 2_000;

/// What a host allows.
#[derive(Debug, Clone)]
pub(super) enum Robots {
    /// There is no file, or none that can be had.
    All,
    /// The host has answered with this status instead of saying what it allows, so nothing is.
    Unreachable(u16),
    Rules(Vec<Rule>),
}

/// One line of the group for this client.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    allows: bool,
    pattern: Vec<u8>,
}

/// Returns the address of the file for this URL.
pub(super) fn address(url: &Url) -> Option<Url> {
    url.join("/robots.txt").ok()
}

impl Robots {
    /// Reads a file: the groups that name this client, or else those for all.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (mut own, mut general) = (Vec::new(), Vec::new());
        let (mut is_own, mut is_general, mut is_named) = (false, false, false);
        // Whether the last line has named a client, so that the next one belongs to the same group.
        let mut in_names = false;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if !in_names {
                        (is_own, is_general) = (false, false);
                    }
                    is_own |= value.eq_ignore_ascii_case(PRODUCT);
                    is_general |= value == "*";
                    is_named |= is_own;
                    in_names = true;
                }
                "allow" | "disallow" => {
                    in_names = false;
                    let allows = key == "allow";
                    let rule = Rule { allows, pattern: normal(value) };
                    let is_empty = value.is_empty() || rule.pattern.len() > MOST_PATTERN;
                    for (applies, rules) in [(is_own, &mut own), (is_general, &mut general)] {
                        if applies && !is_empty && rules.len() < MOST_RULES {
                            rules.push(rule.clone());
                        }
                    }
                }
                // Other lines, such as those with the map of a site, belong to no group.
                _ => {}
            }
        }
        Self::Rules(if is_named { own } else { general })
    }

    /// Returns whether this URL may be fetched: the longest rule decides, and of two as long the one
    /// that allows it.
    pub(super) fn allow(&self, url: &Url) -> bool {
        let Self::Rules(rules) = self else { return matches!(self, Self::All) };
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let target = normal(&target);
        let matching = rules.iter().filter(|rule| matches(&rule.pattern, &target));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }
}

/// Returns a path in one form: what need not be encoded is not, all else is.
fn normal(path: &str) -> Vec<u8> {
    let mut form = Vec::with_capacity(path.len());
    let bytes = path.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let triplet = bytes.get(at..at + 3).filter(|part| {
            part.first() == Some(&b'%') && part.iter().skip(1).all(u8::is_ascii_hexdigit)
        });
        let decoded = triplet
            .and_then(|part| std::str::from_utf8(part).ok())
            .and_then(|part| percent_decode_str(part).next());
        at += if triplet.is_some() { 3 } else { 1 };
        match decoded.unwrap_or(*byte) {
            plain if plain.is_ascii_alphanumeric() || b"-._~".contains(&plain) => form.push(plain),
            other if decoded.is_some() || !other.is_ascii() => {
                form.extend(format!("%{other:02X}").bytes());
            }
            other => form.push(other),
        }
    }
    form
}

/// Returns whether a pattern matches the beginning of a path: `*` stands for anything, and `$` at the end
/// for the end of the path.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split(|byte| *byte == b'*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let parts: Vec<&[u8]> = parts.collect();
    let Some((last, inner)) = parts.split_last() else { return !is_whole || rest.is_empty() };
    for part in inner {
        match find(rest, part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    match is_whole {
        true => rest.ends_with(last),
        false => find(rest, last).is_some(),
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    match part.is_empty() {
        true => Some(0),
        false => text.windows(part.len()).position(|window| window == part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn allows(file: &str, path: &str) -> bool {
        let url: Url = format!("https://boards.example{path}").parse().unwrap();
        Robots::parse(file.as_bytes()).allow(&url)
    }

    #[test]
    fn the_longest_rule_of_the_own_group_decides() {
        let file = "\u{feff}# a file\nUser-agent: Other\nDisallow: /\n\nUser-Agent: *\nDisallow: /*.json$\nDisallow: /private # not\n\
            Allow: /private/jobs\nSitemap: https://boards.example/map.xml\nDisallow: /q?*sort=\nDisallow:\n";
        for (path, expected) in [
            ("/", true),
            ("/jobs", true),
            ("/jobs.json", false),
            ("/jobs.json?content=true", true),
            ("/private", false),
            ("/private/jobs/1", true),
            ("/q?a=1&sort=up", false),
            ("/q?a=1", true),
        ] {
            assert_eq!(allows(file, path), expected, "{path}");
        }
        let own =
            format!("{file}\nuser-agent: someone\nuser-agent: PORTOLAN-feeds\nDisallow: /jobs\n");
        assert!(!allows(&own, "/jobs/1"));
        assert!(allows(&own, "/private"));
        // Two rules as long: the one that allows.
        assert!(allows("User-agent: *\nDisallow: /a\nAllow: /a", "/a"));
        // A group that names the client and forbids nothing.
        assert!(allows("User-agent: portolan-feeds\nDisallow:\nUser-agent: *\nDisallow: /", "/a"));
    }

    #[test]
    fn encoded_paths_are_the_same_paths() {
        let file = "User-agent: *\nDisallow: /caf\u{e9}\nDisallow: /%7Ejo\nDisallow: /a%2fb";
        for (path, expected) in [
            ("/caf%C3%A9", false),
            ("/caf%c3%a9", false),
            ("/~jo", false),
            ("/a%2Fb", false),
            ("/a/b", true),
        ] {
            assert_eq!(allows(file, path), expected, "{path}");
        }
    }

    #[test]
    fn a_host_without_rules_allows_everything_and_one_that_fails_nothing() {
        let url = "https://boards.example/jobs".parse().unwrap();
        assert!(Robots::All.allow(&url));
        assert!(!Robots::Unreachable(503).allow(&url));
        assert!(allows("<html>not found</html>", "/jobs"));
    }

    proptest! {
        #[test]
        fn any_file_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..300), path in "/[a-z*$%?&=.~]{0,20}") {
            let url: Url = format!("https://boards.example{path}").parse().unwrap();
            let _allowed = Robots::parse(&bytes).allow(&url);
            let lines = format!("user-agent: *\ndisallow: {}", String::from_utf8_lossy(&bytes));
            let _allowed = Robots::parse(lines.as_bytes()).allow(&url);
        }
    }
}
