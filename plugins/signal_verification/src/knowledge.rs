//! What the feeds are to know: everything that counts, page by page.

use crate::{
    kept::{APPOINTMENTS, STATEMENTS, Statement},
    refusals::SignalError,
    types::{Knowledge, Known},
};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn knowledge(page: PageInput) -> Result<Knowledge, SignalError> {
    let mut verified_owners = BTreeSet::new();
    if page.cursor.is_none() {
        for hit in APPOINTMENTS.all(Query::new().limit(1_000)) {
            verified_owners.insert(hit?.document.value.target_id);
        }
    }
    let found = STATEMENTS.find(Query::new().page(page))?;
    Ok(Knowledge {
        verified_owners: verified_owners.into_iter().collect(),
        evidence: found.hits.into_iter().map(|hit| known(hit.document)).collect(),
        next_cursor: found.next,
    })
}

fn known(statement: Stored<Statement>) -> Known {
    let value = statement.value;
    Known {
        id: statement.id,
        signal_id: value.signal_id,
        kind: value.kind,
        at: rfc3339(value.at),
        publisher: value.publisher,
        url: value.url,
        answers: value.answers,
    }
}
