//! Reads Personio's boards, which are XML without addresses: a position's page is at `/job/` and its
//! identifier. An office is a text of the employer's own, such as "HQ - Turin - IT" or "Berlin / Remote".

use super::{
    BoardError, MOST_TEXT, Page, Posting, Site, Vendor, label, opened, page_of, place, sections,
    terms,
};
use crate::{
    entries,
    record::{EmploymentType, Salary},
    text::description,
    xml::{self, Element},
};

pub(super) const VENDOR: Vendor = Vendor {
    base: "https://{token}.jobs.personio.de",
    path: "/xml",
    read,
    skips: None,
    detail: None,
};

fn read(bytes: &[u8], site: &Site<'_>) -> Result<Page, BoardError> {
    let document = xml::parse(bytes).map_err(BoardError::Xml)?;
    let root = document.root();
    if root.name() != "workzag-jobs" {
        return Err(BoardError::Xml(format!("its outermost element is {}", root.name())));
    }
    let positions = root.named("position").map(|position| {
        let id = position.text_at(&["id"]).map(str::to_owned);
        (id, posting(position, site).map_err(str::to_owned))
    });
    let (postings, refused) = entries::sorted(positions, "position");
    let entries = root.named("position").count();
    Ok(Page { postings, refused, entries, ..Page::default() })
}

fn posting(position: Element<'_>, site: &Site<'_>) -> Result<Option<Posting>, &'static str> {
    let text = |name: &str| position.text_at(&[name]);
    let id = text("id").unwrap_or_default();
    let more = position.named("additionalOffices").flat_map(|more| more.named("office"));
    let offices: Vec<&str> = text("office").into_iter().chain(more.map(Element::text)).collect();
    let parts = position.named("jobDescriptions").flat_map(|all| all.named("jobDescription"));
    let html = sections(
        parts.filter_map(|part| Some((part.text_at(&["name"]), part.text_at(&["value"])?))),
    );
    let page = page_of(site.base, &["job", id]);
    let posting = Posting {
        external_id: id.to_owned(),
        title: text("name").unwrap_or_default().to_owned(),
        department: label(text("department")),
        team: label(text("recruitingCategory")),
        level: label(text("seniority")),
        employment_type: employment(text("employmentType"), text("schedule")),
        workplace_type: terms::workplace(Some(&offices.join(" "))),
        locations: offices.into_iter().map(place).collect(),
        base_salary: position.at(&["salaryInformation"]).and_then(salary),
        date_posted: text("createdAt").and_then(|date| date.parse().ok()),
        apply_url: page.clone(),
        source_url: page,
        ..Posting::default()
    };
    opened(posting, description(&html, MOST_TEXT))
}

/// The type counts if it names more than the schedule does: an internship, a contract, a limited time.
fn employment(kind: Option<&str>, schedule: Option<&str>) -> EmploymentType {
    match terms::employment(kind) {
        EmploymentType::FullTime | EmploymentType::Other => match schedule {
            Some(schedule) => terms::employment(Some(schedule)),
            None => terms::employment(kind),
        },
        stated => stated,
    }
}

fn salary(stated: Element<'_>) -> Option<Salary> {
    let amount = |name: &str| stated.text_at(&[name]).and_then(|text| text.parse().ok());
    let range = (amount("min"), amount("max"));
    terms::salary(stated.text_at(&["currencyCode"]), range, stated.text_at(&["type"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{SalaryUnit, WorkplaceType};

    #[test]
    fn a_board_is_read_and_pages_are_made_from_the_identifiers() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
        <workzag-jobs><position><id>7001</id><subcompany>Copperleaf &amp; Co. KG</subcompany><office>HQ - Turin - IT</office>
          <additionalOffices><office>Berlin / Remote</office></additionalOffices><department>Robots &amp; Arms</department>
          <name>Mechanic (m/w/d)</name><jobDescriptions><jobDescription><name>Aufgaben</name><value>
            <![CDATA[<ul style="margin:0"><li>Bauen</li></ul><script>x()</script>]]></value></jobDescription></jobDescriptions>
          <employmentType>permanent</employmentType><schedule>part-time</schedule><seniority>experienced</seniority>
          <createdAt>2026-11-03T09:43:48+00:00</createdAt>
          <salaryInformation><min>14.50</min><currencyCode>EUR</currencyCode><type>hourly</type></salaryInformation></position>
          <position><id>7002</id><office>Turin</office><jobDescriptions></jobDescriptions></position></workzag-jobs>"#;
        let url = "https://copperleaf.jobs.personio.de/".parse().unwrap();
        let page = read(text.as_bytes(), &Site { base: &url, page: &url }).unwrap();
        assert_eq!((page.postings.len(), page.entries), (1, 2));
        assert_eq!(page.refused[0].to_string(), "position 1 (7002): it has no title");
        let posting = &page.postings[0];
        assert_eq!(posting.source_url, "https://copperleaf.jobs.personio.de/job/7001");
        let labels: Vec<_> = posting.locations.iter().map(|place| &*place.label).collect();
        assert_eq!(labels, ["HQ - Turin - IT", "Berlin / Remote"]);
        assert_eq!(posting.workplace_type, WorkplaceType::Remote);
        assert_eq!(posting.employment_type, EmploymentType::PartTime);
        assert_eq!(posting.description_text.text(), "Aufgaben\nBauen");
        let salary = posting.base_salary.as_ref().unwrap();
        assert_eq!((salary.min, salary.max, salary.unit), (Some(14.5), None, SalaryUnit::Hour));
    }

    #[test]
    fn other_xml_is_no_board() {
        let url = "https://copperleaf.jobs.personio.de/".parse().unwrap();
        for text in ["<html></html>", "<workzag-jobs>", "{}"] {
            assert!(read(text.as_bytes(), &Site { base: &url, page: &url }).is_err(), "{text}");
        }
    }
}
