//! Reads SmartRecruiters' boards. The list has no descriptions: each posting's details have them. The
//! answer for an unknown company is an empty list. `ref` is a URL of the API, not a page for people.

use super::{
    BoardError, Detail as Details, MOST_TEXT, Page, Posting, Site, Vendor, first_link, identifier,
    json, label, opened, page, page_of, place, terms,
};
use crate::{
    record::{Location, WorkplaceType},
    text::{Description, description},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://api.smartrecruiters.com",
    path: "/v1/companies/{token}/postings?limit=100&offset=0",
    read,
    skips: Some("offset"),
    detail: Some(Details { path: "/v1/companies/{token}/postings/{id}", complete }),
};
/// The site with the postings' pages, for postings whose details cannot be fetched.
const PAGES: &str = "https://jobs.smartrecruiters.com";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    total_found: usize,
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    id: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    name: String,
    released_date: Option<String>,
    company: Option<Company>,
    location: Option<Place>,
    department: Option<Labelled>,
    function: Option<Labelled>,
    type_of_employment: Option<Labelled>,
    experience_level: Option<Labelled>,
    visibility: Option<String>,
}

#[derive(Deserialize)]
struct Company {
    identifier: Option<String>,
}

#[derive(Deserialize)]
struct Labelled {
    label: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    city: Option<String>,
    region: Option<String>,
    country: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    remote: bool,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    hybrid: bool,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    latitude: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    longitude: Value,
    full_location: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    job_ad: Option<JobAd>,
    apply_url: Option<String>,
    posting_url: Option<String>,
}

#[derive(Deserialize)]
struct JobAd {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    sections: Sections,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sections {
    company_description: Option<Section>,
    job_description: Option<Section>,
    qualifications: Option<Section>,
    additional_information: Option<Section>,
}

#[derive(Deserialize)]
struct Section {
    title: Option<String>,
    text: Option<String>,
}

fn read(bytes: &[u8], _: &Site<'_>) -> Result<Page, BoardError> {
    let answer: Answer<'_> = json(bytes)?;
    Ok(Page { total: Some(answer.total_found), ..page(answer.content, posting) })
}

fn posting(job: Job) -> Result<Option<Posting>, &'static str> {
    if job
        .visibility
        .as_deref()
        .is_some_and(|visibility| visibility.eq_ignore_ascii_case("private"))
    {
        return Ok(None);
    }
    let text =
        |field: Option<&Labelled>| field.and_then(|labelled| label(labelled.label.as_deref()));
    let place = job.location.as_ref();
    let id = identifier(&job.id);
    let company = job.company.and_then(|company| company.identifier).unwrap_or_default();
    let url =
        url::Url::parse(PAGES).map(|base| page_of(&base, &[&company, &id])).unwrap_or_default();
    let posting = Posting {
        external_id: id,
        title: job.name,
        department: text(job.department.as_ref()),
        team: text(job.function.as_ref()),
        level: text(job.experience_level.as_ref()),
        employment_type: terms::employment(text(job.type_of_employment.as_ref()).as_deref()),
        workplace_type: match place {
            Some(place) if place.hybrid => WorkplaceType::Hybrid,
            Some(place) if place.remote => WorkplaceType::Remote,
            Some(_) => WorkplaceType::OnSite,
            None => WorkplaceType::Unspecified,
        },
        locations: place.map(located).into_iter().collect(),
        date_posted: job.released_date.and_then(|date| date.parse().ok()),
        apply_url: url.clone(),
        source_url: url,
        ..Posting::default()
    };
    opened(posting, Description::default())
}

fn located(from: &Place) -> Location {
    let parts = [&from.city, &from.region, &from.country];
    let parts = parts.into_iter().flatten().map(String::as_str).filter(|part| !part.is_empty());
    let name = from.full_location.clone().unwrap_or_else(|| parts.collect::<Vec<_>>().join(", "));
    let degrees = |value: &Value, most: f64| {
        let number: Option<f64> = identifier(value).parse().ok();
        number.filter(|number| number.abs() <= most)
    };
    Location {
        city: label(from.city.as_deref()),
        region: label(from.region.as_deref()),
        country: label(from.country.as_deref()),
        lat: degrees(&from.latitude, 90.0),
        lng: degrees(&from.longitude, 180.0),
        ..place(&name)
    }
}

fn complete(posting: Posting, bytes: &[u8]) -> Result<Posting, BoardError> {
    let detail: Detail = json(bytes)?;
    let sections = detail.job_ad.map(|ad| ad.sections).unwrap_or_default();
    let html: String = [
        sections.job_description,
        sections.qualifications,
        sections.additional_information,
        sections.company_description,
    ]
    .into_iter()
    .flatten()
    .filter_map(|section| {
        let heading = crate::text::some_line(section.title.as_deref(), 200);
        let heading = heading.map(|heading| format!("<h3>{heading}</h3>")).unwrap_or_default();
        Some(format!("{heading}{}", section.text?))
    })
    .collect();
    let Description { html, text } = description(&html, MOST_TEXT);
    let link = |address: Option<&str>, known: &str| first_link(&[address, Some(known)]);
    Ok(Posting {
        apply_url: link(detail.apply_url.as_deref(), &posting.apply_url),
        source_url: link(detail.posting_url.as_deref(), &posting.source_url),
        description_html: html.into(),
        description_text: text.into(),
        ..posting
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::Board,
        record::{Ats, EmploymentType},
    };
    use url::Url;

    fn read(bytes: &[u8]) -> Result<Page, BoardError> {
        let url: Url = VENDOR.base.parse().unwrap();
        super::read(bytes, &Site { base: &url, page: &url })
    }

    const LIST: &str = r#"{"offset":0,"limit":100,"totalFound":102,"content":[
      {"id":"744","uuid":"u","name":"Data Analyst","refNumber":"R1","releasedDate":"2026-11-01T10:00:00.000Z","visibility":"PUBLIC",
       "company":{"identifier":"Copperleaf","name":"Copperleaf Robotics"},
       "location":{"city":"San Francisco","region":"CA","country":"us","remote":true,"hybrid":true,"latitude":"37.7749","longitude":"-122.4194","fullLocation":"San Francisco, CA, United States"},
       "department":{"label":"Data"},"function":{"id":"it","label":"Information Technology"},
       "typeOfEmployment":{"id":"permanent","label":"Full-time"},"experienceLevel":{"label":"Associate"},
       "ref":"https://api.smartrecruiters.com/v1/companies/Copperleaf/postings/744"},
      {"id":"745","name":"Secret","visibility":"PRIVATE"}]}"#;

    #[test]
    fn a_list_is_read_and_what_is_private_left_out() {
        let page = read(LIST.as_bytes()).unwrap();
        assert_eq!((page.postings.len(), page.entries, page.total), (1, 2, Some(102)));
        let posting = &page.postings[0];
        assert_eq!(posting.workplace_type, WorkplaceType::Hybrid);
        assert_eq!(posting.employment_type, EmploymentType::FullTime);
        assert_eq!(posting.locations[0].lat, Some(37.7749));
        assert!(!posting.source_url.contains("api."), "{}", posting.source_url);
    }

    #[test]
    fn the_detail_completes_it() {
        let posting = read(LIST.as_bytes()).unwrap().postings.remove(0);
        let detail = br#"{"id":"744","applyUrl":"https://careers.copperleaf.example/744/apply","postingUrl":"javascript:x()",
          "jobAd":{"sections":{"companyDescription":{"title":"Us","text":"<p>Kind.</p>"},
          "jobDescription":{"title":"The role","text":"<p>Count.</p><script>x()</script>"},"qualifications":null}}}"#;
        let source_url = posting.source_url.clone();
        let posting = complete(posting, detail).unwrap();
        assert_eq!(posting.description_text.text(), "The role\nCount.\nUs\nKind.");
        assert_eq!(posting.apply_url, "https://careers.copperleaf.example/744/apply");
        assert_eq!(posting.source_url, source_url);
    }

    #[test]
    fn pages_end_with_the_total_and_an_unknown_company_is_doubted() {
        let board = Board { ats: Ats::Smartrecruiters, token: "Copperleaf".to_owned(), base: None };
        let page = read(LIST.as_bytes()).unwrap();
        assert!(board.next(&page, 98).unwrap().as_str().ends_with("?limit=100&offset=100"));
        assert_eq!(board.next(&page, 100), None);
        let nothing = read(br#"{"offset":0,"limit":100,"totalFound":0,"content":[]}"#).unwrap();
        assert_eq!(board.next(&nothing, 0), None);
        assert!(board.doubt(&nothing).is_some());
        assert!(board.doubt(&page).is_none());
        assert_eq!(
            board.detail(&page.postings[0]).unwrap().as_str(),
            "https://api.smartrecruiters.com/v1/companies/Copperleaf/postings/744"
        );
    }
}
