//! The export and the erasure of a person while the host serves, as the operator or a component has
//! requested them.
//!
//! A component's request is a timer of the host. It is removed when everything is done, so it is
//! answered again after a crash.

use crate::{host::Host, system::SystemCall};
use portolan_store::{DueWork, ErasureCounts, MAX_ATTEMPTS, PersonalData, StateError};
use portolan_vocabulary::{Access, ErrorCode, Failure, PEOPLE_OF, PeopleRequest};
use serde::Serialize;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// How long a node may go on with what it knows of an agent, and a margin.
const STANDING_AGE: Duration = Duration::from_millis(1_500);

/// The most bytes of the items in one part of an export, unless a single item has more.
const PART_BYTES: usize = 64 << 10;

impl Host {
    /// Erases a person, and then what their agents have written meanwhile.
    pub async fn erase_person(&self, owner_id: &str) -> Result<ErasureCounts, StateError> {
        let ids = self.store.person_ids(owner_id).await?;
        let counts = self.store.erase_person(&ids, self.clock.now()).await?;
        // Other nodes know an agent for up to a second longer, and it may write meanwhile.
        self.identity.invalidate_standings();
        tokio::time::sleep(STANDING_AGE).await;
        self.store.erase_person(&ids, self.clock.now()).await?;
        tracing::info!(deleted = counts.deleted, redacted = counts.redacted, "a person is erased");
        Ok(counts)
    }

    /// Does what a component has requested for a person.
    pub(super) async fn answer_request(self: &Arc<Self>, work: &DueWork) -> Result<(), Failure> {
        let request = serde_json::from_str(&work.input);
        match request.map_err(|_| Failure::new(ErrorCode::MalformedJson))? {
            PeopleRequest::Erase { owner_id } => {
                self.erase_person(&owner_id).await?;
                self.remove(work).await?;
                // The request names the person too.
                self.store.merge_log().await?;
                return Ok(());
            }
            PeopleRequest::Export { export_id, owner_id, about } => {
                let data = self.store.export_person(&owner_id).await?;
                let sent = self.send_parts(work, &export_id, &about, &data).await;
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

    /// Runs the component's action with each part of an export.
    async fn send_parts(
        self: &Arc<Self>,
        work: &DueWork,
        export_id: &str,
        about: &Value,
        data: &PersonalData,
    ) -> Result<(), Failure> {
        let parts = parts(items(data));
        let count = parts.len();
        for (part, items) in (1..).zip(parts) {
            let input = json!({
                "export_id": export_id, "about": about, "part": part, "last": part == count,
                "items": items,
            });
            let call = SystemCall {
                capability: work.capability.strip_prefix(PEOPLE_OF).unwrap_or_default(),
                action: &work.action,
                access: Access::Internal,
                input: &input.to_string(),
                test_mode: work.test_mode,
                via: None,
                task: None,
            };
            self.run_system_call(call).await?;
        }
        Ok(())
    }
}

/// An item of an export.
#[derive(Serialize)]
struct Item<'i, T> {
    kind: &'static str,
    #[serde(flatten)]
    item: &'i T,
}

/// Returns the items of an export, each with its kind.
fn items(data: &PersonalData) -> Vec<Value> {
    fn of<T: Serialize>(kind: &'static str, items: &[T]) -> impl Iterator<Item = Value> {
        items.iter().map(move |item| json!(Item { kind, item }))
    }
    of("document", &data.documents)
        .chain(of("event", &data.events))
        .chain(of("webhook", &data.webhooks))
        .chain(of("answer", &data.answers))
        .collect()
}

/// Divides items into parts of at most so many bytes. There is always one part.
fn parts(items: Vec<Value>) -> Vec<Vec<Value>> {
    let mut parts = vec![Vec::new()];
    let mut size = 0;
    for item in items {
        let bytes = item.to_string().len();
        if size > 0 && size + bytes > PART_BYTES {
            parts.push(Vec::new());
            size = 0;
        }
        size += bytes;
        if let Some(part) = parts.last_mut() {
            part.push(item);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_bounded_and_complete() {
        let item = |bytes: usize| json!("x".repeat(bytes));
        let sizes = |items: Vec<Value>| parts(items).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(Vec::new()), [0]);
        assert_eq!(sizes(vec![item(PART_BYTES * 2), item(10), item(10)]), [1, 2]);
        assert_eq!(
            sizes(vec![item(PART_BYTES / 2), item(PART_BYTES / 4), item(PART_BYTES)]),
            [2, 1]
        );
    }
}
