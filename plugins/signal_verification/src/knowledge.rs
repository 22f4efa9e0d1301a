//! The output for the build of the feeds: all valid statements, page by page.

use crate::{documents::*, refusals::Result, types::*};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn knowledge(page: PageInput) -> Result<Knowledge> {
    let mut speakers = BTreeSet::new();
    if page.cursor.is_none() {
        for hit in APPOINTMENTS.all(Query::new().limit(1_000)) {
            speakers.insert(hit?.document.value.target_id);
        }
    }
    let (evidence, next_cursor) = STATEMENTS.find(Query::new().page(page))?.into_parts();
    let known = |Stored { id, value, .. }: Stored<Statement>| {
        view!(value => Known {
            signal_id, kind, publisher, url, answers;
            id,
            at: rfc3339(value.at),
        })
    };
    let evidence = evidence.into_iter().map(known).collect();
    Ok(Knowledge { verified_owners: speakers.into_iter().collect(), evidence, next_cursor })
}
