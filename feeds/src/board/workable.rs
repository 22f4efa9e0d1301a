//! Reads Workable's boards. The answer for an unknown account is 404, or has no `jobs`.

use super::{
    BoardError, MOST_TEXT, Page, Posting, first_link, identifier, json, label, opened, page, place,
    terms,
};
use crate::{
    record::{Location, WorkplaceType},
    text::description,
};
use serde::Deserialize;
use serde_json::Value;

pub(super) const BASE: &str = "https://apply.workable.com";

pub(super) fn path(account: &str) -> String {
    format!("/api/v1/widget/accounts/{account}?details=true")
}

#[derive(Deserialize)]
struct Answer {
    jobs: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(default, deserialize_with = "super::nullable")]
    shortcode: Value,
    #[serde(default, deserialize_with = "super::nullable")]
    title: String,
    department: Option<String>,
    employment_type: Option<String>,
    telecommuting: Option<bool>,
    city: Option<String>,
    state: Option<String>,
    country: Option<String>,
    url: Option<String>,
    application_url: Option<String>,
    published_on: Option<String>,
    created_at: Option<String>,
    #[serde(default, deserialize_with = "super::nullable")]
    description: String,
}

pub(super) fn read(bytes: &[u8]) -> Result<Page, BoardError> {
    let answer: Answer = json(bytes)?;
    Ok(page(answer.jobs.ok_or(BoardError::Unknown)?, posting))
}

fn posting(job: Job) -> Result<Option<Posting>, &'static str> {
    let parts = [&job.city, &job.state, &job.country];
    let parts = parts.into_iter().flatten().map(String::as_str).filter(|part| !part.is_empty());
    let location = Location {
        city: label(job.city.as_deref()),
        region: label(job.state.as_deref()),
        country: label(job.country.as_deref()),
        ..place(&parts.collect::<Vec<_>>().join(", "))
    };
    let posted = job.published_on.as_ref().or(job.created_at.as_ref());
    let posting = Posting {
        external_id: identifier(&job.shortcode),
        title: job.title,
        department: label(job.department.as_deref()),
        employment_type: terms::employment(job.employment_type.as_deref()),
        workplace_type: match job.telecommuting {
            Some(true) => WorkplaceType::Remote,
            // The field does not distinguish hybrid work from work on site.
            Some(false) | None => WorkplaceType::Unspecified,
        },
        locations: vec![location],
        date_posted: posted.and_then(|date| date.parse().ok()),
        apply_url: first_link(&[job.application_url.as_deref(), job.url.as_deref()]),
        source_url: first_link(&[job.url.as_deref(), job.application_url.as_deref()]),
        ..Posting::default()
    };
    opened(posting, description(&job.description, MOST_TEXT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EmploymentType;

    #[test]
    fn a_board_is_read() {
        let board = br#"{"name":"Copperleaf Robotics","description":null,"jobs":[
          {"title":"Support Lead","shortcode":"3F9A","department":"Support","employment_type":"Contract","telecommuting":true,
           "city":"San Francisco","state":"California","country":"United States","url":"https://apply.copperleaf.example/j/3F9A",
           "application_url":"https://apply.copperleaf.example/j/3F9A/apply","published_on":"2026-11-03","created_at":"2026-11-01",
           "description":"<p>Help.</p><ul><li>Kindly</li></ul>"}]}"#;
        let page = read(board).unwrap();
        let posting = &page.postings[0];
        assert_eq!(posting.employment_type, EmploymentType::Contractor);
        assert_eq!(posting.workplace_type, WorkplaceType::Remote);
        assert_eq!(posting.locations[0].label, "San Francisco, California, United States");
        assert_eq!(posting.date_posted.unwrap().to_string(), "2026-11-03T00:00:00.000Z");
        assert_eq!(posting.description_text, "Help.\nKindly");
    }

    #[test]
    fn an_answer_without_jobs_is_an_unknown_account_and_no_empty_board() {
        assert!(matches!(read(br#"{"name":null}"#), Err(BoardError::Unknown)));
        assert_eq!(read(br#"{"name":"Copperleaf","jobs":[]}"#).unwrap().entries, 0);
    }
}
