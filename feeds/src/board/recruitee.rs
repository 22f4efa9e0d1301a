//! Reads Recruitee's boards. Amounts are texts, and an offer may be on site, hybrid and remote at once.

use super::{
    BoardError, MOST_TEXT, Page, Posting, Site, Vendor, address, first_link, identifier, json,
    label, opened, page, terms,
};
use crate::{
    record::{Location, WorkplaceType},
    text::description,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://{token}.recruitee.com",
    path: "/api/offers/",
    read,
    skips: None,
    detail: None,
};

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    offers: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Offer {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    id: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    guid: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    title: String,
    status: Option<String>,
    department: Option<String>,
    employment_type_code: Option<String>,
    experience_code: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    remote: bool,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    hybrid: bool,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    on_site: bool,
    location: Option<String>,
    city: Option<String>,
    state_name: Option<String>,
    country: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    locations: Vec<Place>,
    salary: Option<Pay>,
    published_at: Option<String>,
    created_at: Option<String>,
    careers_url: Option<String>,
    careers_apply_url: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    requirements: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    translations: std::collections::BTreeMap<String, Option<Translation>>,
}

/// The texts in one language; an offer may have no others.
#[derive(Default, Deserialize)]
struct Translation {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    title: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    requirements: String,
}

#[derive(Deserialize)]
struct Place {
    name: Option<String>,
    city: Option<String>,
    state: Option<String>,
    country: Option<String>,
}

#[derive(Deserialize)]
struct Pay {
    #[serde(default, deserialize_with = "crate::entries::number")]
    min: Option<f64>,
    #[serde(default, deserialize_with = "crate::entries::number")]
    max: Option<f64>,
    period: Option<String>,
    currency: Option<String>,
}

fn read(bytes: &[u8], _: &Site<'_>) -> Result<Page, BoardError> {
    let answer: Answer<'_> = json(bytes)?;
    Ok(page(answer.offers, posting))
}

fn posting(offer: Offer) -> Result<Option<Posting>, &'static str> {
    if offer.status.as_deref().is_some_and(|status| status != "published") {
        return Ok(None);
    }
    let translated = offer.translations.get("en").or_else(|| offer.translations.values().next());
    let first = |own: String, other: fn(&Translation) -> &String| match own.trim().is_empty() {
        true => translated.and_then(Option::as_ref).map(other).cloned().unwrap_or_default(),
        false => own,
    };
    let html = [
        first(offer.description, |text| &text.description),
        first(offer.requirements, |text| &text.requirements),
    ];
    let title = first(offer.title, |text| &text.title);
    let mut locations: Vec<Location> = offer.locations.iter().map(located).collect();
    if locations.is_empty() {
        let (city, region) = (offer.city.as_deref(), offer.state_name.as_deref());
        locations.push(address(None, city, region, offer.country.as_deref()));
    }
    let place = locations.first().map(|location| location.label.is_empty());
    if place.unwrap_or(true) {
        locations = vec![super::place(offer.location.as_deref().unwrap_or_default())];
    }
    let posting = Posting {
        external_id: [&offer.id, &offer.guid]
            .into_iter()
            .map(identifier)
            .find(|id| !id.is_empty())
            .unwrap_or_default(),
        title,
        department: label(offer.department.as_deref()),
        level: label(offer.experience_code.as_deref()),
        employment_type: terms::employment(offer.employment_type_code.as_deref()),
        workplace_type: match (offer.hybrid, offer.remote, offer.on_site) {
            (true, _, _) | (_, true, true) => WorkplaceType::Hybrid,
            (_, true, _) => WorkplaceType::Remote,
            (_, _, true) => WorkplaceType::OnSite,
            _ => WorkplaceType::Unspecified,
        },
        locations,
        base_salary: offer.salary.and_then(|pay| {
            let period = pay.period.as_deref();
            terms::salary(pay.currency.as_deref(), (pay.min, pay.max), period)
        }),
        date_posted: (offer.published_at.or(offer.created_at)).and_then(|date| date.parse().ok()),
        apply_url: first_link(&[offer.careers_apply_url.as_deref(), offer.careers_url.as_deref()]),
        source_url: first_link(&[offer.careers_url.as_deref(), offer.careers_apply_url.as_deref()]),
        ..Posting::default()
    };
    opened(posting, description(&html.concat(), MOST_TEXT))
}

fn located(place: &Place) -> Location {
    let city = place.city.as_deref().or(place.name.as_deref());
    address(None, city, place.state.as_deref(), place.country.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{EmploymentType, SalaryUnit};

    fn only(text: &str) -> Posting {
        let url = "https://copperleaf.recruitee.com".parse().unwrap();
        let mut page = read(text.as_bytes(), &Site { base: &url, page: &url }).unwrap();
        assert_eq!(page.refused, []);
        page.postings.remove(0)
    }

    #[test]
    fn a_board_is_read() {
        let posting = only(
            r#"{"offers":[{"id":31,"guid":"ab1","slug":"welder","status":"published","title":"Welder",
            "department":"Yard\u200b","employment_type_code":"fulltime_permanent","hybrid":true,"remote":true,"on_site":false,
            "locations":[{"id":1,"name":"Yard 2","city":"Rotterdam","state":"Zuid-Holland","country":"Netherlands","country_code":"NL","street":"Kade 1"}],
            "salary":{"min":"3200","max":"3900","period":"month","currency":"EUR"},"published_at":"2026-11-05 09:41:37 UTC",
            "careers_url":"https://jobs.copperleaf.example/o/welder","careers_apply_url":"https://jobs.copperleaf.example/o/welder/c/new",
            "mailbox_email":"job.ab1@copperleaf.example","description":"<p>Weld.</p>","requirements":null,"translations":{}},
            {"id":32,"status":"internal","title":"Not open"}]}"#,
        );
        assert_eq!(posting.external_id, "31");
        assert_eq!(posting.workplace_type, WorkplaceType::Hybrid);
        assert_eq!(posting.employment_type, EmploymentType::FullTime);
        assert_eq!(posting.locations[0].label, "Rotterdam, Zuid-Holland, Netherlands");
        let salary = posting.base_salary.unwrap();
        assert_eq!((salary.min, salary.unit), (Some(3_200.0), SalaryUnit::Month));
        assert_eq!(posting.date_posted.unwrap().to_string(), "2026-11-05T09:41:37.000Z");
        assert_eq!(posting.department.as_deref(), Some("Yard"));
    }

    #[test]
    fn texts_that_are_only_translated_are_read() {
        let posting = only(
            r#"{"offers":[{"guid":"ab2","location":"Remote job","remote":true,"careers_url":"https://jobs.copperleaf.example/o/x",
            "salary":{"min":null,"max":null,"period":null,"currency":null},
            "translations":{"de":{"title":"Schreiber","description":"<p>Schreiben.</p>"},"fr":null}}]}"#,
        );
        assert_eq!((posting.title.as_str(), posting.external_id.as_str()), ("Schreiber", "ab2"));
        assert_eq!(posting.description_text.text(), "Schreiben.");
        assert_eq!(posting.locations[0].label, "Remote job");
        assert_eq!(posting.base_salary, None);
    }
}
