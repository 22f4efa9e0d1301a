//! Which city, region and country a text names, as boards of roles and registries write places: "San
//! Francisco, CA | Remote (US)", "HQ - IJmuiden - NL", "東京". A gazetteer and a table of words decide; no
//! network is asked. A place that cannot be told is not guessed.

mod corrections;
mod gazetteer;
mod home;
mod key;
mod locate;
mod meaning;
mod pieces;
mod reading;
mod resolve;
mod words;

pub use corrections::Corrections;
pub use gazetteer::ATTRIBUTION;
pub use home::{Home, RemoteRule};
pub use locate::{Stated, locate};

use gazetteer::{Gazetteer, Sense};

/// A place that a text names. What cannot be told is missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    pub city: Option<String>,
    /// The name of the region.
    pub region: Option<&'static str>,
    /// The code of the region (ISO 3166-2): "US-CA".
    pub region_code: Option<&'static str>,
    /// The code of the country (ISO 3166-1): "US".
    pub country: Option<&'static str>,
    /// Latitude and longitude, of the city's centre if nothing better is known.
    pub position: Option<(f64, f64)>,
    /// Whether the work is remote; the place then says where applicants may be.
    pub is_remote: bool,
    /// The part of the world, if no country is named.
    area: Option<words::Area>,
    sense: Option<Sense>,
}

impl Place {
    /// Returns the place of remote work about which nothing else is stated.
    pub fn anywhere() -> Self {
        Self { is_remote: true, ..Self::default() }
    }

    /// Returns whether the position is better than the centre of the city.
    pub fn is_exact(&self) -> bool {
        let centre = self.sense.and_then(|sense| gazetteer::gazetteer().position(sense));
        self.position.is_some() && self.position != centre
    }

    fn of(sense: Sense, gazetteer: &Gazetteer) -> Self {
        let region = gazetteer.region_of(sense);
        let country = gazetteer.country_of(sense);
        let is_city = matches!(sense, Sense::City(_));
        Self {
            city: is_city.then(|| gazetteer.name(sense).to_owned()),
            region: region.map(|region| gazetteer.name(region)),
            region_code: region.map(|region| gazetteer.code(region)),
            country: country.map(|country| gazetteer.code(country)),
            position: gazetteer.position(sense),
            is_remote: false,
            area: None,
            sense: Some(sense),
        }
    }
}
