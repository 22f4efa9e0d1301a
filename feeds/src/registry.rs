//! Reads a registry: the organisations on the map, a document in this project's own format that the map's
//! operator maintains.

use crate::{
    entries::{self, Refused},
    record::{AskType, Precision, Stage, Status, TargetKind},
    text::{line, link, some_line},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An organisation, as the registry describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Organisation {
    pub slug: String,
    pub name: String,
    pub legal_name: Option<String>,
    pub kind: TargetKind,
    #[serde(default)]
    pub tagline: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub industries: Vec<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    pub stage: Option<Stage>,
    pub founded_year: Option<u16>,
    pub team_size_band: Option<String>,
    #[serde(default)]
    pub status: Status,
    pub website: Option<String>,
    pub logo_url: Option<String>,
    pub lat: f64,
    pub lng: f64,
    #[serde(default)]
    pub precision: Precision,
    pub neighbourhood: Option<String>,
    #[serde(default)]
    pub asks: Vec<Wish>,
    /// The page about the organisation, for people.
    pub url: String,
}

/// What an organisation says that it looks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    #[serde(rename = "type")]
    pub kind: AskType,
    pub text: String,
    pub since: Timestamp,
}

#[derive(Deserialize)]
struct Document {
    organisations: Vec<Value>,
}

/// Returns the organisations, and the entries that could not be read.
pub fn read(bytes: &[u8], bbox: [f64; 4]) -> Result<(Vec<Organisation>, Vec<Refused>), String> {
    let document: Document = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let read = |organisation| cleaned(organisation, bbox).map(Some);
    Ok(entries::each(document.organisations, "organisation", read))
}

fn cleaned(organisation: Organisation, bbox: [f64; 4]) -> Result<Organisation, &'static str> {
    let [west, south, east, north] = bbox;
    if !(west..=east).contains(&organisation.lng) || !(south..=north).contains(&organisation.lat) {
        return Err("its coordinates are not in the city");
    }
    let lines =
        |texts: &[String]| texts.iter().filter_map(|text| some_line(Some(text), 60)).collect();
    let name = line(&organisation.name, 120);
    if name.is_empty() || organisation.slug.is_empty() {
        return Err("it has no name or no slug");
    }
    Ok(Organisation {
        name,
        legal_name: some_line(organisation.legal_name.as_deref(), 160),
        tagline: line(&organisation.tagline, 200),
        description: line(&organisation.description, 4_000),
        industries: lines(&organisation.industries),
        tags: lines(&organisation.tags),
        team_size_band: organisation.team_size_band.filter(|band| is_band(band)),
        website: organisation.website.as_deref().and_then(link),
        logo_url: organisation.logo_url.as_deref().and_then(link),
        neighbourhood: some_line(organisation.neighbourhood.as_deref(), 80),
        asks: organisation
            .asks
            .into_iter()
            .map(|wish| Wish { text: line(&wish.text, 200), ..wish })
            .collect(),
        url: link(&organisation.url).ok_or("its url is not an http or https address")?,
        ..organisation
    })
}

/// Returns whether a text is a range such as "11-50" or "500+".
fn is_band(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_suffix('+') {
        Some(least) => digits(least),
        None => text.split_once('-').is_some_and(|(least, most)| digits(least) && digits(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CITY: [f64; 4] = [-122.52, 37.7, -122.35, 37.84];

    #[test]
    fn valid_entries_are_read_and_the_others_reported() {
        let document = br#"{"organisations":[
          {"slug":"copperleaf","name":"Copperleaf <b>Robotics</b>","kind":"startup","lat":37.77,"lng":-122.42,
           "url":"https://map.example/copperleaf","website":"javascript:x()","team_size_band":"many","tagline":"Call 415-555-0142"},
          {"slug":"far","name":"Far Away","kind":"startup","lat":0,"lng":0,"url":"https://map.example/far"},
          {"slug":"odd","name":"Odd","kind":"castle","lat":37.77,"lng":-122.42,"url":"https://map.example/odd"}]}"#;
        let (organisations, faults) = read(document, CITY).unwrap();
        assert_eq!((organisations.len(), faults.len()), (1, 2), "{faults:?}");
        let only = &organisations[0];
        assert_eq!(only.name, "Copperleaf Robotics");
        assert_eq!((&only.website, &only.team_size_band), (&None, &None));
        assert_eq!(only.tagline, "Call [removed]");
        assert!(read(b"[]", CITY).is_err());
    }
}
