//! Reads Greenhouse's boards. The description is escaped HTML. Only the location's name says whether work
//! is remote. An entry without `internal_job_id` is no open role, but a talent pool for later roles. Pay is in
//! cents, with a range for each place; only a range's title says for which time it is.

use super::{
    BoardError, MOST_TEXT, Page, Posting, Site, Vendor, first_link, identifier, json, label,
    opened, page, place, terms,
};
use crate::{
    record::Salary,
    text::{description, html_of_escaped},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://boards-api.greenhouse.io",
    path: "/v1/boards/{token}/jobs?content=true&pay_transparency=true",
    read,
    skips: None,
    detail: None,
};

/// Pay below this, in whole units of the currency, is not for a year.
const LEAST_A_YEAR: f64 = 1_000.0;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    jobs: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    id: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    internal_job_id: Value,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    title: String,
    location: Option<Named>,
    absolute_url: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    departments: Vec<Named>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    content: String,
    updated_at: Option<String>,
    first_published: Option<String>,
    #[serde(default, deserialize_with = "crate::entries::nullable")]
    pay_input_ranges: Vec<Pay>,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Pay {
    min_cents: Option<f64>,
    max_cents: Option<f64>,
    currency_type: Option<String>,
    title: Option<String>,
}

fn read(bytes: &[u8], _: &Site<'_>) -> Result<Page, BoardError> {
    let answer: Answer<'_> = json(bytes)?;
    Ok(page(answer.jobs, posting))
}

fn posting(job: Job) -> Result<Option<Posting>, &'static str> {
    if job.internal_job_id.is_null() {
        return Ok(None);
    }
    let place_name = job.location.and_then(|location| location.name).unwrap_or_default();
    // It can name several places; what they are is told when the roles are joined.
    let locations = vec![place(&place_name)];
    let url = first_link(&[job.absolute_url.as_deref()]);
    let read_date = |text: Option<&String>| text.and_then(|text| text.parse().ok());
    let posting = Posting {
        external_id: identifier(&job.id),
        title: job.title,
        department: job
            .departments
            .first()
            .and_then(|department| label(department.name.as_deref())),
        workplace_type: terms::workplace(Some(&place_name)),
        locations,
        base_salary: pay(&job.pay_input_ranges),
        date_posted: read_date(job.first_published.as_ref())
            .or_else(|| read_date(job.updated_at.as_ref())),
        apply_url: url.clone(),
        source_url: url,
        ..Posting::default()
    };
    opened(posting, description(&html_of_escaped(&job.content), MOST_TEXT))
}

/// Returns the pay over all places, if it is in one currency and for one time; otherwise that of the first.
fn pay(ranges: &[Pay]) -> Option<Salary> {
    let dollars = |cents: Option<f64>| cents.map(|cents| cents / 100.0);
    let each = ranges.iter().filter_map(|pay| {
        let range = (dollars(pay.min_cents), dollars(pay.max_cents));
        let stated = pay.title.as_deref().and_then(terms::interval);
        let is_small = range.1.or(range.0).is_some_and(|amount| amount < LEAST_A_YEAR);
        let interval = stated.or((!is_small).then_some("year"))?;
        terms::salary(pay.currency_type.as_deref(), range, Some(interval))
    });
    each.reduce(|all, next| match all.currency == next.currency && all.unit == next.unit {
        true => Salary {
            min: all.min.zip(next.min).map(|(one, other)| one.min(other)),
            max: all.max.zip(next.max).map(|(one, other)| one.max(other)),
            ..all
        },
        false => all,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{SalaryUnit, WorkplaceType};
    use url::Url;

    fn read(bytes: &[u8]) -> Result<Page, BoardError> {
        let url: Url = VENDOR.base.parse().unwrap();
        super::read(bytes, &Site { base: &url, page: &url })
    }

    #[test]
    fn pay_spans_all_places_and_a_title_says_for_which_time_it_is() {
        let pay = |text: &str| pay(&serde_json::from_str::<Vec<Pay>>(text).unwrap());
        let zones = r#"[
            {"min_cents":18000000,"max_cents":20000000,"currency_type":"USD","title":"Zone 1 Pay Range"},
            {"min_cents":15000000,"max_cents":17000000,"currency_type":"USD","title":"Zone 2 Pay Range"}]"#;
        let salary = pay(zones).unwrap();
        assert_eq!((salary.min, salary.max), (Some(150_000.0), Some(200_000.0)));
        for (title, unit) in [
            ("Hourly Pay Range", Some(SalaryUnit::Hour)),
            ("Monthly base", Some(SalaryUnit::Month)),
            ("NYC range", None),
        ] {
            let range = format!(
                r#"[{{"min_cents":4000,"max_cents":5500,"currency_type":"USD","title":"{title}"}}]"#
            );
            assert_eq!(pay(&range).map(|salary| salary.unit), unit, "{title}");
        }
        let mixed = r#"[{"min_cents":100000000,"max_cents":null,"currency_type":"JPY","title":null},
            {"min_cents":15000000,"max_cents":17000000,"currency_type":"USD","title":"US"}]"#;
        assert_eq!(pay(mixed).unwrap().currency, "JPY");
    }

    const BOARD: &str = r#"{"jobs":[
      {"id":4100,"internal_job_id":77,"title":"Staff Engineer","updated_at":"2026-11-02T09:00:00-08:00",
       "first_published":"2026-10-30T09:00:00-07:00","location":{"name":"San Francisco, CA; Remote - US"},
       "absolute_url":"https://boards.copperleaf.example/jobs/4100","language":"en","metadata":null,
       "departments":[{"id":1,"name":"Platform"}],"offices":[{"id":2,"name":"HQ","location":"San Francisco"}],
       "content":"&lt;p&gt;Build &amp;amp; run robots.&lt;/p&gt;&lt;script&gt;steal()&lt;/script&gt;&lt;p&gt;Ask jo@copperleaf.example&lt;/p&gt;",
       "pay_input_ranges":[{"min_cents":18000000,"max_cents":22000000,"currency_type":"USD","title":"Base"}]},
      {"id":4101,"internal_job_id":null,"title":"Join our talent pool","absolute_url":"https://boards.copperleaf.example/jobs/4101"},
      {"id":4102,"internal_job_id":78,"title":"No address","absolute_url":"javascript:alert(1)"},
      {"id":4103,"internal_job_id":79,"title":{"text":"Not a text"}},
      "not an object"],
      "meta":{"total":5}}"#;

    #[test]
    fn a_board_is_read_and_faulty_entries_are_reported() {
        let page = read(BOARD.as_bytes()).unwrap();
        assert_eq!((page.postings.len(), page.refused.len(), page.entries), (1, 3, 5));
        let posting = &page.postings[0];
        assert_eq!(
            (posting.external_id.as_str(), posting.title.as_str()),
            ("4100", "Staff Engineer")
        );
        assert_eq!(posting.workplace_type, WorkplaceType::Remote);
        assert_eq!(posting.locations[0].label, "San Francisco, CA; Remote - US");
        assert_eq!(posting.department.as_deref(), Some("Platform"));
        assert_eq!(posting.date_posted.unwrap().to_string(), "2026-10-30T16:00:00.000Z");
        let salary = posting.base_salary.as_ref().unwrap();
        assert_eq!(
            (salary.min, salary.max, salary.unit),
            (Some(180_000.0), Some(220_000.0), SalaryUnit::Year)
        );
    }

    #[test]
    fn the_escaped_description_becomes_safe_html() {
        let page = read(BOARD.as_bytes()).unwrap();
        let posting = &page.postings[0];
        assert!(posting.description_html.text().starts_with("<p>Build &amp; run robots.</p>"));
        assert_eq!(posting.description_text.text(), "Build & run robots.\nAsk [removed]");
        assert!(!posting.description_html.text().contains("steal"));
    }

    #[test]
    fn an_answer_that_is_no_board_is_refused() {
        for text in ["", "[]", "{}", "<html>", r#"{"jobs":"none"}"#, r#"{"jobs":[{"#] {
            assert!(matches!(read(text.as_bytes()), Err(BoardError::Malformed(_))), "{text}");
        }
        assert!(read(b"{\"jobs\":[{\"title\":\"\xff\xfe\"}]}").is_err());
    }
}
