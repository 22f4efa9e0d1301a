//! Reads a registry: the organisations on the map, a document in this project's own format that the map's
//! operator maintains, or a table as CSV.

mod table;

use crate::{
    claims::plain_cik,
    entries::{self, Refused},
    places::{Corrections, Stated, locate},
    record::{AskType, Precision, Stage, Status, TargetKind},
    sources::{Registry, RegistryFormat, Sources},
    text::{line, link, some_line},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// How many terms of one organisation are kept in each list, and how many asks.
const MOST_TERMS: usize = 20;
/// How many other names of one organisation are kept.
const MOST_ALIASES: usize = 20;

/// An organisation, as the registry describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Organisation {
    pub slug: String,
    pub name: String,
    pub legal_name: Option<String>,
    /// Other names under which texts tell of it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Its number at the SEC (Central Index Key).
    #[serde(default)]
    pub cik: Option<String>,
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
    #[serde(default = "unknown")]
    pub lat: f64,
    #[serde(default = "unknown")]
    pub lng: f64,
    #[serde(default)]
    pub precision: Precision,
    pub neighbourhood: Option<String>,
    #[serde(default)]
    pub asks: Vec<Wish>,
    /// The page about the organisation, for people.
    pub url: String,
}

/// The coordinate of an organisation that has none.
fn unknown() -> f64 {
    f64::NAN
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
struct Document<'a> {
    #[serde(borrow)]
    organisations: Vec<&'a RawValue>,
}

/// Returns the organisations of a registry, and the entries that could not be read.
pub fn read(
    bytes: &[u8],
    registry: &Registry,
    sources: &Sources,
) -> Result<(Vec<Organisation>, Vec<Refused>), String> {
    let organisation = |mut entry: Value| {
        place(&mut entry, &sources.city.country, &sources.corrections);
        let organisation = serde_json::from_value(entry).map_err(|error| error.to_string())?;
        cleaned(organisation, sources.city.bbox).map(Some).map_err(str::to_owned)
    };
    let read = |entry: Value| (entries::identifier(&entry, &entries::BY_SLUG), organisation(entry));
    match registry.format {
        RegistryFormat::Json => {
            let document: Document<'_> =
                serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
            let parsed = document.organisations.into_iter().map(|entry| {
                serde_json::from_str(entry.get())
                    .map_or_else(|error| (None, Err(error.to_string())), read)
            });
            Ok(entries::sorted(parsed, "organisation"))
        }
        RegistryFormat::Csv => {
            let (rows, mut refused) = table::rows(bytes, registry)?;
            let (organisations, more) = entries::sorted(rows.into_iter().map(read), "organisation");
            refused.extend(more);
            Ok((organisations, refused))
        }
    }
}

/// Gives an entry without coordinates those of the place that its address names: of the city's centre,
/// unless the operator's corrections say better.
fn place(entry: &mut Value, country: &str, corrections: &Corrections) {
    let Some(fields) = entry.as_object_mut() else { return };
    if ["lat", "lng"].iter().any(|name| fields.get(*name).is_some_and(|value| !value.is_null())) {
        return;
    }
    let texts = ["address", "place"].map(|name| fields.get(name).and_then(Value::as_str));
    let located = |text: &str| {
        let stated = Stated { text, organisation: Some(country), ..Stated::default() };
        let [place] = &locate(&stated, corrections)[..] else { return None };
        Some((place.position?, place.is_exact()))
    };
    let Some(((lat, lng), is_exact)) = texts.into_iter().flatten().find_map(located) else {
        return;
    };
    let precision = if is_exact { "street" } else { "city" };
    for (name, value) in
        [("lat", lat.into()), ("lng", lng.into()), ("precision", Value::from(precision))]
    {
        fields.insert(name.to_owned(), value);
    }
}

fn cleaned(organisation: Organisation, bbox: [f64; 4]) -> Result<Organisation, &'static str> {
    let [west, south, east, north] = bbox;
    if organisation.lat.is_nan() || organisation.lng.is_nan() {
        return Err(
            "it has no coordinates, and no address or place that is known: add it to the file of places",
        );
    }
    if !(west..=east).contains(&organisation.lng) || !(south..=north).contains(&organisation.lat) {
        return Err("its coordinates are not in the city");
    }
    let lines = |texts: &[String]| {
        texts.iter().take(MOST_TERMS).filter_map(|text| some_line(Some(text), 60)).collect()
    };
    let name = line(&organisation.name, 120);
    if name.is_empty() || organisation.slug.is_empty() {
        return Err("it has no name or no slug");
    }
    Ok(Organisation {
        name,
        legal_name: some_line(organisation.legal_name.as_deref(), 160),
        aliases: (organisation.aliases.iter().take(MOST_ALIASES))
            .filter_map(|name| some_line(Some(name), 120))
            .collect(),
        cik: organisation.cik.as_deref().and_then(plain_cik),
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
            .take(MOST_TERMS)
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

    fn sources(registry: &str) -> Sources {
        let text = format!(
            r#"
            license = "CC0-1.0"
            opt_out_url = "https://map.example/opt-out"
            [city]
            id = "sf"
            name = "San Francisco"
            country = "US"
            time_zone = "America/Los_Angeles"
            center = [-122.41942, 37.77493]
            bbox = [-122.52, 37.7, -122.35, 37.84]
            [[registry]]
            id = "map"
            publisher = "Map"
            url = "https://map.example/registry"
            {registry}"#
        );
        Sources::parse(&text, None).unwrap()
    }

    fn read_in(sources: &Sources, bytes: &[u8]) -> (Vec<Organisation>, Vec<Refused>) {
        read(bytes, &sources.registry[0], sources).unwrap()
    }

    #[test]
    fn valid_entries_are_read_and_the_others_reported() {
        let document = br#"{"organisations":[
          {"slug":"copperleaf","name":"Copperleaf <b>Robotics</b>","kind":"startup","lat":37.77,"lng":-122.42,
           "url":"https://map.example/copperleaf","website":"javascript:x()","team_size_band":"many","tagline":"Call 415-555-0142"},
          {"slug":"far","name":"Far Away","kind":"startup","lat":0,"lng":0,"url":"https://map.example/far"},
          {"slug":"odd","name":"Odd","kind":"castle","lat":37.77,"lng":-122.42,"url":"https://map.example/odd"}]}"#;
        let sources = sources("");
        let (organisations, faults) = read_in(&sources, document);
        assert_eq!((organisations.len(), faults.len()), (1, 2), "{faults:?}");
        let only = &organisations[0];
        assert_eq!(only.name, "Copperleaf Robotics");
        assert_eq!((&only.website, &only.team_size_band), (&None, &None));
        assert_eq!(only.tagline, "Call [removed]");
        assert!(read(b"[]", &sources.registry[0], &sources).is_err());
    }

    #[test]
    fn a_table_is_read_and_its_addresses_are_placed() {
        let mut sources = sources(
            r#"
            format = "csv"
            columns = { name = "Company", address = "Address", website = "Web" }
            defaults = { kind = "startup" }
            "#,
        );
        sources.corrections = Corrections::parse(
            "[[place]]\ntext = \"Pier 99\"\ncity = \"San Francisco\"\nregion = \"US-CA\"\nlat = 37.75\nlng = -122.38\n",
        )
        .unwrap();
        let table = "Company,Address,Web\n\
            Copperleaf,\"500 Howard Street, San Francisco, CA 94105\",https://copperleaf.example\n\
            Pierworks,Pier 99,\n\
            Elsewhere,\"Berlin, Germany\",\n\
            Nowhere,Qwertyville,\n";
        let (organisations, faults) = read_in(&sources, table.as_bytes());
        let placed: Vec<_> = organisations
            .iter()
            .map(|one| (one.slug.as_str(), one.lat, one.lng, one.precision))
            .collect();
        assert_eq!(
            placed,
            [
                ("copperleaf", 37.775, -122.419, Precision::City),
                ("pierworks", 37.75, -122.38, Precision::Street),
            ]
        );
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[1].reason.contains("file of places"), "{faults:?}");
    }
}
