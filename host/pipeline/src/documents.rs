//! Repairs or deletes documents in quarantine, for the operator.

use crate::host::Host;
use portolan_store::{Attachments, AuditRecord, Expectation, StateError, Unit, Verdict};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::Value;

/// The maximum number of attempts to write a document that calls change at the same time.
const MAX_ATTEMPTS: usize = 5;

/// The place of a document.
#[derive(Debug, Clone)]
pub struct DocumentLocation {
    pub capability: String,
    pub test_mode: bool,
    pub collection: String,
    pub id: String,
}

impl Host {
    /// Replaces a document in quarantine with this one, and ends its quarantine. `row` is the row of the
    /// decision for the audit log.
    pub async fn repair_document(
        &self,
        location: &DocumentLocation,
        document: &Value,
        row: AuditRecord,
    ) -> Result<(), Failure> {
        self.change_document(location, Some(document), Some(row)).await
    }

    /// Checks whether a document in quarantine could be replaced with this one, and changes nothing.
    pub async fn check_document(
        &self,
        location: &DocumentLocation,
        document: &Value,
    ) -> Result<(), Failure> {
        self.change_document(location, Some(document), None).await
    }

    /// Deletes a document in quarantine, and ends its quarantine. `row` is the row of the decision for the
    /// audit log.
    pub async fn drop_document(
        &self,
        location: &DocumentLocation,
        row: AuditRecord,
    ) -> Result<(), Failure> {
        self.change_document(location, None, Some(row)).await
    }

    /// Replaces or deletes a document in quarantine. Without a row for the audit log, it is only tried.
    async fn change_document(
        &self,
        location: &DocumentLocation,
        document: Option<&Value>,
        row: Option<AuditRecord>,
    ) -> Result<(), Failure> {
        let DocumentLocation { capability, test_mode, collection, id } = location;
        let quarantined =
            self.store.quarantined_document((capability, *test_mode), collection, id).await?;
        let not_found = || {
            Failure::new(ErrorCode::NotFound).message("There is no such document in quarantine.")
        };
        quarantined.ok_or_else(not_found)?;
        let snapshot = self.catalog.snapshot();
        let capability = snapshot.find(capability, self.clock.now())?;
        let collections = capability.collections.of(*test_mode);
        let collection = collections.get(collection).ok_or_else(not_found)?;
        for _ in 0..MAX_ATTEMPTS {
            let mut unit = Unit::new(self.store.clone(), self.clock.now());
            let any = Expectation::Any;
            match document {
                Some(document) => {
                    let written = unit.put(collection, id, document.to_string(), any).await;
                    written.map_err(write_failure)?;
                }
                None => unit.delete(collection, id, any).await.map_err(write_failure)?,
            }
            let Some(row) = &row else { return Ok(()) };
            let attachments = Attachments { audit: Some(row.clone()), ..Attachments::default() };
            let verdict = unit.commit(attachments).await.map_err(|error| {
                tracing::error!(%error, "a document in quarantine cannot be written");
                Failure::new(ErrorCode::DependencyUnavailable).after_s(1)
            })?;
            match verdict {
                Verdict::Committed => {
                    self.store.end_quarantine(collection, id).await?;
                    return Ok(());
                }
                Verdict::QuotaExceeded(exceeded) => return Err(exceeded.into()),
                Verdict::Erased => return Err(Failure::new(ErrorCode::ResourceGone)),
                Verdict::Conflict(_) | Verdict::Superseded | Verdict::Replaced => {}
            }
        }
        Err(Failure::new(ErrorCode::VersionConflict).after_s(1))
    }
}

fn write_failure(error: StateError) -> Failure {
    match error {
        StateError::Db(error) => error.into(),
        other => Failure::new(ErrorCode::ValidationFailed).message(other.to_string()),
    }
}
