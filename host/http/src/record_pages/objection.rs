//! `GET /map/objection`: how people and companies correct what the map says of them, or ask not to be listed.

use super::{
    error::PageError,
    frame::NamedLink,
    records::{Handoff, view},
    response::{failed, is_id},
};
use crate::{
    city::City,
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use portolan_publication::{Publication, Reference, Roads};
use serde::Deserialize;
use serde_json::{Value, json};

/// The placeholder in the call for the record that the reader names.
const UNNAMED: &str = "the id of the record, such as per_…";
/// The fields in which records have a title.
const TITLES: [&str; 5] = ["/properties/name", "/full_name", "/title", "/headline", "/excerpt"];
/// The prefix of the ids of each kind of record with pages, its feed and the folder of its pages.
const FOLDERS: [(&str, &str, &str); 4] = [
    ("tgt", "targets", "companies"),
    ("rol", "roles", "roles"),
    ("per", "people", "people"),
    ("evn", "events", "events"),
];

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    record: String,
}

#[derive(Template)]
#[template(path = "records/objection.html")]
struct ObjectionPage {
    /// The path of the map page.
    map: String,
    canonical: String,
    record: Option<NamedLink>,
    /// The capability that takes reports, and the input of the call.
    report: Option<(String, String)>,
    contact: Option<String>,
    operator: String,
}

pub(crate) async fn show(
    State(city): State<City>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let Query(Asked { record }) = asked.unwrap_or_default();
    let record = if is_id(&record) { record } else { String::new() };
    let publication = city.feeds.current();
    let found = match &publication {
        Some(publication) => find((publication, city.roads()), &record).await,
        None => Ok((None, None)),
    };
    let (named, report) = match found {
        Ok(found) => found,
        Err(error) => return failed(&error),
    };
    let (host, roads) = (city.feeds.host(), city.roads());
    let objection = ObjectionPage {
        map: roads.page(""),
        canonical: format!("{}{}", roads.feeds, roads.objection()),
        report: report
            .map(|handoff| (handoff.to.capability.clone(), call(&handoff, named.as_ref()))),
        record: named,
        contact: host.contact_url().map(str::to_owned),
        operator: host.provider.organization.clone(),
    };
    let mut response = page(StatusCode::OK, &objection, FormTargets::ThisHost);
    let caching = HeaderValue::from_static("public, max-age=60");
    response.headers_mut().insert(header::CACHE_CONTROL, caching);
    response
}

/// Returns the record, if it is there, and the contract by which errors are reported.
async fn find(
    (publication, roads): (&Publication, &Roads),
    id: &str,
) -> Result<(Option<NamedLink>, Option<Handoff>), PageError> {
    let records = &publication.records;
    let prefix = id.split_once('_').map_or("", |(prefix, _)| prefix);
    let mut named = None;
    if let Some((_, feed, folder)) = FOLDERS.iter().find(|(known, _, _)| *known == prefix)
        && let Some(record) = records.record(feed, id).await?
    {
        let titles = TITLES.iter().filter_map(|title| record.pointer(title)?.as_str());
        let title = titles.into_iter().next().unwrap_or(id);
        let href = roads.page(&format!("{folder}/{id}"));
        named = Some(NamedLink::new(title, Some(href), id));
    }
    let reference = Reference {
        feed: "handoffs",
        field: "intent",
        id: "correct_data",
        newest_by: None,
        limit: 1,
    };
    let contract = records.referring(reference).await?;
    Ok((named, contract.first().map(view)))
}

/// Returns the input of the call that asks not to be listed.
fn call(handoff: &Handoff, record: Option<&NamedLink>) -> String {
    let call: Value = json!({
        "action": handoff.to.action,
        "subject_id": record.map_or(UNNAMED, |record| &record.note),
        "reason": "personal_data",
        "text": "I do not want to be listed.",
    });
    serde_json::to_string_pretty(&call).unwrap_or_default()
}
