//! Where roles are, and which of them are for the city of the map.

use crate::{
    board::Posting,
    places::{Home, Place, Stated, locate},
    record::{Ats, Location, WorkplaceType},
    sources::Sources,
};
use std::collections::BTreeSet;

/// How many texts of places that are not known are listed.
const MOST_UNKNOWN: usize = 50;

/// The roles that are on boards and are not published, because they are not for the city of the map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many are elsewhere.
    pub elsewhere: usize,
    /// How many are remote, and not for people in the city by the operator's rule.
    pub remote: usize,
    /// How many are at places that are not known.
    pub unknown: usize,
    /// The texts of these places, so that the operator can say what they mean.
    pub texts: BTreeSet<String>,
}

/// Whether a role is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Here,
    Elsewhere,
    Remote,
    Unknown,
}

/// How many places of a role are listed.
const MOST_LOCATIONS: usize = 50;

/// Decides which roles are for the city.
pub(super) struct Gate<'a> {
    sources: &'a Sources,
    home: Home,
    pub(super) left_out: LeftOut,
}

impl<'a> Gate<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        let home = Home::new(&sources.city, sources.roles.within_km);
        Self { sources, home, left_out: LeftOut::default() }
    }

    /// Returns where a role is; `None` if it is not for the city.
    pub(super) fn locations(&mut self, posting: &Posting, ats: Ats) -> Option<Vec<Location>> {
        let is_remote = posting.workplace_type == WorkplaceType::Remote;
        let mut stated: Vec<(&Location, Vec<Place>)> = (posting.locations.iter().enumerate())
            // Lever states the country of the first place only.
            .map(|(at, stated)| (stated, self.places(stated, at == 0 || ats != Ats::Lever)))
            .collect();
        let says_which =
            stated.iter().any(|(_, places)| places.iter().any(|place| place.is_remote));
        if is_remote && !says_which {
            let places = stated.iter_mut().flat_map(|(_, places)| places);
            places.for_each(|place| place.is_remote = true);
        }
        let mut locations: Vec<Location> =
            stated.iter().flat_map(|(stated, places)| named(stated, places)).collect();
        let is_unknown = |(_, places): &&(&Location, Vec<Place>)| places.is_empty();
        let unknown: Vec<String> =
            stated.iter().filter(is_unknown).map(|(stated, _)| stated.label.clone()).collect();
        let places: Vec<Place> = stated.into_iter().flat_map(|(_, places)| places).collect();
        locations.truncate(MOST_LOCATIONS);
        for (position, location) in locations.iter_mut().enumerate() {
            location.primary = position == 0;
        }
        match self.standing(&places, &unknown, is_remote) {
            Standing::Here => return Some(locations),
            Standing::Elsewhere => self.left_out.elsewhere += 1,
            Standing::Remote => self.left_out.remote += 1,
            Standing::Unknown => {
                self.left_out.unknown += 1;
                let room = MOST_UNKNOWN.saturating_sub(self.left_out.texts.len());
                self.left_out.texts.extend(unknown.into_iter().take(room));
            }
        }
        None
    }

    fn places(&self, stated: &Location, has_country: bool) -> Vec<Place> {
        let stated = Stated {
            text: &stated.label,
            city: stated.city.as_deref(),
            region: stated.region.as_deref(),
            country: stated.country.as_deref().filter(|_| has_country),
            organisation: Some(&self.sources.city.country),
        };
        locate(&stated, &self.sources.corrections)
    }

    fn standing(&self, places: &[Place], unknown: &[String], is_remote: bool) -> Standing {
        let rule = self.sources.roles.remote;
        let is_here = |place: &Place| match place.is_remote {
            true => self.home.admits(place, rule),
            false => self.home.has(place),
        };
        let says_nothing = places.is_empty() && unknown.is_empty();
        let is_default = match is_remote {
            true => is_here(&Place::anywhere()),
            // A role without any place is where the organisation is.
            false => true,
        };
        if (says_nothing && is_default) || places.iter().any(is_here) {
            return Standing::Here;
        }
        match places.iter().any(|place| place.is_remote) || (says_nothing && is_remote) {
            true => Standing::Remote,
            false if unknown.is_empty() => Standing::Elsewhere,
            false => Standing::Unknown,
        }
    }
}

/// Returns the locations that a board's text names; the text itself if they are not known.
fn named(stated: &Location, places: &[Place]) -> Vec<Location> {
    if places.is_empty() {
        return vec![Location { label: stated.label.clone(), ..Location::default() }];
    }
    let named = places.iter().map(|place| location(place, stated, places.len() == 1));
    // Beside a city, "EMEA" says nothing.
    named.filter(|location| !location.label.is_empty()).collect()
}

/// Returns the location of a place. `is_only`: the text names no other place.
fn location(place: &Place, stated: &Location, is_only: bool) -> Location {
    let stated_position = stated.lat.zip(stated.lng).filter(|_| is_only);
    let (lat, lng) = stated_position.or(place.position).unzip();
    Location {
        label: if is_only { stated.label.clone() } else { label(place) },
        city: place.city.clone(),
        region: place.region.map(str::to_owned),
        region_code: place.region_code.map(str::to_owned),
        country: place.country.map(str::to_owned),
        lat,
        lng,
        remote: place.is_remote,
        primary: false,
    }
}

/// Returns the name of a place by itself: "Oakland, California", "Remote, US".
fn label(place: &Place) -> String {
    let remote = place.is_remote.then_some("Remote");
    let city = place.city.as_deref();
    let outer = if city == place.region { None } else { place.region };
    let outer = outer.or(place.country);
    remote.into_iter().chain(city).chain(outer).collect::<Vec<_>>().join(", ")
}
