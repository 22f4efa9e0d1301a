//! Reads Ashby's boards. Postings that are not listed are left out. Pay is read only where the employer
//! shows it. If `workplaceType` and `isRemote` disagree, `workplaceType` counts.

use super::{
    BoardError, MOST_TEXT, Page, Posting, Site, Vendor, first_link, identifier, json, label,
    opened, page, place, terms,
};
use crate::{
    record::{Location, Salary, WorkplaceType},
    text::{description, plain_description},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://api.ashbyhq.com",
    path: "/posting-api/job-board/{token}?includeCompensation=true",
    read,
    skips: None,
    detail: None,
};

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    jobs: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    id: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    title: String,
    department: Option<String>,
    team: Option<String>,
    employment_type: Option<String>,
    location: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    secondary_locations: Vec<Secondary>,
    address: Option<Address>,
    is_remote: Option<bool>,
    workplace_type: Option<String>,
    published_at: Option<String>,
    job_url: Option<String>,
    apply_url: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description_plain: String,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    description_html: String,
    #[serde(default = "listed")]
    is_listed: bool,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    should_display_compensation_on_job_postings: bool,
    compensation: Option<Compensation>,
}

fn listed() -> bool {
    true
}

#[derive(Deserialize)]
struct Secondary {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    location: String,
    address: Option<Address>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Address {
    postal_address: Option<Postal>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Postal {
    address_locality: Option<String>,
    address_region: Option<String>,
    address_country: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compensation {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    summary_components: Vec<Component>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Component {
    compensation_type: Option<String>,
    interval: Option<String>,
    currency_code: Option<String>,
    min_value: Option<f64>,
    max_value: Option<f64>,
}

fn read(bytes: &[u8], _: &Site<'_>) -> Result<Page, BoardError> {
    let answer: Answer<'_> = json(bytes)?;
    Ok(page(answer.jobs, posting))
}

fn located(name: &str, address: Option<&Address>) -> Location {
    let postal = address.and_then(|address| address.postal_address.as_ref());
    Location {
        city: postal.and_then(|postal| label(postal.address_locality.as_deref())),
        region: postal.and_then(|postal| label(postal.address_region.as_deref())),
        country: postal.and_then(|postal| label(postal.address_country.as_deref())),
        ..place(name)
    }
}

fn posting(job: Job) -> Result<Option<Posting>, &'static str> {
    if !job.is_listed {
        return Ok(None);
    }
    let mut locations =
        vec![located(job.location.as_deref().unwrap_or_default(), job.address.as_ref())];
    locations.extend(
        job.secondary_locations
            .iter()
            .map(|secondary| located(&secondary.location, secondary.address.as_ref())),
    );
    let workplace_type = match terms::workplace(job.workplace_type.as_deref()) {
        WorkplaceType::Unspecified if job.is_remote == Some(true) => WorkplaceType::Remote,
        stated => stated,
    };
    let shown = job.should_display_compensation_on_job_postings;
    let text = match job.description_html.is_empty() {
        true => plain_description(&job.description_plain, MOST_TEXT),
        false => description(&job.description_html, MOST_TEXT),
    };
    let posting = Posting {
        external_id: identifier(&job.id),
        title: job.title,
        department: label(job.department.as_deref()),
        team: label(job.team.as_deref()),
        employment_type: terms::employment(job.employment_type.as_deref()),
        workplace_type,
        locations,
        base_salary: job
            .compensation
            .filter(|_| shown)
            .and_then(|compensation| salary(&compensation)),
        date_posted: job.published_at.and_then(|date| date.parse().ok()),
        apply_url: first_link(&[job.apply_url.as_deref(), job.job_url.as_deref()]),
        source_url: first_link(&[job.job_url.as_deref(), job.apply_url.as_deref()]),
        ..Posting::default()
    };
    opened(posting, text)
}

/// Returns the salary; the other components are equity and bonuses.
fn salary(compensation: &Compensation) -> Option<Salary> {
    let mut parts = compensation.summary_components.iter();
    let part = parts.find(|part| part.compensation_type.as_deref() == Some("Salary"))?;
    let range = (part.min_value, part.max_value);
    terms::salary(part.currency_code.as_deref(), range, part.interval.as_deref())
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

    fn job(more: &str) -> String {
        format!(
            r#"{{"apiVersion":"1","jobs":[{{"id":"a1","title":"Designer","employmentType":"PartTime","location":"San Francisco",
            "address":{{"postalAddress":{{"addressLocality":"San Francisco","addressRegion":"California","addressCountry":"USA"}}}},
            "secondaryLocations":[{{"location":"Berkeley","address":null}}],"publishedAt":"2026-11-01T10:00:00.000+00:00",
            "jobUrl":"https://jobs.copperleaf.example/a1","applyUrl":"https://jobs.copperleaf.example/a1/application",
            "descriptionPlain":"Draw.","descriptionHtml":"<p>Draw.</p><img src=x onerror=x()>",
            "compensation":{{"compensationTierSummary":"$1","summaryComponents":[
              {{"compensationType":"EquityPercentage","interval":"NONE","minValue":0.1,"maxValue":0.2}},
              {{"compensationType":"Salary","interval":"1 YEAR","currencyCode":"USD","minValue":90000,"maxValue":120000}}]}}
            {more}}}]}}"#
        )
    }

    fn only(more: &str) -> Posting {
        let mut page = read(job(more).as_bytes()).unwrap();
        assert_eq!(page.refused, []);
        page.postings.remove(0)
    }

    #[test]
    fn a_board_is_read() {
        let posting = only(r#","isListed":true"#);
        assert_eq!(posting.employment_type, EmploymentType::PartTime);
        assert_eq!(posting.locations[0].city.as_deref(), Some("San Francisco"));
        assert_eq!(posting.locations[1].label, "Berkeley");
        assert_eq!(posting.description_html.text(), "<p>Draw.</p>");
    }

    #[test]
    fn what_is_not_listed_is_left_out() {
        let page = read(job(r#","isListed":false"#).as_bytes()).unwrap();
        assert_eq!((page.postings.len(), page.refused.len(), page.entries), (0, 0, 1));
    }

    #[test]
    fn pay_is_shown_only_where_the_employer_shows_it() {
        assert_eq!(only("").base_salary, None);
        assert_eq!(only(r#","shouldDisplayCompensationOnJobPostings":false"#).base_salary, None);
        let shown = only(r#","shouldDisplayCompensationOnJobPostings":true"#).base_salary.unwrap();
        assert_eq!((shown.min, shown.max), (Some(90_000.0), Some(120_000.0)));
    }

    #[test]
    fn the_workplace_beats_the_remote_flag() {
        assert_eq!(
            only(r#","isRemote":true,"workplaceType":"Hybrid""#).workplace_type,
            WorkplaceType::Hybrid
        );
        assert_eq!(
            only(r#","isRemote":true,"workplaceType":null"#).workplace_type,
            WorkplaceType::Remote
        );
        assert_eq!(only(r#","isRemote":false"#).workplace_type, WorkplaceType::Unspecified);
    }
}
