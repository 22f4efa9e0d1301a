//! Reads BambooHR's boards. The list has neither dates nor addresses nor descriptions: an opening's page is
//! at `/careers/` and its identifier, and its details have the rest.

use super::{
    BoardError, Detail, MOST_TEXT, Page, Posting, Site, Vendor, address, identifier, json, label,
    opened, page_of, terms,
};
use crate::{
    entries,
    record::{Location, WorkplaceType},
    text::{Description, description},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://{token}.bamboohr.com",
    path: "/careers/list",
    read,
    skips: None,
    detail: Some(Detail { path: "/careers/{id}/detail", complete }),
};

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opening {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    id: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    job_opening_name: String,
    department_label: Option<String>,
    employment_status_label: Option<String>,
    location: Option<Place>,
    ats_location: Option<Place>,
    is_remote: Option<bool>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    location_type: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    city: Option<String>,
    state: Option<String>,
    province: Option<String>,
    country: Option<String>,
    address_country: Option<String>,
}

#[derive(Deserialize)]
struct Details {
    result: DetailResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DetailResult {
    job_opening: DetailOpening,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DetailOpening {
    location: Option<Place>,
    ats_location: Option<Place>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description: String,
    date_posted: Option<String>,
}

fn read(bytes: &[u8], site: &Site<'_>) -> Result<Page, BoardError> {
    let answer: Answer<'_> = json(bytes)?;
    let entries = answer.result.len();
    let (postings, refused) =
        entries::each(answer.result, ("opening", &entries::BY_ID), |opening| {
            posting(opening, site)
        });
    Ok(Page { postings, refused, entries, ..Page::default() })
}

fn posting(opening: Opening, site: &Site<'_>) -> Result<Option<Posting>, &'static str> {
    let id = identifier(&opening.id);
    let page = page_of(site.base, &["careers", &id]);
    let posting = Posting {
        external_id: id,
        title: opening.job_opening_name,
        department: label(opening.department_label.as_deref()),
        employment_type: terms::employment(opening.employment_status_label.as_deref()),
        workplace_type: match (opening.is_remote, identifier(&opening.location_type).as_str()) {
            (_, "2") => WorkplaceType::Hybrid,
            (Some(true), _) | (_, "1") => WorkplaceType::Remote,
            (_, "0") => WorkplaceType::OnSite,
            _ => WorkplaceType::Unspecified,
        },
        locations: located(opening.location.as_ref(), opening.ats_location.as_ref()),
        apply_url: page.clone(),
        source_url: page,
        ..Posting::default()
    };
    opened(posting, Description::default())
}

/// Returns the first of the two places that has a city, or else any.
fn located(own: Option<&Place>, ats: Option<&Place>) -> Vec<Location> {
    let named = |place: &Place| {
        let region = place.state.as_deref().or(place.province.as_deref());
        let country = place.country.as_deref().or(place.address_country.as_deref());
        address(None, place.city.as_deref(), region, country)
    };
    let places: Vec<Location> = [ats, own].into_iter().flatten().map(named).collect();
    let best = places
        .iter()
        .find(|place| place.city.is_some())
        .or_else(|| places.iter().find(|place| !place.label.is_empty()));
    best.cloned().into_iter().collect()
}

fn complete(posting: Posting, bytes: &[u8]) -> Result<Posting, BoardError> {
    let Details { result: DetailResult { job_opening: detail } } = json(bytes)?;
    let text = description(&detail.description, MOST_TEXT);
    let mut places = located(detail.location.as_ref(), detail.ats_location.as_ref());
    places.retain(|place| !place.label.is_empty());
    if let Some(first) = places.first_mut() {
        first.primary = true;
    }
    Ok(Posting {
        locations: if places.is_empty() { posting.locations } else { places },
        date_posted: detail.date_posted.and_then(|date| date.parse().ok()),
        description_html: text.html.into(),
        description_text: text.text.into(),
        ..posting
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{board::Board, record::Ats};

    #[test]
    fn the_list_is_read_and_the_details_complete_it() {
        let board = Board { ats: Ats::Bamboohr, token: "copperleaf".to_owned(), base: None };
        let list = r#"{"meta":{"totalCount":2},"result":[
          {"id":"36","jobOpeningName":"Paramedic \/ Driver ","departmentLabel":"Fleet","employmentStatusLabel":"Part-Time",
           "location":{"city":null,"state":null},"atsLocation":{"country":null,"state":null,"province":"Vaud","city":"Lausanne"},
           "isRemote":null,"locationType":"1"},
          {"id":"37","jobOpeningName":null,"location":null}]}"#;
        let page = board.read(list.as_bytes(), &board.first().unwrap()).unwrap();
        assert_eq!((page.postings.len(), page.refused.len()), (1, 1));
        let posting = &page.postings[0];
        assert_eq!(posting.source_url, "https://copperleaf.bamboohr.com/careers/36");
        assert_eq!(posting.workplace_type, WorkplaceType::Remote);
        assert_eq!(posting.locations[0].label, "Lausanne, Vaud");
        let detail = board.detail(posting).unwrap();
        assert_eq!(detail.as_str(), "https://copperleaf.bamboohr.com/careers/36/detail");
        let text = r#"{"meta":{},"result":{"jobOpening":{"jobOpeningName":"Paramedic","location":{"city":null},
          "atsLocation":{"country":"Switzerland","state":"Vaud","city":"Lausanne"},"description":"<p>Drive.\u00a0<\/p>",
          "compensation":"80k to 90k","datePosted":"2026-11-02"}}}"#;
        let posting = board.complete(posting.clone(), text.as_bytes()).unwrap();
        assert_eq!(posting.description_text.text(), "Drive.");
        assert_eq!(posting.locations[0].label, "Lausanne, Vaud, Switzerland");
        assert!(posting.locations[0].primary);
        assert_eq!(posting.date_posted.unwrap().to_string(), "2026-11-02T00:00:00.000Z");
    }
}
