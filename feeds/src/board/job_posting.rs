//! Reads schema.org's `JobPosting`, as companies write it for search engines. Any field can be a value, a list
//! of values, or missing. Texts are often escaped once or twice, and a country can be a name or a code.

use super::{BoardError, MOST_TEXT, Posting, address, first_link, identifier, opened, terms};
use crate::{
    record::{Location, Salary, WorkplaceType},
    text::{description, html_of_escaped},
};
use serde_json::{Map, Value};
use url::Url;

pub(super) const TYPE: &str = "JobPosting";
/// How many values of a document are looked at.
const MOST_VALUES: usize = 100_000;

pub(super) type Fields = Map<String, Value>;

/// Returns the objects of one type in a document, at any depth.
pub(super) fn of_type<'a>(document: &'a Value, name: &str) -> Vec<&'a Fields> {
    let (mut waiting, mut found) = (vec![document], Vec::new());
    for _ in 0..MOST_VALUES {
        match waiting.pop() {
            Some(Value::Array(values)) => waiting.extend(values.iter().rev()),
            Some(Value::Object(fields)) => {
                if is_a(fields, name) {
                    found.push(fields);
                }
                waiting.extend(fields.values().rev());
            }
            Some(_) => {}
            None => break,
        }
    }
    found
}

fn is_a(fields: &Fields, name: &str) -> bool {
    let kind = fields.get("@type");
    each(kind).any(|kind| kind.as_str().is_some_and(|kind| kind.rsplit('/').next() == Some(name)))
}

/// Returns the values of a field, which can be a list.
fn each(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let values = match value {
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
        None => &[],
    };
    values.iter().filter(|value| !value.is_null())
}

fn first<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    each(fields.get(name)).next()
}

/// Returns a text, also of an object that has it as its name.
fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    match first(fields, name)? {
        Value::String(text) => Some(text.as_str()),
        Value::Object(named) => named.get("name")?.as_str(),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().replace(',', "").parse().ok(),
        _ => None,
    }
}

/// Reads a posting that stands on this page.
pub(super) fn posting(fields: &Fields, page: &Url) -> Result<Option<Posting>, &'static str> {
    let own = text(fields, "url").and_then(|url| page.join(url).ok());
    let url = first_link(&[own.as_ref().map(Url::as_str), Some(page.as_str())]);
    let stated = match first(fields, "identifier") {
        Some(Value::Object(named)) => named.get("value").map(identifier),
        Some(value) => Some(identifier(value)),
        None => None,
    };
    let employment: Vec<&str> =
        each(fields.get("employmentType")).filter_map(Value::as_str).collect();
    let is_remote = text(fields, "jobLocationType")
        .is_some_and(|kind| kind.eq_ignore_ascii_case("telecommute"));
    let mut locations: Vec<Location> = each(fields.get("jobLocation")).map(located).collect();
    if locations.is_empty() {
        let required = each(fields.get("applicantLocationRequirements"));
        locations = required.map(located).collect();
    }
    let posting = Posting {
        external_id: stated
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| own.as_ref().unwrap_or(page).path().to_owned()),
        title: html_of_escaped(text(fields, "title").unwrap_or_default()),
        employment_type: terms::employment(employment.first().copied()),
        workplace_type: match is_remote {
            true => WorkplaceType::Remote,
            false => WorkplaceType::Unspecified,
        },
        locations,
        base_salary: first(fields, "baseSalary").and_then(salary),
        date_posted: text(fields, "datePosted").and_then(|date| date.parse().ok()),
        valid_through: text(fields, "validThrough").and_then(|date| date.parse().ok()),
        apply_url: url.clone(),
        source_url: url,
        ..Posting::default()
    };
    let html = html_of_escaped(text(fields, "description").unwrap_or_default());
    opened(posting, description(&html, MOST_TEXT))
}

/// Reads a place: an object with an address, an address itself, or a text.
fn located(place: &Value) -> Location {
    let Value::Object(fields) = place else {
        return address(place.as_str(), None, None, None);
    };
    match first(fields, "address") {
        Some(Value::Object(inner)) => addressed(inner),
        Some(Value::String(label)) => address(Some(label), None, None, None),
        _ => {
            let plain = addressed(fields);
            match plain.label.is_empty() {
                true => address(text(fields, "name"), None, None, None),
                false => plain,
            }
        }
    }
}

fn addressed(fields: &Fields) -> Location {
    let part = |name: &str| text(fields, name);
    address(None, part("addressLocality"), part("addressRegion"), part("addressCountry"))
}

fn salary(stated: &Value) -> Option<Salary> {
    let Value::Object(fields) = stated else { return None };
    let value = first(fields, "value")?;
    let (range, unit) = match value {
        Value::Object(inner) => {
            let exact = number(inner.get("value"));
            let range = (number(inner.get("minValue")), number(inner.get("maxValue")));
            ((range.0.or(exact), range.1.or(exact)), text(inner, "unitText"))
        }
        value => {
            let exact = number(Some(value));
            ((exact, exact), None)
        }
    };
    let unit = unit.or_else(|| text(fields, "unitText"));
    terms::salary(text(fields, "currency"), range, unit)
}

/// Reads one JSON-LD document of a page.
pub(super) fn document(text: &str) -> Result<Value, BoardError> {
    // Some pages write line breaks within texts as they are.
    let plain = || text.replace(['\n', '\r', '\t'], " ");
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&plain()))
        .map_err(|error| BoardError::Malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{EmploymentType, SalaryUnit};
    use serde_json::json;

    fn only(value: &Value) -> Posting {
        let page = "https://copperleaf.example/jobs/welder".parse().unwrap();
        posting(of_type(value, TYPE)[0], &page).unwrap().unwrap()
    }

    #[test]
    fn a_posting_is_found_at_any_depth_and_unescaped() {
        let posting = only(&json!({ "@graph": [{ "@type": "WebPage", "mainEntity": {
            "@type": ["Thing", "https://schema.org/JobPosting"],
            "title": "Welder &amp; Fitter",
            "description": "&amp;lt;p&amp;gt;Weld &amp;amp;amp; fit.&amp;lt;/p&amp;gt;&amp;lt;script&amp;gt;x()&amp;lt;/script&amp;gt;",
            "identifier": { "@type": "PropertyValue", "value": 8041 },
            "datePosted": "2026-11-01", "validThrough": "2026-12-31T00:00:00Z",
            "employmentType": ["PART_TIME", "CONTRACTOR"],
            "jobLocation": [
                { "@type": "Place", "address": { "addressLocality": "Lilienthal", "addressRegion": null, "addressCountry": "Deutschland" } },
                { "@type": "Place", "address": { "addressLocality": "Oslo", "addressCountry": { "@type": "Country", "name": "NO" } } },
                { "@type": "Place", "address": "Bergen, Norway" },
            ],
            "baseSalary": { "currency": "EUR", "value": { "minValue": "43,000", "maxValue": 58850, "unitText": "YEAR" } },
        } }] }));
        assert_eq!(posting.external_id, "8041");
        assert_eq!(posting.title, "Welder & Fitter");
        assert_eq!(posting.description_text.text(), "Weld & fit.");
        assert_eq!(posting.employment_type, EmploymentType::PartTime);
        let labels: Vec<_> = posting.locations.iter().map(|place| &*place.label).collect();
        assert_eq!(labels, ["Lilienthal, Deutschland", "Oslo, NO", "Bergen, Norway"]);
        let salary = posting.base_salary.unwrap();
        assert_eq!(
            (salary.min, salary.max, salary.unit),
            (Some(43_000.0), Some(58_850.0), SalaryUnit::Year)
        );
        assert_eq!(posting.source_url, "https://copperleaf.example/jobs/welder");
    }

    #[test]
    fn pay_that_says_nothing_and_remote_work_are_told_apart() {
        let posting = only(&json!({
            "@type": "JobPosting", "title": "Writer", "jobLocationType": "TELECOMMUTE",
            "applicantLocationRequirements": { "@type": "Country", "name": "USA" },
            "url": "/jobs/writer?ref=1",
            "baseSalary": { "currency": "USD", "value": { "minValue": 1.0, "maxValue": 1_000_000.0, "unitText": "YEAR" } },
        }));
        assert_eq!(posting.base_salary, None);
        assert_eq!(posting.workplace_type, WorkplaceType::Remote);
        assert_eq!(posting.external_id, "/jobs/writer");
        assert_eq!(posting.locations[0].label, "USA");
    }
}
