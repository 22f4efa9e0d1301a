//! Tests that every page has to pass.
use super::*;
use std::collections::BTreeSet;

/// The published text of every page. Agents keep a page until its version changes, so a changed
/// text needs a new version: raise it in the page's front matter, set `updated_at` there, and write
/// the new version and entity tag here.
const PUBLISHED: &[(&str, u32, &str)] = &[
    ("about", 2, "13164e6f21cf8855"),
    ("getting-started", 1, "5082fc8f654121ba"),
    ("claiming", 3, "efb5893279e105b0"),
    ("searching", 6, "f4481413317a5308"),
    ("publishing-a-listing", 6, "7a6b438a143425fa"),
    ("matching", 4, "6ee768a9f1f3a820"),
    ("proposing-and-replying", 6, "f1f103405c62e28d"),
    ("meetings-and-calendar", 7, "cfeb27a2257bc7f3"),
    ("credits", 5, "ea1ef3ff099ce770"),
    ("events-and-webhooks", 6, "164898d3342dbc64"),
    ("privacy", 7, "6f11dcd407685ebf"),
    ("safety-and-fairness", 8, "674cc985a9119eb9"),
];

#[test]
fn a_changed_text_has_a_new_version() {
    let current: Vec<_> = PAGES.iter().map(|page| (page.slug, page.version, page.etag)).collect();
    assert_eq!(current, PUBLISHED);
}

#[test]
fn english_of_any_region_is_english() {
    for served in ["en", "EN-us", "en_GB"] {
        assert!(serves(served), "{served}");
    }
    for other in ["eng", "de", ""] {
        assert!(!serves(other), "{other}");
    }
}

#[test]
fn a_page_is_found_by_its_slug() {
    for page in PAGES {
        assert_eq!(find(page.slug).unwrap().title, page.title);
    }
    assert_eq!(find(" About ").unwrap().slug, "about");
}

#[test]
fn the_refusal_of_an_unknown_slug_names_the_known_ones() {
    let refusal = Refusal::from(find("abuot").unwrap_err());
    assert_eq!(refusal.code, "content_not_found");
    let conflict = refusal.conflict.unwrap();
    assert_eq!(conflict["kind"], "not_found");
    let slugs: Vec<_> = PAGES.iter().map(|page| page.slug).collect();
    assert_eq!(conflict["known"], json!(slugs));
    let next = portolan_sdk::to_value(&refusal.next.unwrap());
    assert_eq!(next, json!({"capability": "content_get", "input": {"action": "list"}}));
}

#[test]
fn slugs_are_plain_and_every_page_says_what_it_is() {
    let slugs: BTreeSet<_> = PAGES.iter().map(|page| page.slug).collect();
    assert_eq!(slugs.len(), PAGES.len());
    for page in PAGES {
        assert!(page.slug.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", page.slug);
        assert!(page.title.len() <= 60 && page.summary.len() <= 160, "{}", page.slug);
        assert!(page.summary.ends_with('.') && page.locale == LOCALE && page.version > 0);
        let updated_at = page.updated_at;
        assert!(updated_at.len() == 24 && updated_at.ends_with(".000Z"), "{updated_at}");
    }
}

#[test]
fn pages_have_a_readable_length_and_sections() {
    for page in PAGES {
        assert!((250..=700).contains(&page.words), "{}: {} words", page.slug, page.words);
        assert!(page.toc.len() >= 2, "{}", page.slug);
        for heading in page.toc {
            assert!((2..=3).contains(&heading.level), "{}: {}", page.slug, heading.text);
            let start = format!("<h{} id=\"{}\">", heading.level, heading.anchor);
            assert!(page.html.contains(&start), "{}: {start}", page.slug);
        }
        for link in page.links {
            assert!(page.html.contains(link.url) && page.text.contains(link.text), "{}", page.slug);
        }
    }
}

/// Returns what follows each marker, up to the character `end`.
fn marked(text: &str, marker: &str, end: char) -> Vec<String> {
    let after = text.split(marker).skip(1);
    after.map(|text| text.split(end).next().unwrap().to_owned()).collect()
}

/// References are written as: the page `slug`.
#[test]
fn pages_refer_to_pages_that_exist() {
    let mut references = 0;
    for page in PAGES {
        for slug in marked(&page.markdown.replace('\n', " "), "page `", '`') {
            assert!(find(&slug).is_ok(), "{} refers to {slug}", page.slug);
            references += 1;
        }
    }
    assert!(references >= PAGES.len());
}

#[test]
fn examples_in_json_are_json() {
    let mut examples = 0;
    for page in PAGES {
        for example in marked(page.markdown, "```json\n", '`') {
            let parsed = serde_json::from_str::<Value>(&example);
            assert!(parsed.is_ok(), "{}: {example}", page.slug);
            examples += 1;
        }
    }
    assert!(examples >= PAGES.len() / 2);
}

/// A code span that looks like a capability with an action names an existing capability.
#[test]
fn capabilities_are_called_by_their_names() {
    let known: BTreeSet<_> = CAPABILITIES.split_whitespace().collect();
    for page in PAGES {
        for id in marked(page.markdown, "\"capability\": \"", '"') {
            assert!(known.contains(id.as_str()), "{}: {id}", page.slug);
        }
        for id in marked(page.markdown, "/v1/capabilities/", '/') {
            assert!(id == "{id}" || known.contains(id.as_str()), "{}: {id}", page.slug);
        }
        let prose = page.markdown.split("```").step_by(2).collect::<String>();
        for span in prose.split('`').skip(1).step_by(2) {
            let Some((id, action)) = span.split_once(' ') else { continue };
            let verb = action.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            if verb && id.bytes().all(|b| b.is_ascii_lowercase() || b"_.-".contains(&b)) {
                assert!(known.contains(id), "{}: {span}", page.slug);
            }
        }
    }
}

const CAPABILITIES: &str = "\
    agent_credits agent_listings applications approvals availability_finder calendar content_get \
    content_render conversations data_rights faq_get faq_search handoff_resolve intros \
    listing_taxonomy map_search matching_sessions media owner_verification owners pairings \
    references reports saved_searches signal_verification social_org social_permissions \
    social_relationships svc.events svc.phone-binding svc.status svc.webhooks svc.whoami \
    thread_meetings";

/// The list has every shipped capability: those whose ids no other publisher can take, and the `svc.` ones.
#[test]
fn the_list_of_capabilities_is_complete() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shipped.toml");
    let shipped = std::fs::read_to_string(path).unwrap();
    let (_, list) = shipped.split_once("reserved_ids = [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    let reserved: Vec<_> = list.split('"').skip(1).step_by(2).collect();
    let known = CAPABILITIES.split_whitespace().filter(|id| !id.starts_with("svc."));
    assert_eq!(known.collect::<Vec<_>>(), reserved);
}
