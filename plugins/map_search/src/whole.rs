//! Returns one target with every record that names it.

use crate::{search::page_of, types::*};
use people_kit::UNTRUSTED;
use portolan_sdk::{contract::platform, feeds::Feed, prelude::*};
use serde_json::Value;

/// The maximum number of records of each list.
const MOST: u32 = 50;
/// Long fields that repeat others.
const REPEATED: [&str; 2] = ["description_html", "schema_org"];

struct Named {
    feed: Feed<Record>,
    by: &'static str,
    newest: Option<&'static str>,
}

const ROLES: Named =
    Named { feed: Feed::new("roles"), by: "target_id", newest: Some("date_posted") };
const SIGNALS: Named =
    Named { feed: Feed::new("signals"), by: "target_id", newest: Some("occurred_at") };
const PEOPLE: Named = Named { feed: Feed::new("people"), by: "target_id", newest: None };
const EVENTS: Named =
    Named { feed: Feed::new("events"), by: "_map.target_ids[]", newest: Some("date_published") };
const SOCIAL: Named =
    Named { feed: Feed::new("social"), by: "target_id", newest: Some("posted_at") };

pub(crate) fn whole(id: &str) -> Result<Whole> {
    let target = WHOLE.get(id)?.ok_or(MapError::TargetNotFound)?.value;
    let mut cut = Vec::new();
    let mut list = |named: &Named| -> Result<Vec<Record>, HostError> {
        let mut query = Query::new().filter(field(named.by).eq(id)).limit(MOST);
        if let Some(path) = named.newest {
            query = query.last(path);
        }
        let found = named.feed.find(query)?;
        if found.next.is_some() {
            cut.push(named.feed.id().to_owned());
        }
        Ok(found.hits.into_iter().map(|hit| shorter(hit.document.value)).collect())
    };
    let (roles, signals, people) = (list(&ROLES)?, list(&SIGNALS)?, list(&PEOPLE)?);
    let (events, social) = (list(&EVENTS)?, list(&SOCIAL)?);
    let ids = target.get("properties").and_then(|target| target.get("handoff_ids"));
    let ids = ids.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    Ok(Whole {
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
pub(crate) fn shorter(mut record: Record) -> Record {
    record.retain(|name, _| !REPEATED.contains(&name.as_str()));
    record
}

/// Returns contracts by their ids; those that the manifest no longer has are omitted.
pub(crate) fn handoffs<'i>(
    ids: impl IntoIterator<Item = &'i str>,
) -> Result<Vec<HandoffView>, HostError> {
    let found = HANDOFFS.get_many(ids)?.into_iter().flatten();
    let view = |contract: Stored<Contract>| HandoffView {
        id: contract.id,
        title: contract.value.title,
        intent: contract.value.intent,
    };
    Ok(found.map(view).collect())
}
