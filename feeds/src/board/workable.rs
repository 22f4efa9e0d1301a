//! Reads Workable's boards. The answer for an unknown account is 404, or has no `jobs`.

use super::{
    BoardError, MOST_TEXT, Page, Posting, Site, Vendor, address, first_link, identifier, json,
    label, opened, page, terms,
};
use crate::{record::WorkplaceType, text::description};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://apply.workable.com",
    path: "/api/v1/widget/accounts/{token}?details=true",
    read,
    skips: None,
    detail: None,
};

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    jobs: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    shortcode: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
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
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    locations: Vec<Place>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description: String,
}

#[derive(Deserialize)]
struct Place {
    city: Option<String>,
    region: Option<String>,
    country: Option<String>,
    /// Whether the employer shows only the other places.
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    hidden: bool,
}

fn read(bytes: &[u8], _: &Site<'_>) -> Result<Page, BoardError> {
    let answer: Answer<'_> = json(bytes)?;
    Ok(page(answer.jobs.ok_or(BoardError::Unknown)?, posting))
}

fn posting(job: Job) -> Result<Option<Posting>, &'static str> {
    let own = address(None, job.city.as_deref(), job.state.as_deref(), job.country.as_deref());
    let shown = job.locations.iter().filter(|place| !place.hidden).map(|place| {
        address(None, place.city.as_deref(), place.region.as_deref(), place.country.as_deref())
    });
    let mut locations = vec![own];
    for location in shown {
        if !locations.iter().any(|known| known.label == location.label) {
            locations.push(location);
        }
    }
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
        locations,
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
    use url::Url;

    fn read(bytes: &[u8]) -> Result<Page, BoardError> {
        let url: Url = VENDOR.base.parse().unwrap();
        super::read(bytes, &Site { base: &url, page: &url })
    }

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
        assert_eq!(posting.description_text.text(), "Help.\nKindly");
    }

    #[test]
    fn an_answer_without_jobs_is_an_unknown_account_and_no_empty_board() {
        assert!(matches!(read(br#"{"name":null}"#), Err(BoardError::Unknown)));
        assert_eq!(read(br#"{"name":"Copperleaf","jobs":[]}"#).unwrap().entries, 0);
    }
}
