//! The operator's file of corrections, `places.toml`: what texts mean that the gazetteer does not know, or
//! reads wrongly.

use super::{
    Place,
    gazetteer::{Sense, gazetteer},
    key::key,
    meaning::Known,
    resolve::resolve,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What texts mean, by their keys.
#[derive(Debug, Clone, Default)]
pub struct Corrections(BTreeMap<String, Vec<Place>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    place: Vec<Entry>,
}

/// A text and what it means. Several entries with one text are several places.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    text: String,
    city: Option<String>,
    /// The code of the region (ISO 3166-2), such as "US-CA".
    region: Option<String>,
    /// The code of the country (ISO 3166-1), such as "US".
    country: Option<String>,
    lat: Option<f64>,
    lng: Option<f64>,
    #[serde(default)]
    remote: bool,
}

impl Corrections {
    /// Reads the file; the error lists all faults.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let file: File = toml::from_str(text).map_err(|error| vec![error.to_string()])?;
        let (mut corrections, mut faults) = (Self::default(), Vec::new());
        for entry in &file.place {
            match entry.place() {
                Ok(place) => {
                    corrections.0.entry(key(&entry.text)).or_default().push(place);
                }
                Err(fault) => faults.push(format!("{:?}: {fault}", entry.text)),
            }
        }
        if faults.is_empty() { Ok(corrections) } else { Err(faults) }
    }

    pub(super) fn of(&self, text: &str) -> Option<&[Place]> {
        (!self.0.is_empty()).then_some(())?;
        self.0.get(&key(text)).map(Vec::as_slice)
    }
}

impl Entry {
    fn place(&self) -> Result<Place, String> {
        if key(&self.text).is_empty() {
            return Err("the text has no letters".to_owned());
        }
        let code = self.region.as_deref().or(self.country.as_deref());
        let outer = code.map(|code| {
            gazetteer().coded(code).ok_or_else(|| {
                format!("{code} is no code: write region = \"US-CA\" or country = \"US\"")
            })
        });
        let outer: Option<Sense> = outer.transpose()?;
        let mut place = outer.map(|outer| Place::of(outer, gazetteer())).unwrap_or_default();
        if let (Some(city), Some(outer)) = (&self.city, outer) {
            let name = gazetteer().name(outer);
            let found = resolve(&format!("{city}, {name}"), Known::default());
            let known = found.into_iter().find(|found| {
                found.city.is_some()
                    && found.sense.is_some_and(|one| gazetteer().is_within(one, outer))
            });
            place = known.unwrap_or(place);
        }
        place.city = self.city.clone().or(place.city);
        place.position = match (self.lat, self.lng) {
            (Some(lat), Some(lng)) if lat.abs() <= 90.0 && lng.abs() <= 180.0 => Some((lat, lng)),
            (None, None) => place.position,
            _ => return Err("write lat from -90 to 90 and lng from -180 to 180".to_owned()),
        };
        place.is_remote = self.remote;
        let says_something =
            place.sense.is_some() || place.city.is_some() || place.position.is_some();
        match says_something || place.is_remote {
            true => Ok(place),
            false => Err("it has no city, country, lat and lng, or remote".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::{Stated, locate};

    #[test]
    fn a_correction_says_what_a_text_means() {
        let corrections = Corrections::parse(
            r#"
            [[place]]
            text = "The Dock"
            city = "Oakland"
            region = "US-CA"
            [[place]]
            text = "Two Piers"
            city = "Lisbon"
            country = "PT"
            lat = 38.70
            lng = -9.17
            [[place]]
            text = "Two Piers"
            country = "US"
            remote = true
            "#,
        )
        .unwrap();
        let located = |text| locate(&Stated { text, ..Stated::default() }, &corrections);
        let [dock] = &located("the DOCK")[..] else { panic!() };
        assert_eq!((dock.city.as_deref(), dock.region_code), (Some("Oakland"), Some("US-CA")));
        assert!(dock.position.is_some());
        let [lisbon, remote] = &located("Two Piers")[..] else { panic!() };
        assert_eq!((lisbon.position, lisbon.country), (Some((38.70, -9.17)), Some("PT")));
        assert!(remote.is_remote && remote.country == Some("US"));
        assert_eq!(located("Berlin").len(), 1);
    }

    #[test]
    fn all_faults_of_the_file_are_reported() {
        let faults = Corrections::parse(
            "[[place]]\ntext = \"A\"\ncountry = \"Atlantis\"\n[[place]]\ntext = \"B\"\n[[place]]\ntext = \"C\"\nlat = 1\n",
        )
        .unwrap_err();
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(Corrections::parse("[[place]]\nname = \"A\"").is_err());
    }
}
