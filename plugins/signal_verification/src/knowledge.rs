//! The output for the build of the feeds: all valid statements, page by page.

use crate::{
    kept::{APPOINTMENTS, STATEMENTS, Statement},
    refusals::Result,
    types::{Knowledge, Known},
};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn knowledge(page: PageInput) -> Result<Knowledge> {
    let mut verified_owners = BTreeSet::new();
    if page.cursor.is_none() {
        for hit in APPOINTMENTS.all(Query::new().limit(1_000)) {
            verified_owners.insert(hit?.document.value.target_id);
        }
    }
    let (evidence, next_cursor) = STATEMENTS.find(Query::new().page(page))?.into_parts();
    Ok(Knowledge {
        verified_owners: verified_owners.into_iter().collect(),
        evidence: evidence.into_iter().map(known).collect(),
        next_cursor,
    })
}

fn known(statement: Stored<Statement>) -> Known {
    let value = statement.value;
    view!(value => Known {
        signal_id, kind, publisher, url, answers;
        id: statement.id,
        at: rfc3339(value.at),
    })
}
