//! Documents of an earlier form, which did not have the owners of the listings and sessions that they
//! name.

use crate::documents::{BOOKS, Book, QUEUES, Queue, Ranked};
use portolan_sdk::{
    migration::{Migrated, Migration},
    prelude::*,
};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct OldBook {
    open: BTreeSet<String>,
}

/// Gives documents their new form. The owners of the listings that they name are not known, so a queue is
/// searched again, and a session reads what arrived from the newest listings.
pub(crate) fn migrate(input: Migration) -> Migrated {
    match input.collection.as_str() {
        name if name == QUEUES.name() => input.each(|_: IgnoredAny| Ok(Queue::default())),
        name if name == BOOKS.name() => input.each(|old: OldBook| {
            let open = old.open.into_iter().map(|session_id| (session_id, String::new())).collect();
            Ok(Book { owner_id: String::new(), open })
        }),
        _ => input.each(session),
    }
}

fn session(mut session: Map<String, Value>) -> Result<Map<String, Value>, String> {
    if session.remove("come").is_some() {
        session.remove("watch");
    }
    if let Some(ranking) = session.get_mut("ranking") {
        let ranked: Vec<String> =
            serde_json::from_value(ranking.take()).map_err(|error| error.to_string())?;
        let ranked = ranked.into_iter();
        let ranked = ranked.map(|session_id| Ranked { session_id, owner_id: String::new() });
        *ranking = portolan_sdk::to_value(&ranked.collect::<Vec<_>>());
    }
    Ok(session)
}
