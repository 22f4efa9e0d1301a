//! The invented organisations and their founders, as a registry and a directory in two pages.

use super::{
    chance::Chance,
    words::{FAMILY, FIELDS, FIRST, GIVEN, NEIGHBOURHOODS, STARTUPS},
};
use crate::timestamp::{Timestamp, days};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// For each kind: the number of organisations, and the words with which their names end.
const KINDS: [(&str, usize, &[&str]); 8] = [
    ("startup", 130, &STARTUPS),
    ("fund", 20, &["Ventures", "Capital", "Partners"]),
    ("accelerator", 4, &["Accelerator", "Launchpad"]),
    ("university", 4, &["College", "Institute"]),
    ("coworking", 6, &["Desks", "Commons"]),
    ("service_provider", 8, &["Law", "Accounting", "Payroll"]),
    ("community", 5, &["Guild", "Circle"]),
    ("public_body", 3, &["Office", "Library"]),
];
const ASKS: [(&str, &str); 6] = [
    ("raising", "Raising to build the next version"),
    ("customers", "Looking for three customers who complain"),
    ("partners", "Looking for a partner with a workshop"),
    ("cofounder", "Looking for a second founder"),
    ("space", "Looking for a ground floor"),
    ("advice", "Looking for somebody who did this before"),
];
/// How many companies are in the directory: the first ones.
const LISTED: usize = 80;
const PAGE: usize = 40;

/// One invented organisation.
#[derive(Debug, Clone)]
pub(super) struct Organisation {
    pub(super) slug: String,
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) field: &'static str,
}

pub(super) fn organisations(seed: u64) -> Vec<Organisation> {
    let mut chance = Chance::new(seed, "organisations");
    let (mut all, mut names) = (Vec::new(), BTreeSet::new());
    for (kind, count, endings) in KINDS {
        let wanted = all.len() + count;
        while all.len() < wanted {
            let first = FIRST.get(all.len() % FIRST.len()).copied().unwrap_or_default();
            let at = usize::try_from(chance.below(12)).unwrap_or(0) % endings.len();
            let name = format!("{first} {}", endings.get(at).copied().unwrap_or_default());
            if !names.insert(name.clone()) {
                continue;
            }
            let slug = name.to_lowercase().replace(' ', "-");
            all.push(Organisation {
                slug,
                name,
                kind,
                field: FIELDS.get(at).copied().unwrap_or("services"),
            });
        }
    }
    all
}

impl Organisation {
    pub(super) fn website(&self) -> String {
        format!("https://{}.example/", self.slug)
    }
}

pub(super) fn registry(all: &[Organisation], seed: u64, now: Timestamp) -> Value {
    let mut chance = Chance::new(seed, "registry");
    let entries = all.iter().enumerate().map(|(position, organisation)| {
        let (neighbourhood, [west, south, east, north]) =
            NEIGHBOURHOODS.get(position % NEIGHBOURHOODS.len()).copied().unwrap_or(("City", [-122.42, 37.77, -122.41, 37.78]));
        let startup = organisation.kind == "startup";
        let (ask, text) = ASKS.get(position % ASKS.len()).copied().unwrap_or_default();
        let since = now.before(days(61 + chance.below(100)));
        let asks = if startup { json!([{ "type": ask, "text": text, "since": since }]) } else { json!([]) };
        let stage = chance.word(&["pre_seed", "seed", "series_a", "series_b"]);
        json!({
            "slug": organisation.slug,
            "name": organisation.name,
            "legal_name": startup.then(|| format!("{} Inc.", organisation.name)),
            "kind": organisation.kind,
            "tagline": format!("{}, made slowly", organisation.field),
            "description": format!("{} is an invented organisation in {neighbourhood}. It works on {}.", organisation.name, organisation.field),
            "industries": [organisation.field],
            "tags": [organisation.field, neighbourhood.to_lowercase()],
            "stage": startup.then_some(stage),
            "founded_year": 2012 + chance.below(13),
            "team_size_band": chance.word(&["1-10", "11-50", "51-200"]),
            "website": organisation.website(),
            "lat": chance.between(south, north),
            "lng": chance.between(west, east),
            "neighbourhood": neighbourhood,
            "asks": asks,
            "url": format!("https://register.map.example/{}", organisation.slug),
        })
    });
    json!({ "organisations": entries.collect::<Vec<_>>() })
}

/// Returns the two pages of the directory, with two founders for each company. They contain contact data,
/// as real directories do, which must not reach the feeds.
pub(super) fn directory(all: &[Organisation], seed: u64) -> [Value; 2] {
    let mut chance = Chance::new(seed, "directory");
    let mut people = 0usize;
    let mut companies = all.iter().take(LISTED).map(|company| {
        let founders = ["CEO & co-founder", "CTO & co-founder"].map(|title| {
            people += 1;
            // Each pair of names is used once.
            let given = GIVEN.get(people % GIVEN.len()).copied().unwrap_or_default();
            let family = FAMILY.get(people % FAMILY.len()).copied().unwrap_or_default();
            let handle = format!("{given}{family}{people}").to_lowercase();
            json!({
                "full_name": format!("{given} {family}"),
                "title": title,
                "email": format!("{handle}@{}.example", company.slug),
                "phone": format!("+1 415 555 01{:02}", people % 100),
                "founder_bio": format!("{given} worked on {} before. Write to {handle}@{}.example or call (415) 555-01{:02}.", company.field, company.slug, people % 100),
                "linkedin_url": format!("https://www.linkedin.example/in/{handle}"),
                "twitter_url": format!("https://x.example/{handle}"),
            })
        });
        json!({
            "name": company.name,
            "slug": company.slug,
            "website": company.website(),
            "all_locations": "San Francisco, CA, USA",
            "one_liner": format!("{}, made slowly", company.field),
            "team_size": 2 + chance.below(80),
            "batch": format!("{} {}", chance.word(&["Winter", "Summer"]), 2019 + chance.below(7)),
            "tags": [company.field],
            "isHiring": true,
            "url": format!("https://directory.harbourlight.example/companies/{}", company.slug),
            "founders": founders,
        })
    });
    let first: Vec<Value> = companies.by_ref().take(PAGE).collect();
    let second: Vec<Value> = companies.collect();
    [
        json!({ "companies": first, "page": 1, "totalPages": 2, "nextPage": "companies-2" }),
        json!({ "companies": second, "page": 2, "totalPages": 2, "nextPage": null }),
    ]
}
