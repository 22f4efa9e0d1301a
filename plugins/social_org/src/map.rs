//! The part of the map that is read: the domain of a target's website.

use crate::refusal::Result;
use portolan_sdk::{feeds::Feed, prelude::*};

const ON_THE_MAP: Feed<Target> = Feed::new("targets");

#[derive(Deserialize)]
struct Target {
    properties: Properties,
}

#[derive(Deserialize)]
struct Properties {
    #[serde(default)]
    website: Option<String>,
}

/// Returns whether the website of a target is under this domain. Refuses if there is no such
/// target.
pub(crate) fn has_domain(target_id: &str, domain: Option<&str>) -> Result<bool> {
    let target = ON_THE_MAP.get(target_id)?;
    let target =
        target.ok_or_else(|| Refusal::common(ErrorCode::NotFound, "There is no such target."))?;
    let website = target.value.properties.website;
    Ok(website.zip(domain).is_some_and(|(website, domain)| is_under(&website, domain)))
}

fn is_under(website: &str, domain: &str) -> bool {
    let rest = website.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let above = host.strip_suffix(domain);
    !authority.contains('@') && above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::is_under;

    #[test]
    fn a_website_is_under_its_domain_and_no_other() {
        for website in [
            "https://copperleaf.example",
            "https://www.Copperleaf.example/about",
            "http://jobs.copperleaf.example:8080?x",
        ] {
            assert!(is_under(website, "copperleaf.example"), "{website}");
        }
        for website in [
            "https://notcopperleaf.example/",
            "https://copperleaf.example.evil.example/",
            "https://evil.example/copperleaf.example",
            "https://evil.example\\.copperleaf.example/",
            "https://copperleaf.example@evil.example/",
            "copperleaf.example",
        ] {
            assert!(!is_under(website, "copperleaf.example"), "{website}");
        }
    }
}
