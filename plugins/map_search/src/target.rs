//! Returns one target with every record that names it.

use crate::{cards::page_of, handoffs::handoffs, records::*, types::*};
use people_kit::UNTRUSTED;
use portolan_sdk::{contract::platform, feeds::Feed, prelude::*};

/// The maximum number of records of each list.
const MOST: u32 = 50;
/// Long fields that repeat the content of other fields.
const REPEATED: [&str; 2] = ["description_html", "schema_org"];

pub(crate) fn get(id: &str) -> Result<TargetView> {
    let target = TARGET_RECORDS.get(id)?.ok_or(MapError::TargetNotFound)?.value;
    let mut cut = Vec::new();
    let mut list = |feed: &'static str, by: &str, newest: Option<&str>| {
        let query = Query::new().filter(field(by).eq(id)).limit(MOST);
        let query = newest.into_iter().fold(query, Query::last);
        let found = Feed::<Record>::new(feed).find(query)?;
        cut.extend(found.next.is_some().then(|| feed.to_owned()));
        Ok::<_, HostError>(found.into_documents().map(without_repeated).collect())
    };
    let roles = list("roles", "target_id", Some("date_posted"))?;
    let signals = list("signals", "target_id", Some("occurred_at"))?;
    let people = list("people", "target_id", None)?;
    let events = list("events", "_map.target_ids[]", Some("date_published"))?;
    let social = list("social", "target_id", Some("posted_at"))?;
    let ids = target.get("properties").and_then(|target| target.get("handoff_ids"));
    let ids = ids.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    Ok(TargetView {
        handoffs: handoffs(ids)?,
        url: page_of(&platform::about().public_url, id),
        target,
        roles,
        signals,
        people,
        events,
        social,
        cut,
        trust: UNTRUSTED,
    })
}

/// Returns the record without fields that repeat others.
pub(crate) fn without_repeated(Stored { mut value, .. }: Stored<Record>) -> Record {
    value.retain(|name, _| !REPEATED.contains(&name.as_str()));
    value
}
