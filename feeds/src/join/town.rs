//! Finds organisations on the map by slug, identifier, name or website. `Town` is the
//! index of all organisations, `Place` one organisation in it.

use crate::{
    identifier::stable,
    objections::Suppression,
    record::TargetKind,
    registry::Organisation,
    state::{Records, State},
};
use std::collections::BTreeMap;
use url::Url;

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
    names: Vec<(&'a str, usize)>,
}

/// Returns the registrable domain of a URL.
pub(super) fn registrable_domain(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?.to_lowercase();
    Some(psl::domain_str(&host).map_or(host.clone(), str::to_owned))
}

impl<'a> Town<'a> {
    /// Makes the index, without the organisations that object to be listed. Of several organisations with
    /// the same slug, the first counts.
    pub(super) fn new(state: &'a State, suppression: &Suppression) -> Self {
        let mut town = Self { places: Vec::new(), by_slug: BTreeMap::new(), names: Vec::new() };
        for (source, kept) in &state.sources {
            let Records::Organisations(organisations) = &kept.records else { continue };
            for organisation in organisations {
                let position = town.places.len();
                let target_id = stable("tgt", &[&organisation.slug]);
                let is_known = town.by_slug.contains_key(organisation.slug.as_str());
                if is_known || suppression.covers(&target_id) {
                    continue;
                }
                town.by_slug.insert(&organisation.slug, position);
                let names = std::iter::once(&organisation.name)
                    .chain(organisation.legal_name.as_ref())
                    .chain(&organisation.aliases);
                town.names.extend(names.map(|name| (name.as_str(), position)));
                town.places.push(Place {
                    target_id,
                    organisation,
                    source,
                    domain: organisation.website.as_deref().and_then(registrable_domain),
                });
            }
        }
        town
    }

    pub(super) fn places(&self) -> &[Place<'a>] {
        &self.places
    }

    pub(super) fn with_slug(&self, slug: &str) -> Option<&Place<'a>> {
        self.places.get(*self.by_slug.get(slug)?)
    }

    pub(super) fn position_of(&self, slug: &str) -> Option<usize> {
        self.by_slug.get(slug).copied()
    }

    pub(super) fn with_id(&self, target_id: &str) -> Option<&Place<'a>> {
        self.places.iter().find(|place| place.target_id == target_id)
    }

    pub(super) fn with_name(&self, name: &str) -> Option<&Place<'a>> {
        let (_, position) = self.names.iter().find(|(known, _)| *known == name)?;
        self.places.get(*position)
    }

    /// Returns the organisation whose website this is. A site on which several organisations are is none's; and
    /// two addresses on one site are the same website only if one of them is the site's own.
    pub(super) fn with_website(&self, url: &str) -> Option<&Place<'a>> {
        let domain = registrable_domain(url)?;
        let mut on_it = self.places.iter().filter(|place| place.domain.as_ref() == Some(&domain));
        let place = on_it.next().filter(|_| on_it.next().is_none())?;
        let website = place.organisation.website.as_deref()?;
        is_same_site(&domain, url, website).then_some(place)
    }
}

/// Returns whether two addresses of a domain may be of one organisation's website.
fn is_same_site(domain: &str, one: &str, other: &str) -> bool {
    let part = |url: &str| {
        let url = Url::parse(url).ok()?;
        let host = url.host_str()?.to_lowercase();
        let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
        Some((host, url.path().trim_end_matches('/').to_lowercase()))
    };
    let (Some((host, path)), Some((other_host, other_path))) = (part(one), part(other)) else {
        return false;
    };
    let is_host = host == other_host || host == domain || other_host == domain;
    is_host && (path == other_path || path.is_empty() || other_path.is_empty())
}

impl Place<'_> {
    /// Returns whether the organisation is an investor.
    pub(super) fn invests(&self) -> bool {
        matches!(self.organisation.kind, TargetKind::Fund | TargetKind::Accelerator)
    }
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
    fn a_site_that_several_may_use_is_one_organisations_only_with_its_own_address() {
        for (one, other, expected) in [
            ("https://copperleaf.example/", "https://www.copperleaf.example/en", true),
            ("https://eu.copperleaf.example", "http://copperleaf.example/", true),
            ("https://site.example/acme", "https://site.example/Acme/", true),
            ("https://site.example/acme", "https://site.example/other", false),
            ("https://acme.site.example/", "https://other.site.example/", false),
        ] {
            let domain = registrable_domain(one).unwrap();
            assert_eq!(is_same_site(&domain, one, other), expected, "{one} {other}");
        }
    }
}
