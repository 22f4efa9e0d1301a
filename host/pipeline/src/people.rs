//! The export and the erasure of a person's data while the host serves, as the operator or a component has
//! requested them.
//!
//! A component's request is a timer of the host. It is removed when everything is done, so it is run again
//! after a crash.

use crate::{host::Host, system::SystemCall};
use portolan_store::{Attachments, Audience, DueWork, ErasureCounts, MAX_ATTEMPTS, NewEvent, Unit};
use portolan_vocabulary::{
    Access, Caller, ErrorCode, Failure, OWNER_LEAVING, OWNER_LEFT, PEOPLE_OF, PeopleRequest,
};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// How long other nodes may use a cached standing of an agent, plus a margin.
const STANDING_CACHE_AGE: Duration = Duration::from_millis(1_500);

/// The longest wait for the capabilities to handle that a person leaves.
const LONGEST_DEPARTURE: Duration = Duration::from_secs(30);
/// The interval at which the wait looks.
const DEPARTURE_POLL: Duration = Duration::from_millis(20);
/// How many times the wait includes the events that were published during it: the account ends, then its
/// listings, then what is about these.
const DEPARTURE_STEPS: usize = 4;

/// The maximum number of bytes of the items in one part of an export, unless a single item has more.
const MAX_PART_BYTES: usize = 64 << 10;

impl Host {
    /// Lets the capabilities end what others have with a person, erases the person's data, and then what their
    /// agents have written meanwhile. A suspension in force, also one
    /// of this time, is kept for the number, apart from the person.
    pub async fn erase_person(self: &Arc<Self>, owner_id: &str) -> Result<ErasureCounts, Failure> {
        let test_mode = self.identity.begin_erasure(owner_id).await?;
        for event_type in [OWNER_LEAVING, OWNER_LEFT] {
            self.announce_departure(owner_id, event_type, test_mode).await?;
        }
        self.blobs.remove_all_of(owner_id).await?;
        let ids = self.store.person_ids(owner_id).await?;
        let counts = self.store.erase_person(&ids, self.clock.now()).await?;
        // Other nodes may still use the cached standing of an agent, so the agent may still write.
        self.identity.invalidate_standings();
        tokio::time::sleep(STANDING_CACHE_AGE).await;
        self.blobs.remove_all_of(owner_id).await?;
        self.store.erase_person(&ids, self.clock.now()).await?;
        self.store.scrub().await?;
        tracing::info!(deleted = counts.deleted, redacted = counts.redacted, "a person is erased");
        Ok(counts)
    }

    /// Publishes to the capabilities that a person leaves, and waits until they have handled it: after the
    /// erasure, no event names the person.
    async fn announce_departure(
        &self,
        owner_id: &str,
        event_type: &str,
        test_mode: bool,
    ) -> Result<(), Failure> {
        let subscribers = self.catalog.subscribers(&self.catalog.snapshot(), None, event_type);
        if subscribers.is_empty() {
            return Ok(());
        }
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let (data, audience) = (json!({ "owner_id": owner_id }), Audience::Capabilities);
        let event = NewEvent::of_host(event_type, owner_id, audience, &data, unit.now());
        unit.publish(NewEvent { subscribers, test_mode, ..event });
        let committed = unit.commit(Attachments::default()).await;
        committed.map_err(|_| Failure::new(ErrorCode::DependencyUnavailable))?;
        let until = Instant::now() + LONGEST_DEPARTURE;
        for _ in 0..DEPARTURE_STEPS {
            let last = self.store.last_event().await?;
            while self.store.has_new_deliveries(last).await? {
                if Instant::now() > until {
                    tracing::warn!(
                        event_type,
                        "the capabilities have not handled the departure of a person in time; the person is erased nevertheless"
                    );
                    return Ok(());
                }
                tokio::time::sleep(DEPARTURE_POLL).await;
            }
        }
        Ok(())
    }

    /// Runs the erasure or the export that a component has requested for a person.
    pub(super) async fn run_people_request(
        self: &Arc<Self>,
        work: &DueWork,
    ) -> Result<(), Failure> {
        let request = serde_json::from_str(&work.input);
        match request.map_err(|_| Failure::new(ErrorCode::MalformedJson))? {
            PeopleRequest::Erase { owner_id } => {
                self.erase_person(&owner_id).await?;
                self.remove(work).await?;
                // The removed request named the person, so it must not stay in the database's file.
                self.store.scrub().await?;
                return Ok(());
            }
            PeopleRequest::Export { export_id, owner_id, about } => {
                let ids = self.store.person_ids(&owner_id).await?;
                let sent = self.send_export(work, &export_id, &about, &ids).await;
                if let Err(failure) = sent {
                    if work.attempts + 1 < MAX_ATTEMPTS {
                        return Err(failure);
                    }
                    let (lane, action) = (&*work.capability, &*work.action);
                    let code = &*failure.error_code;
                    tracing::error!(
                        lane,
                        action,
                        code,
                        "the export of a person is dropped, because its action fails"
                    );
                }
            }
        }
        self.remove(work).await
    }

    /// Sends the data of the person with these ids to the component's action, part by part.
    async fn send_export(
        self: &Arc<Self>,
        work: &DueWork,
        export_id: &str,
        about: &Value,
        ids: &[String],
    ) -> Result<(), Failure> {
        let (sender, mut items) = mpsc::channel(1);
        // This future owns the receiver, so the export ends too if the action fails.
        let sent = async move {
            let (mut part, mut number) = (ExportPart::default(), 1);
            while let Some(item) = items.recv().await {
                if let Some(full) = part.add(json!(item)) {
                    self.send_part(work, (export_id, about), (number, full, false)).await?;
                    number += 1;
                }
            }
            Ok::<_, Failure>((number, part.items))
        };
        let left_out = self.catalog.snapshot().collections_left_out_of_exports();
        let exported = self.store.export_person(ids, left_out, sender);
        let (exported, sent) = tokio::join!(exported, sent);
        let (number, last) = sent?;
        exported?;
        self.send_part(work, (export_id, about), (number, last, true)).await
    }

    async fn send_part(
        self: &Arc<Self>,
        work: &DueWork,
        (export_id, about): (&str, &Value),
        (number, items, is_last): (u64, Vec<Value>, bool),
    ) -> Result<(), Failure> {
        let input = json!({
            "export_id": export_id, "about": about, "part": number, "last": is_last,
            "items": items,
        });
        let call = SystemCall {
            capability: work.capability.strip_prefix(PEOPLE_OF).unwrap_or_default(),
            action: &work.action,
            access: Access::Internal,
            input: &input.to_string(),
            caller: Caller::System { test_mode: work.test_mode },
            via: None,
            task: None,
            trace: None,
            has_secret: false,
            dry_run: false,
        };
        self.run_system_call(call).await.map(drop)
    }
}

/// A part of an export.
#[derive(Default)]
struct ExportPart {
    items: Vec<Value>,
    bytes: usize,
}

impl ExportPart {
    /// Adds an item. If it does not fit, returns the items of the full part, and the item begins the next
    /// part.
    fn add(&mut self, item: Value) -> Option<Vec<Value>> {
        let bytes = item.to_string().len();
        let is_full = self.bytes > 0 && self.bytes + bytes > MAX_PART_BYTES;
        let full = is_full.then(|| std::mem::take(self).items);
        self.bytes += bytes;
        self.items.push(item);
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_bounded_and_complete() {
        let item = |bytes: usize| json!("x".repeat(bytes));
        let sizes = |items: Vec<Value>| {
            let mut part = ExportPart::default();
            let full: Vec<_> = items.into_iter().filter_map(|item| part.add(item)).collect();
            full.iter().chain([&part.items]).map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(Vec::new()), [0]);
        assert_eq!(sizes(vec![item(MAX_PART_BYTES * 2), item(10), item(10)]), [1, 2]);
        assert_eq!(
            sizes(vec![item(MAX_PART_BYTES / 2), item(MAX_PART_BYTES / 4), item(MAX_PART_BYTES)]),
            [2, 1]
        );
    }
}
