//! Finds organisations on the map by slug, identifier, name, website, or mention in a text. `Town` is the
//! index of all organisations, `Place` one organisation in it.

use crate::{
    identifier::stable,
    record::TargetKind,
    registry::Organisation,
    state::{Records, State},
};
use std::collections::BTreeMap;
use url::Url;

/// Shorter names are not searched for in texts: they may be common words.
const SHORTEST_NAME: usize = 4;

/// One organisation, and the source from which it was read.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) target_id: String,
    pub(super) organisation: &'a Organisation,
    /// The id of the source.
    pub(super) source: &'a str,
    /// The registrable domain of its website.
    pub(super) domain: Option<String>,
}

/// The index of all organisations.
#[derive(Debug)]
pub(super) struct Town<'a> {
    places: Vec<Place<'a>>,
    by_slug: BTreeMap<&'a str, usize>,
    /// Names, the longest first, so that a name within a longer one is not found instead of it.
    names: Vec<(&'a str, usize)>,
}

/// Returns the registrable domain of a URL.
pub(super) fn registrable_domain(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?.to_lowercase();
    Some(psl::domain_str(&host).map_or(host.clone(), str::to_owned))
}

impl<'a> Town<'a> {
    /// Makes the index. Of several organisations with the same slug, the first counts.
    pub(super) fn new(state: &'a State) -> Self {
        let mut town = Self { places: Vec::new(), by_slug: BTreeMap::new(), names: Vec::new() };
        for (source, kept) in &state.sources {
            let Records::Organisations(organisations) = &kept.records else { continue };
            for organisation in organisations {
                let position = town.places.len();
                if town.by_slug.contains_key(organisation.slug.as_str()) {
                    continue;
                }
                town.by_slug.insert(&organisation.slug, position);
                let names = [Some(&organisation.name), organisation.legal_name.as_ref()];
                for name in names.into_iter().flatten().filter(|name| name.len() >= SHORTEST_NAME) {
                    town.names.push((name, position));
                }
                town.places.push(Place {
                    target_id: stable("tgt", &[&organisation.slug]),
                    organisation,
                    source,
                    domain: organisation.website.as_deref().and_then(registrable_domain),
                });
            }
        }
        town.names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        town
    }

    pub(super) fn places(&self) -> &[Place<'a>] {
        &self.places
    }

    pub(super) fn with_slug(&self, slug: &str) -> Option<&Place<'a>> {
        self.places.get(*self.by_slug.get(slug)?)
    }

    pub(super) fn with_id(&self, target_id: &str) -> Option<&Place<'a>> {
        self.places.iter().find(|place| place.target_id == target_id)
    }

    pub(super) fn with_name(&self, name: &str) -> Option<&Place<'a>> {
        let (_, position) = self.names.iter().find(|(known, _)| *known == name)?;
        self.places.get(*position)
    }

    pub(super) fn with_website(&self, url: &str) -> Option<&Place<'a>> {
        let domain = registrable_domain(url)?;
        self.places.iter().find(|place| place.domain.as_ref() == Some(&domain))
    }

    /// Returns the organisations that a text names, in the order of the index.
    pub(super) fn named_in(&self, text: &str) -> Vec<&Place<'a>> {
        let mut rest = text.to_owned();
        let mut found = Vec::new();
        for (name, position) in &self.names {
            if let Some(at) = whole_word(&rest, name) {
                rest.replace_range(at..at + name.len(), &" ".repeat(name.len()));
                found.push(*position);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|position| self.places.get(position)).collect()
    }
}

impl Place<'_> {
    /// Returns whether the organisation is an investor.
    pub(super) fn invests(&self) -> bool {
        matches!(self.organisation.kind, TargetKind::Fund | TargetKind::Accelerator)
    }
}

/// Returns the position of the first occurrence of a name as a whole word.
fn whole_word(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        let part = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        !part(before) && !part(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registrable_domain_is_found() {
        for (url, domain) in [
            ("https://news.press.example/a", "press.example"),
            ("https://www.press.co.uk/a", "press.co.uk"),
            ("https://copperleaf.github.io/", "copperleaf.github.io"),
            ("https://PRESS.example", "press.example"),
        ] {
            assert_eq!(registrable_domain(url).as_deref(), Some(domain), "{url}");
        }
    }

    #[test]
    fn a_name_is_a_whole_word() {
        assert_eq!(whole_word("At Copperleaf, today", "Copperleaf"), Some(3));
        assert_eq!(whole_word("Copperleafs and aCopperleaf", "Copperleaf"), None);
        assert_eq!(whole_word("xCopperleaf, then Copperleaf", "Copperleaf"), Some(18));
    }
}
