//! Reads Lever's boards. The answer is a JSON array. A page with fewer entries than the limit is the last
//! one. The employer's name is not in the answer.

use super::{
    BoardError, MOST_TEXT, Page, Posting, Site, Vendor, first_link, identifier, json, label,
    opened, page, place, terms,
};
use crate::{
    record::Location,
    text::{description, plain_description},
    timestamp::Timestamp,
};
use serde::Deserialize;
use serde_json::Value;

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://api.lever.co",
    path: "/v0/postings/{token}?mode=json&skip=0&limit=100",
    read,
    skips: Some("skip"),
    detail: None,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    id: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    text: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    categories: Categories,
    country: Option<String>,
    workplace_type: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description_plain: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    lists: Vec<Section>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    additional_plain: String,
    salary_range: Option<Range>,
    hosted_url: Option<String>,
    apply_url: Option<String>,
    created_at: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Categories {
    location: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    all_locations: Vec<String>,
    commitment: Option<String>,
    team: Option<String>,
    department: Option<String>,
    level: Option<String>,
}

/// A section of the description: a heading, and list items as HTML.
#[derive(Deserialize)]
struct Section {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    text: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    content: String,
}

#[derive(Deserialize)]
struct Range {
    currency: Option<String>,
    interval: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::number")]
    min: Option<f64>,
    #[serde(default, deserialize_with = "crate::entries::number")]
    max: Option<f64>,
}

fn read(bytes: &[u8], _: &Site<'_>) -> Result<Page, BoardError> {
    Ok(page(json(bytes)?, posting))
}

fn posting(job: Job) -> Result<Option<Posting>, &'static str> {
    let mut labels: Vec<&String> = job.categories.location.iter().collect();
    labels.extend(&job.categories.all_locations);
    let mut locations: Vec<Location> = Vec::new();
    for label in labels {
        let country = job.country.clone();
        let location = Location { country, ..place(label) };
        if !locations.iter().any(|known| known.label == location.label) {
            locations.push(location);
        }
    }
    let sections = job.lists.iter().map(|list| {
        let heading = crate::text::line(&list.text, 200);
        format!("<h3>{heading}</h3><ul>{}</ul>", list.content)
    });
    let before = match job.description_plain.trim().is_empty() {
        true => job.description,
        false => plain_description(&job.description_plain, MOST_TEXT).html,
    };
    let after = plain_description(&job.additional_plain, MOST_TEXT).html;
    let html = format!("{before}{}{after}", sections.collect::<String>());
    let posting = Posting {
        external_id: identifier(&job.id),
        title: job.text,
        department: label(job.categories.department.as_deref()),
        team: label(job.categories.team.as_deref()),
        level: label(job.categories.level.as_deref()),
        employment_type: terms::employment(job.categories.commitment.as_deref()),
        workplace_type: terms::workplace(job.workplace_type.as_deref()),
        locations,
        base_salary: job.salary_range.and_then(|range| {
            let interval = range.interval.as_deref();
            terms::salary(range.currency.as_deref(), (range.min, range.max), interval)
        }),
        date_posted: job.created_at.map(Timestamp::from_millis),
        apply_url: first_link(&[job.apply_url.as_deref(), job.hosted_url.as_deref()]),
        source_url: first_link(&[job.hosted_url.as_deref(), job.apply_url.as_deref()]),
        ..Posting::default()
    };
    opened(posting, description(&html, MOST_TEXT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{Board, PAGE},
        record::{Ats, EmploymentType, SalaryUnit, WorkplaceType},
    };
    use url::Url;

    fn read(bytes: &[u8]) -> Result<Page, BoardError> {
        let url: Url = VENDOR.base.parse().unwrap();
        super::read(bytes, &Site { base: &url, page: &url })
    }

    const BOARD: &str = r#"[
      {"id":"5ac2","text":"Account Executive","country":"US","workplaceType":"onsite","createdAt":1795285800000,
       "categories":{"location":"San Francisco","allLocations":["San Francisco","Oakland"],"commitment":"Full-time",
                     "team":"Sales","department":"Revenue","level":"Senior"},
       "descriptionPlain":"Sell robots.\n\nCall (415) 555-0142 <now>.",
       "lists":[{"text":"You will","content":"<li>Listen</li><li onclick=x()>Close</li>"}],
       "additionalPlain":"We are kind.","salaryRange":{"currency":"USD","interval":"per-hour-wage","min":60,"max":80},
       "hostedUrl":"https://jobs.copperleaf.example/5ac2","applyUrl":"https://jobs.copperleaf.example/5ac2/apply"},
      {"id":"5ac3","text":"","hostedUrl":"https://jobs.copperleaf.example/5ac3"},
      {"id":"5ac4","text":"Null categories","categories":null}]"#;

    #[test]
    fn a_board_is_read() {
        let page = read(BOARD.as_bytes()).unwrap();
        assert_eq!((page.postings.len(), page.refused.len()), (1, 2));
        let posting = &page.postings[0];
        assert_eq!(posting.employment_type, EmploymentType::FullTime);
        assert_eq!(posting.workplace_type, WorkplaceType::OnSite);
        let labels: Vec<_> =
            posting.locations.iter().map(|location| location.label.as_str()).collect();
        assert_eq!(labels, ["San Francisco", "Oakland"]);
        assert_eq!(posting.date_posted.unwrap().to_string(), "2026-11-21T18:30:00.000Z");
        assert_eq!(posting.base_salary.as_ref().unwrap().unit, SalaryUnit::Hour);
        assert_eq!(posting.apply_url, "https://jobs.copperleaf.example/5ac2/apply");
        assert_eq!(
            posting.description_text.text(),
            "Sell robots.\nCall [removed] <now>.\nYou will\nListen\nClose\nWe are kind."
        );
        assert!(!posting.description_html.text().contains("onclick"));
    }

    #[test]
    fn pages_are_asked_for_until_a_short_one() {
        let board = Board { ats: Ats::Lever, token: "copper leaf".to_owned(), base: None };
        let full = Page { entries: PAGE, ..Page::default() };
        assert_eq!(
            board.next(&full, PAGE).unwrap().as_str(),
            "https://api.lever.co/v0/postings/copper+leaf?mode=json&limit=100&skip=200"
        );
        assert_eq!(board.next(&Page { entries: PAGE - 1, ..Page::default() }, 0), None);
    }

    #[test]
    fn an_object_is_no_board() {
        assert!(read(br#"{"ok":false,"error":"Document not found"}"#).is_err());
    }
}
