//! Reads an accelerator's public directory: its companies, and the founders it lists as public figures.

use crate::{
    entries::{self, Refused, nullable},
    record::{Link, LinkKind, RoleKind},
    text::{description, line, link, some_line},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use url::Url;

/// A company as the directory lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub slug: String,
    pub name: String,
    pub website: Option<String>,
    pub batch: Option<String>,
    pub one_liner: String,
    pub url: String,
    pub tags: Vec<String>,
    pub founders: Vec<Founder>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Founder {
    pub full_name: String,
    pub title: String,
    pub role_kind: RoleKind,
    pub public_bio: String,
    pub links: Vec<Link>,
}

/// One answer of a directory.
#[derive(Debug, Default)]
pub struct Page {
    pub listed: Vec<Listed>,
    pub refused: Vec<Refused>,
    /// The URL of the next page, as the directory gives it.
    pub next: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(borrow)]
    companies: Option<Vec<&'a RawValue>>,
    #[serde(alias = "next_page")]
    next_page: Option<String>,
}

/// The fields of an entry that are used. The directory has others, also contact data.
#[derive(Deserialize)]
struct Company {
    name: String,
    slug: String,
    website: Option<String>,
    #[serde(alias = "oneLiner")]
    one_liner: Option<String>,
    batch: Option<String>,
    url: String,
    #[serde(default, deserialize_with = "nullable")]
    tags: Vec<String>,
    #[serde(default, deserialize_with = "nullable")]
    founders: Vec<RawFounder>,
}

#[derive(Deserialize)]
struct RawFounder {
    #[serde(alias = "fullName", alias = "name")]
    full_name: String,
    title: Option<String>,
    #[serde(alias = "founderBio")]
    founder_bio: Option<String>,
    #[serde(alias = "websiteUrl")]
    website_url: Option<String>,
    #[serde(alias = "linkedinUrl")]
    linkedin_url: Option<String>,
    #[serde(alias = "twitterUrl", alias = "x_url", alias = "xUrl")]
    twitter_url: Option<String>,
    #[serde(alias = "githubUrl")]
    github_url: Option<String>,
}

/// How many tags and founders of a company are kept.
const MOST_TAGS: usize = 20;
const MOST_FOUNDERS: usize = 30;
/// Parts of titles, the more specific first.
const ROLES: [(&str, RoleKind); 7] = [
    ("cto", RoleKind::Cto),
    ("chief technology", RoleKind::Cto),
    ("ceo", RoleKind::Ceo),
    ("chief executive", RoleKind::Ceo),
    ("partner", RoleKind::Partner),
    ("founder", RoleKind::Founder),
    ("", RoleKind::Operator),
];

/// The domains of each kind of profile; a link to another domain is left out.
const HOSTS: [(LinkKind, &[&str]); 3] = [
    (LinkKind::Linkedin, &["linkedin.com", "linkedin.example"]),
    (LinkKind::X, &["x.com", "twitter.com", "x.example"]),
    (LinkKind::Github, &["github.com", "github.example"]),
];

/// Reads one answer: an object with `companies`, a list of companies, or one company with its founders.
pub fn read(bytes: &[u8]) -> Result<Page, String> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let malformed = |error: serde_json::Error| error.to_string();
    let mut document = match first {
        Some(b'[') => Document {
            companies: serde_json::from_slice(bytes).map_err(malformed)?,
            next_page: None,
        },
        _ => serde_json::from_slice::<Document<'_>>(bytes).map_err(malformed)?,
    };
    let companies = match document.companies.take() {
        Some(companies) => companies,
        None if serde_json::from_slice::<Company>(bytes).is_ok() => {
            vec![serde_json::from_slice(bytes).map_err(malformed)?]
        }
        None => return Err("there are no companies in it".to_owned()),
    };
    let read = |company| listed(company).map(Some).ok_or("it has no page");
    let (listed, refused) = entries::each(companies, ("company", &entries::BY_SLUG), read);
    Ok(Page { listed, refused, next: document.next_page.filter(|next| !next.is_empty()) })
}

fn listed(company: Company) -> Option<Listed> {
    Some(Listed {
        slug: company.slug,
        name: some_line(Some(&company.name), 120)?,
        website: company.website.as_deref().and_then(link),
        batch: some_line(company.batch.as_deref(), 40),
        one_liner: line(company.one_liner.as_deref().unwrap_or_default(), 200),
        url: link(&company.url)?,
        tags: company
            .tags
            .iter()
            .take(MOST_TAGS)
            .filter_map(|tag| some_line(Some(tag), 60))
            .collect(),
        founders: company.founders.into_iter().take(MOST_FOUNDERS).filter_map(founder).collect(),
    })
}

fn founder(raw: RawFounder) -> Option<Founder> {
    let title = line(raw.title.as_deref().unwrap_or("Founder"), 120);
    let lower = title.to_lowercase();
    let (_, role_kind) = ROLES.iter().find(|(part, _)| lower.contains(part))?;
    let profiles = [
        (LinkKind::Linkedin, raw.linkedin_url),
        (LinkKind::X, raw.twitter_url),
        (LinkKind::Github, raw.github_url),
    ];
    let profiles = profiles.into_iter().filter_map(|(kind, url)| {
        let url = link(&url?)?;
        has_expected_host(kind, &url).then_some(Link { kind, url })
    });
    let website = raw.website_url.as_deref().and_then(link);
    let website = website.map(|url| Link { kind: LinkKind::Website, url });
    Some(Founder {
        full_name: some_line(Some(&raw.full_name), 120)?,
        title,
        role_kind: *role_kind,
        public_bio: line(
            &description(raw.founder_bio.as_deref().unwrap_or_default(), 600).text,
            600,
        ),
        links: website.into_iter().chain(profiles).collect(),
    })
}

fn has_expected_host(kind: LinkKind, url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let is_host_of = |domain: &&str| {
        host == *domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    };
    HOSTS.iter().any(|(of, domains)| *of == kind && domains.iter().any(is_host_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn founders_are_read_without_anything_to_reach_them_by() {
        let document = br#"{"companies":[{"id":7,"name":"Copperleaf Robotics","slug":"copperleaf","website":"https://copperleaf.example",
          "all_locations":"San Francisco, CA, USA","one_liner":"Robots for orchards","team_size":12,"batch":"Winter 2025","isHiring":true,
          "url":"https://directory.harbour.example/companies/copperleaf","small_logo_thumb_url":"",
          "founders":[{"full_name":"Ada Quill","title":"Co-founder & CTO","email":"ada@copperleaf.example","phone":"+14155550142",
            "founder_bio":"Built arms. Write to ada@copperleaf.example or +1 415 555 0142.",
            "linkedin_url":"https://evil.example/ada","twitter_url":"https://x.com/adaquill","photo_url":"https://cdn.example/a.jpg"}]},
          {"name":"No page","slug":"no-page","url":"mailto:x@y.example"}],
          "nextPage":"https://directory.harbour.example/companies?page=2","page":1,"totalPages":2}"#;
        let page = read(document).unwrap();
        assert_eq!((page.listed.len(), page.refused.len()), (1, 1));
        let founder = &page.listed[0].founders[0];
        assert_eq!(founder.role_kind, RoleKind::Cto);
        assert_eq!(founder.public_bio, "Built arms. Write to [removed] or [removed].");
        let links: Vec<_> = founder.links.iter().map(|link| link.kind).collect();
        assert_eq!(links, [LinkKind::X]);
        assert!(page.next.is_some());
    }

    #[test]
    fn lists_are_bounded_and_an_entry_is_known_by_its_slug() {
        let tags = vec!["\"a\""; 1_000].join(",");
        let founders = vec![r#"{"full_name":"Ada Quill"}"#; 1_000].join(",");
        let text = format!(
            r#"[{{"id":7,"slug":"copperleaf","name":"Copperleaf","url":"https://a.example/c","tags":[{tags}],"founders":[{founders}]}},
                {{"id":8,"slug":"harbour","name":"Harbour","url":null}}]"#
        );
        let page = read(text.as_bytes()).unwrap();
        assert_eq!((page.listed[0].tags.len(), page.listed[0].founders.len()), (20, 30));
        assert_eq!(page.refused[0].id.as_deref(), Some("harbour"));
    }
}
