//! The feeds as a catalogue of data sets, in DCAT 3 with the fields of DCAT-AP, as JSON-LD: for portals of open
//! data.

use crate::options::HostDescription;
use portolan_feeds::{
    Roads,
    record::{FEEDS, Index, IndexEntry, Meta, SERVICE},
};
use serde_json::{Value, json};

/// The file name of the catalogue.
pub(crate) const DATA_CATALOG: &str = "catalog.jsonld";

/// The European Union's authority tables, which DCAT-AP prescribes.
const AUTHORITY: &str = "http://publications.europa.eu/resource/authority";
/// How often a data set changes: up to this many seconds between two builds, in words of the authority table.
const FREQUENCIES: [(u64, &str); 4] =
    [(3_600, "HOURLY"), (86_400, "DAILY"), (604_800, "WEEKLY"), (2_678_400, "MONTHLY")];

/// Returns the catalogue.
pub(crate) fn data_catalog(host: &HostDescription, roads: &Roads, index: &Index) -> Value {
    let meta = &index.meta;
    let id = roads.document(DATA_CATALOG);
    let city = &meta.city.name;
    let datasets: Vec<Value> =
        index.items.iter().map(|entry| dataset(entry, host, meta, roads)).collect();
    let served: Vec<Value> = index
        .items
        .iter()
        .map(|entry| reference(&format!("{}#dataset", of(roads, entry))))
        .collect();
    json!({
        "@context": context(),
        "@id": id,
        "@type": "dcat:Catalog",
        "dct:title": english(&format!("{city}: the feeds of the map")),
        "dct:description": english(&format!("Read-only documents with public signals about startups in {city}.")),
        "dct:publisher": publisher(host),
        "dct:license": reference(&host.license_url(&meta.license)),
        "dct:language": reference(&format!("{AUTHORITY}/language/ENG")),
        "dct:modified": date_time(&meta.generated_at.to_string()),
        "dct:spatial": spatial(meta),
        "foaf:homepage": reference(&map_page(roads)),
        "dcat:dataset": datasets,
        "dcat:service": {
            "@id": roads.document(SERVICE),
            "@type": "dcat:DataService",
            "dct:title": english("The feeds over HTTP"),
            "dcat:endpointURL": reference(&host.public_url),
            "dcat:endpointDescription": reference(&roads.document(SERVICE)),
            "dcat:servesDataset": served,
        },
    })
}

fn context() -> Value {
    json!({
        "dcat": "http://www.w3.org/ns/dcat#",
        "dct": "http://purl.org/dc/terms/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "locn": "http://www.w3.org/ns/locn#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "vcard": "http://www.w3.org/2006/vcard/ns#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    })
}

fn dataset(entry: &IndexEntry, host: &HostDescription, meta: &Meta, roads: &Roads) -> Value {
    let license = reference(&host.license_url(&meta.license));
    let address = of(roads, entry);
    let tag = FEEDS.iter().find(|feed| feed.id == entry.id).map_or("", |feed| feed.tag);
    let media_type = format!("https://www.iana.org/assignments/media-types/{}", entry.media_type);
    let rights: Vec<Value> = (meta.attribution.iter())
        .map(|text| json!({ "@type": "dct:RightsStatement", "rdfs:label": english(text) }))
        .collect();
    let distribution = json!({
        "@id": format!("{address}#json"),
        "@type": "dcat:Distribution",
        "dct:title": english(&format!("{} as JSON", entry.title)),
        "dcat:accessURL": reference(&address),
        "dcat:downloadURL": reference(&address),
        "dcat:mediaType": reference(&media_type),
        "dct:format": reference(&format!("{AUTHORITY}/file-type/JSON")),
        "dcat:byteSize": { "@value": entry.bytes.to_string(), "@type": "xsd:nonNegativeInteger" },
        "dct:conformsTo": reference(&roads.schema(schema_of(entry))),
        "dct:license": license,
        "dct:modified": date_time(&entry.updated_at.to_string()),
    });
    json!({
        "@id": format!("{address}#dataset"),
        "@type": "dcat:Dataset",
        "dct:identifier": entry.id,
        "dct:title": english(&format!("{}: {}", meta.city.name, entry.title)),
        "dct:description": english(&format!("{}. {}", entry.description, entry.maturity_policy)),
        "dcat:keyword": [english("startups"), english(&meta.city.name), english(tag)],
        "dct:publisher": publisher(host),
        "dcat:contactPoint": contact_point(host),
        "dct:license": license,
        "dct:accessRights": reference(&format!("{AUTHORITY}/access-right/PUBLIC")),
        "dct:accrualPeriodicity": reference(&format!("{AUTHORITY}/frequency/{}", frequency(meta.next_refresh_s))),
        "dct:language": reference(&format!("{AUTHORITY}/language/ENG")),
        "dct:modified": date_time(&entry.updated_at.to_string()),
        "dct:spatial": spatial(meta),
        "dct:rights": rights,
        "dcat:landingPage": reference(&map_page(roads)),
        "dcat:distribution": [distribution],
    })
}

/// Returns the address of the city's map.
fn map_page(roads: &Roads) -> String {
    format!("{}{}", roads.feeds, roads.page(""))
}

/// Returns the address of a feed at this host.
fn of(roads: &Roads, entry: &IndexEntry) -> String {
    format!("{}{}", roads.feeds, entry.path)
}

fn schema_of(entry: &IndexEntry) -> &'static str {
    FEEDS.iter().find(|feed| feed.id == entry.id).map_or("", |feed| feed.schema)
}

fn publisher(host: &HostDescription) -> Value {
    let homepage = host.provider.url.clone().unwrap_or_else(|| format!("{}/map/", host.public_url));
    json!({ "@type": "foaf:Agent", "foaf:name": host.provider.organization, "foaf:homepage": reference(&homepage) })
}

fn contact_point(host: &HostDescription) -> Value {
    let mut point = json!({ "@type": "vcard:Kind", "vcard:fn": host.provider.organization });
    if let (Some(url), Some(fields)) = (host.contact_url(), point.as_object_mut()) {
        fields.insert("vcard:hasURL".to_owned(), reference(url));
    }
    point
}

fn spatial(meta: &Meta) -> Value {
    let [west, south, east, north] = meta.city.bbox;
    let corners = format!(
        "POLYGON(({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south}))"
    );
    json!({
        "@type": "dct:Location",
        "locn:geographicName": english(&meta.city.name),
        "dcat:bbox": { "@value": corners, "@type": "http://www.opengis.net/ont/geosparql#wktLiteral" },
    })
}

fn frequency(seconds: u64) -> &'static str {
    let known = FREQUENCIES.iter().find(|(most, _)| seconds <= *most);
    known.map_or("IRREG", |(_, name)| name)
}

fn reference(url: &str) -> Value {
    json!({ "@id": url })
}

fn english(text: &str) -> Value {
    json!({ "@value": text, "@language": "en" })
}

fn date_time(text: &str) -> Value {
    json!({ "@value": text, "@type": "xsd:dateTime" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_is_the_longest_pause() {
        let names = [60, 3_600, 3_601, 604_800, 40_000_000].map(frequency);
        assert_eq!(names, ["HOURLY", "HOURLY", "DAILY", "WEEKLY", "IRREG"]);
    }
}
