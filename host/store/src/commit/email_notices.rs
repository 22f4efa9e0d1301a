//! The notices of people by email, in the transaction that delivers the events: a row for each person and type
//! of events, and a timer for each person. An email tells what has gathered when its timer is due.

use crate::{
    connection::{Statements, Transaction},
    error::DbError,
    integers::signed,
};
use portolan_vocabulary::{EMAIL_NOTICES, Timestamp, new_request_id};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

/// The time in which events gather for one email.
const GATHER: Duration = Duration::from_secs(60);

/// The events of a transaction that are told by email.
#[derive(Debug, Default)]
pub(super) struct EmailNotices {
    /// The number of events and the id of the newest one, by owner and type.
    events: BTreeMap<(String, String), (u64, String)>,
    /// When the first event of each owner was delivered.
    owners: BTreeMap<String, Timestamp>,
}

impl EmailNotices {
    /// Adds an event that is delivered to a person now.
    pub(super) fn add(&mut self, owner_id: &str, event_type: &str, event_id: &str, now: Timestamp) {
        let key = (owner_id.to_owned(), event_type.to_owned());
        let (count, newest) = self.events.entry(key).or_default();
        *count += 1;
        event_id.clone_into(newest);
        self.owners.entry(owner_id.to_owned()).or_insert(now);
    }

    /// Writes the rows and the timers. Returns whether there are any timers.
    pub(super) async fn write(
        self,
        transaction: &mut Transaction,
        statements: &Statements,
    ) -> Result<bool, DbError> {
        let row =
            |((owner_id, event_type), (count, newest)): (&(String, String), &(u64, String))| {
                json!([owner_id, event_type, signed(*count), newest])
            };
        let rows: Vec<Value> = self.events.iter().map(row).collect();
        transaction.run(&statements.email_notices.add, rows).await?;
        let timer = |(owner_id, now): (&String, &Timestamp)| {
            let setting = new_request_id(*now).to_string();
            let at = signed(now.plus(GATHER).as_millis());
            json!([EMAIL_NOTICES, owner_id, 0, setting, "tell", "{}", at, at, 0])
        };
        let timers: Vec<Value> = self.owners.iter().map(timer).collect();
        let has_timers = !timers.is_empty();
        transaction.run(&statements.email_notices.put_timers, timers).await?;
        Ok(has_timers)
    }
}
