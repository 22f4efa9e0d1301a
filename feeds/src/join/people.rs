//! Makes the people: founders of organisations on the map.

use super::town::{Place, Town, registrable_domain};
use crate::{
    directory::{Founder, Listed},
    identifier::{sha256, stable},
    record::{Accelerator, Affiliation, DirectoryEntry, Person, Source, SourceType},
    sources::{Directory, Sources},
    state::{Records, State},
    timestamp::Timestamp,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many people of one organisation are listed, of whatever number of entries they are.
const MOST_PEOPLE: usize = 100;
/// How many of a company's tags its founders have.
const MOST_TAGS: usize = 20;
const BASIS: &str = "listed by the company in a public accelerator directory";

/// The founders, and the accelerator of each organisation, by target.
pub(super) struct Founders {
    pub(super) people: Vec<Person>,
    pub(super) accelerators: BTreeMap<String, (Accelerator, Source)>,
}

/// Makes the people, each with these handoffs and this page on which to ask not to be listed.
pub(super) fn people(
    sources: &Sources,
    state: &State,
    town: &Town<'_>,
    (handoff_ids, opt_out_url, now): (&[String], &str, Timestamp),
) -> Founders {
    let mut founders = Founders { people: Vec::new(), accelerators: BTreeMap::new() };
    let listed = sources.directory.iter().filter_map(|directory| {
        match &state.sources.get(&directory.id)?.records {
            Records::Listed(listed) => Some(listed),
            _ => None,
        }
    });
    let shared = shared(listed.flatten());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for directory in &sources.directory {
        let Some(kept) = state.sources.get(&directory.id) else { continue };
        let Records::Listed(listed) = &kept.records else { continue };
        for company in listed {
            // A company that is not in the registry is not on the map.
            let Some(place) = found(company, town, &shared) else { continue };
            let source = source(directory, company, kept.read_at.unwrap_or(now));
            let accelerator =
                Accelerator { name: directory.name.clone(), batch: company.batch.clone() };
            founders
                .accelerators
                .entry(place.target_id.clone())
                .or_insert((accelerator, source.clone()));
            let count = counts.entry(place.target_id.clone()).or_default();
            let room = MOST_PEOPLE.saturating_sub(*count);
            *count += company.founders.len();
            founders.people.extend(company.founders.iter().take(room).map(|founder| {
                let made = (&source, opt_out_url, now);
                let person = person(founder, directory, company, place, made);
                Person { handoff_ids: handoff_ids.to_vec(), ..person }
            }));
        }
    }
    founders.people.sort_by(|one, other| one.id.cmp(&other.id));
    founders.people.dedup_by(|one, other| one.id == other.id);
    founders
}

/// Returns the domains that the websites of several companies are on.
fn shared<'a>(listed: impl Iterator<Item = &'a Listed>) -> BTreeSet<String> {
    let mut of_one: BTreeMap<String, &str> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for company in listed {
        let Some(domain) = company.website.as_deref().and_then(registrable_domain) else {
            continue;
        };
        if *of_one.entry(domain.clone()).or_insert(&company.name) != company.name {
            shared.insert(domain);
        }
    }
    shared
}

/// Returns the organisation with the company's website, or else with its name; `None` if
/// neither is on the map. On a site of several companies, the name decides.
fn found<'a>(
    company: &Listed,
    town: &'a Town<'a>,
    shared: &BTreeSet<String>,
) -> Option<&'a Place<'a>> {
    let is_own =
        |url: &&str| registrable_domain(url).is_some_and(|domain| !shared.contains(&domain));
    let website = company.website.as_deref().filter(is_own);
    website.and_then(|url| town.with_website(url)).or_else(|| town.with_name(&company.name))
}

fn source(directory: &Directory, company: &Listed, read_at: Timestamp) -> Source {
    Source {
        id: stable("src", &[&directory.id, &company.slug]),
        kind: SourceType::Directory,
        publisher: directory.name.clone(),
        url: company.url.clone(),
        title: company.name.clone(),
        published_at: None,
        retrieved_at: read_at,
        excerpt: company.one_liner.clone(),
        sha256: sha256(serde_json::to_string(company).unwrap_or_default().as_bytes()),
        license: directory.license.clone(),
        attribution: directory.attribution.clone(),
    }
}

fn person(
    founder: &Founder,
    directory: &Directory,
    company: &Listed,
    place: &Place<'_>,
    (source, opt_out_url, now): (&Source, &str, Timestamp),
) -> Person {
    let target_id = place.target_id.clone();
    let (given_name, _) = founder.full_name.split_once(' ').unwrap_or((&founder.full_name, ""));
    Person {
        id: stable("per", &[&directory.id, &company.slug, &founder.full_name]),
        given_name: Some(given_name.to_owned()),
        full_name: founder.full_name.clone(),
        title: founder.title.clone(),
        role_kind: founder.role_kind,
        affiliations: vec![Affiliation {
            target_id: target_id.clone(),
            title: founder.title.clone(),
            from: None,
            to: None,
            current: true,
        }],
        target_id,
        public_bio: founder.public_bio.clone(),
        directory: DirectoryEntry {
            name: directory.name.clone(),
            batch: company.batch.clone(),
            url: company.url.clone(),
        },
        links: founder.links.clone(),
        expertise: company.tags.iter().take(MOST_TAGS).cloned().collect(),
        public_figure_basis: BASIS.to_owned(),
        opt_out_url: opt_out_url.to_owned(),
        handoff_ids: Vec::new(),
        sources: vec![source.clone()],
        first_seen_at: now,
        updated_at: now,
    }
}
