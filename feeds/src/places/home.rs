//! Which places belong to the city of the map, and which remote work is for its people.

use super::{
    Corrections, Place,
    gazetteer::{Sense, gazetteer},
    locate::{Stated, locate},
    words::words,
};
use crate::record::City;
use serde::Deserialize;

/// Kilometres in a degree of latitude.
const DEGREE_KM: f64 = 111.2;

/// Which remote roles are published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteRule {
    /// Remote roles for which people in the city may apply.
    #[default]
    Country,
    /// All remote roles of the organisations on the map.
    CityCompanies,
    None,
}

/// The city of the map.
#[derive(Debug)]
pub struct Home {
    /// West, south, east, north.
    bbox: [f64; 4],
    within_km: f64,
    city: Option<Sense>,
    region: Option<Sense>,
    country: Option<Sense>,
}

impl Home {
    /// `within_km`: how far from the city's `bbox` a place may be.
    pub fn new(city: &City, within_km: f64) -> Self {
        let stated = Stated { text: &city.name, country: Some(&city.country), ..Stated::default() };
        let places = locate(&stated, &Corrections::default());
        let sense = places.first().and_then(|place| place.sense);
        Self {
            bbox: city.bbox,
            within_km,
            city: sense.filter(|sense| matches!(sense, Sense::City(_))),
            region: sense.and_then(|sense| gazetteer().region_of(sense)),
            country: gazetteer().coded(&city.country),
        }
    }

    /// Returns whether a place is in the city or near enough.
    pub fn has(&self, place: &Place) -> bool {
        let is_city = place.sense.is_some() && place.sense == self.city;
        is_city
            || place.position.is_some_and(|position| self.distance_km(position) <= self.within_km)
    }

    /// Returns the distance of a position from the city's `bbox`, 0 within it.
    fn distance_km(&self, (lat, lng): (f64, f64)) -> f64 {
        let [west, south, east, north] = self.bbox;
        let up = (south - lat).max(lat - north).max(0.0);
        let aside = (west - lng).max(lng - east).max(0.0);
        up.hypot(aside * lat.to_radians().cos()) * DEGREE_KM
    }

    /// Returns whether remote work at a place is for people in the city.
    pub fn admits(&self, place: &Place, rule: RemoteRule) -> bool {
        match rule {
            RemoteRule::None => false,
            RemoteRule::CityCompanies => place.is_remote,
            RemoteRule::Country => place.is_remote && self.is_for_country(place),
        }
    }

    fn is_for_country(&self, place: &Place) -> bool {
        if self.has(place) {
            return true;
        }
        match (place.sense, place.area, self.country) {
            // Another region than the city's is not for people of the city.
            (Some(Sense::Region(_)), ..) => place.sense == self.region,
            (Some(sense), _, Some(country)) => gazetteer().country_of(sense) == Some(country),
            (None, Some(area), Some(country)) => words().is_in(area, country, gazetteer()),
            (None, None, _) => place.position.is_none(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(within_km: f64) -> Home {
        let city = City {
            id: "sf".to_owned(),
            name: "San Francisco".to_owned(),
            country: "US".to_owned(),
            time_zone: "America/Los_Angeles".to_owned(),
            center: [-122.41942, 37.77493],
            bbox: [-122.52, 37.70, -122.35, 37.84],
        };
        Home::new(&city, within_km)
    }

    fn place(text: &str) -> Place {
        let stated = Stated { text, ..Stated::default() };
        locate(&stated, &Corrections::default()).remove(0)
    }

    #[test]
    fn the_city_ends_at_its_box_or_at_a_distance_from_it() {
        assert!(home(0.0).has(&place("SF")));
        for (text, is_near) in [("Oakland, CA", true), ("San Jose, CA", false), ("Berlin", false)] {
            assert!(!home(0.0).has(&place(text)), "{text}");
            assert_eq!(home(15.0).has(&place(text)), is_near, "{text}");
        }
        assert!(!home(15.0).has(&place("United States")));
    }

    #[test]
    fn the_rule_says_which_remote_work_is_for_people_in_the_city() {
        use RemoteRule::{CityCompanies, Country, None};
        let home = home(0.0);
        for (text, in_country) in [
            ("Remote", true),
            ("Remote - US", true),
            ("Remote (California)", true),
            ("Remote (North America)", true),
            ("Remote (Worldwide)", true),
            ("Remote in San Francisco", true),
            ("Remote (Texas)", false),
            ("Remote - Canada", false),
            ("Remote (EMEA)", false),
            ("Berlin (Remote)", false),
        ] {
            let place = place(text);
            assert_eq!(home.admits(&place, Country), in_country, "{text}");
            assert!(home.admits(&place, CityCompanies), "{text}");
            assert!(!home.admits(&place, None), "{text}");
        }
        assert!(!home.admits(&place("California"), CityCompanies));
    }
}
