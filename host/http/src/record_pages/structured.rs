//! Structured data about records: JSON-LD in the terms of schema.org, for search engines and agents.

use super::{
    records::{Company, Event, Person, Role},
    words::web,
};
use portolan_publication::Roads;
use serde_json::{Map, Value};

const CONTEXT: &str = "https://schema.org";

/// The addresses of pages, for references between them.
pub(super) struct Addresses<'a> {
    pub(super) roads: &'a Roads,
}

impl Addresses<'_> {
    pub(super) fn company(&self, id: &str) -> String {
        self.page(&format!("companies/{id}"))
    }

    pub(super) fn person(&self, id: &str) -> String {
        self.page(&format!("people/{id}"))
    }

    fn page(&self, page: &str) -> String {
        format!("{}{}", self.roads.feeds, self.roads.page(page))
    }
}

/// Returns the JSON text of a value as it may stand in a script element: no character in it can end the
/// element or a line.
pub(super) fn embedded(value: &Value) -> String {
    let text = value.to_string();
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Returns an object without the fields that are empty.
fn object<const N: usize>(kind: &str, fields: [(&str, Value); N]) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let mut object = Map::from_iter([("@type".to_owned(), kind.into())]);
    let fields = fields.into_iter().filter(|(_, value)| !is_empty(value));
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(object)
}

fn with_context(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("@context".to_owned(), CONTEXT.into());
    }
    object
}

/// Returns what names a company in another record.
fn reference(company: &Company, addresses: &Addresses<'_>) -> Value {
    let Company { id, properties } = company;
    let website = properties.website.as_deref().and_then(web);
    let fields = [
        ("@id", addresses.company(id).into()),
        ("name", properties.name.clone().into()),
        ("url", website.into()),
    ];
    object("Organization", fields)
}

pub(super) fn organization(
    company: &Company,
    founders: &[Person],
    (city, country): (&str, &str),
    addresses: &Addresses<'_>,
) -> Value {
    let Company { id, properties } = company;
    let (low, high) = team(properties.team_size_band.as_deref());
    let employees =
        object("QuantitativeValue", [("minValue", low.into()), ("maxValue", high.into())]);
    let geo = match (properties.geo.lat, properties.geo.lng) {
        (Some(lat), Some(lng)) => {
            object("GeoCoordinates", [("latitude", lat.into()), ("longitude", lng.into())])
        }
        _ => Value::Null,
    };
    let address = object(
        "PostalAddress",
        [("addressLocality", city.into()), ("addressCountry", country.into())],
    );
    let founders = founders.iter().map(|person| {
        let url = addresses.person(&person.id);
        object("Person", [("@id", url.into()), ("name", person.full_name.clone().into())])
    });
    with_context(object(
        "Organization",
        [
            ("@id", addresses.company(id).into()),
            ("name", properties.name.clone().into()),
            ("legalName", properties.legal_name.clone().into()),
            ("description", first(&[&properties.description, &properties.tagline]).into()),
            ("url", properties.website.as_deref().and_then(web).into()),
            ("mainEntityOfPage", addresses.company(id).into()),
            ("foundingDate", properties.founded_year.map(|year| year.to_string()).into()),
            ("numberOfEmployees", if low.is_some() { employees } else { Value::Null }),
            ("address", address.clone()),
            ("location", object("Place", [("address", address), ("geo", geo)])),
            ("keywords", [&*properties.industries, &*properties.tags].concat().into()),
            ("founder", founders.collect::<Vec<_>>().into()),
        ],
    ))
}

/// Returns the least and the most of a band such as "11-50" or "500+".
fn team(band: Option<&str>) -> (Option<u32>, Option<u32>) {
    let band = band.unwrap_or_default();
    match band.strip_suffix('+') {
        Some(least) => (least.parse().ok(), None),
        None => {
            let (least, most) = band.split_once('-').unwrap_or_default();
            (least.parse().ok(), most.parse().ok())
        }
    }
}

/// Returns a role as the feeds describe it, with the whole description and its page.
pub(super) fn job_posting(
    role: &Role,
    company: Option<&Company>,
    description: &str,
    page: &str,
    addresses: &Addresses<'_>,
) -> Value {
    let employer = company.map(|company| reference(company, addresses));
    let mut fields = match &role.schema_org {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    fields.retain(|_, value| !value.is_null());
    fields.insert("@context".to_owned(), CONTEXT.into());
    fields.insert("@type".to_owned(), "JobPosting".into());
    fields.insert("@id".to_owned(), page.into());
    fields.insert("url".to_owned(), page.into());
    fields.entry("title".to_owned()).or_insert_with(|| role.title.clone().into());
    if !description.is_empty() {
        fields.insert("description".to_owned(), description.into());
    }
    if let Some(employer) = employer {
        fields.insert("hiringOrganization".to_owned(), employer);
    }
    Value::Object(fields)
}

pub(super) fn person(
    person: &Person,
    company: Option<&Company>,
    page: &str,
    addresses: &Addresses<'_>,
) -> Value {
    let links = person.links.iter().filter_map(|link| web(&link.url));
    with_context(object(
        "Person",
        [
            ("@id", page.into()),
            ("name", person.full_name.clone().into()),
            ("jobTitle", person.title.clone().into()),
            ("description", person.public_bio.clone().into()),
            ("worksFor", company.map(|company| reference(company, addresses)).into()),
            ("knowsAbout", person.expertise.clone().into()),
            ("sameAs", links.collect::<Vec<_>>().into()),
            ("mainEntityOfPage", page.into()),
        ],
    ))
}

/// Returns an event: a meeting with a time as `Event`, any other as the article that reports it.
pub(super) fn event(
    event: &Event,
    companies: &[Company],
    page: &str,
    addresses: &Addresses<'_>,
) -> Value {
    let about: Vec<Value> = companies.iter().map(|company| reference(company, addresses)).collect();
    let source = event.map.sources.first();
    let publisher =
        source.map(|source| object("Organization", [("name", source.publisher.clone().into())]));
    let url = event.url.as_deref().and_then(web);
    if let (Some(starts_at), "meetup") = (&event.map.starts_at, &*event.map.kind) {
        return with_context(object(
            "Event",
            [
                ("@id", page.into()),
                ("name", event.title.clone().into()),
                ("description", event.summary.clone().into()),
                ("startDate", starts_at.clone().into()),
                ("url", url.into()),
                ("about", about.into()),
                ("mainEntityOfPage", page.into()),
            ],
        ));
    }
    with_context(object(
        "NewsArticle",
        [
            ("headline", event.title.clone().into()),
            ("description", event.summary.clone().into()),
            ("datePublished", event.date_published.clone().into()),
            ("url", url.unwrap_or(page).into()),
            ("publisher", publisher.into()),
            ("about", about.into()),
            ("mainEntityOfPage", page.into()),
        ],
    ))
}

fn first<'a>(texts: &[&'a String]) -> &'a str {
    texts.iter().map(|text| text.as_str()).find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_in_the_text_ends_the_script_or_a_line() {
        let hostile = json!({ "name": "</script><script>x()//\u{2028}\u{2029}<!--&amp;]]>" });
        let text = embedded(&hostile);
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hostile);
    }

    #[test]
    fn the_band_of_a_team_is_a_range() {
        assert_eq!(team(Some("11-50")), (Some(11), Some(50)));
        assert_eq!(team(Some("500+")), (Some(500), None));
        assert_eq!(team(Some("many")), (None, None));
        assert_eq!(team(None), (None, None));
    }

    #[test]
    fn a_role_keeps_what_the_feed_says_of_it_without_empty_fields() {
        let role = Role {
            title: "Engineer".to_owned(),
            schema_org: json!({ "@type": "Thing", "title": "Engineer", "validThrough": null, "url": "https://elsewhere.example" }),
            ..Role::default()
        };
        let roads = Roads::of_host("https://map.example", None);
        let addresses = Addresses { roads: &roads };
        let posting =
            job_posting(&role, None, "<p>All</p>", "https://map.example/map/roles/r", &addresses);
        assert_eq!(
            posting,
            json!({ "@context": CONTEXT, "@type": "JobPosting", "@id": "https://map.example/map/roles/r", "title": "Engineer", "url": "https://map.example/map/roles/r", "description": "<p>All</p>" })
        );
        let bare = job_posting(&Role { schema_org: json!("x"), ..role }, None, "", "p", &addresses);
        assert_eq!(bare["title"], "Engineer");
    }
}
