//! The calls of a component's action `migrate`, in a sandbox without any service.

use crate::{capability::Capability, catalog::Catalog};
use portolan_sandbox::{
    CallContext, GuestAnswer, HostServices, NestedCall, NestedCallFuture, Tape, Work,
};
use portolan_store::{Generation, Migrated, OldDocument, Outdated, Unit};
use portolan_vocabulary::{Caller, new_request_id};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The action that migrates documents.
pub(super) const ACTION: &str = "migrate";

impl Catalog {
    /// Runs the action over documents, and returns each with its new body or the reason why there is none.
    /// If a call fails, its documents are tried again in two halves, so that a document does not fail
    /// because of another one.
    pub(super) async fn migrate_documents(
        &self,
        candidate: &Capability,
        purpose: &Purpose<'_>,
        documents: Vec<OldDocument>,
    ) -> Vec<Migrated> {
        let mut migrated = Vec::new();
        let mut parts = vec![documents];
        while let Some(mut part) = parts.pop() {
            match self.call_migrate(candidate, purpose, &part).await {
                Ok(mut bodies) => migrated.extend(part.into_iter().map(|document| {
                    let outcome = match (document.body(), bodies.remove(&document.id)) {
                        (None, _) => Ok(Value::Null),
                        (Some(_), Some(outcome)) => outcome,
                        (Some(_), None) => Err("the action migrate left it out".to_owned()),
                    };
                    (document, outcome)
                })),
                Err(reason) if part.len() == 1 => {
                    migrated.extend(part.pop().map(|document| (document, Err(reason))));
                }
                Err(_) => {
                    let second = part.split_off(part.len() / 2);
                    parts.extend([second, part]);
                }
            }
        }
        migrated
    }

    /// Runs the action once, and returns the new body of each document, or why there is none.
    async fn call_migrate(
        &self,
        candidate: &Capability,
        purpose: &Purpose<'_>,
        documents: &[OldDocument],
    ) -> Result<BTreeMap<String, Result<Value, String>>, String> {
        let bodies = documents.iter().filter_map(|document| {
            let body: Value = serde_json::from_str(document.body()?).unwrap_or_default();
            Some(json!({ "id": document.id, "document": body }))
        });
        let bodies: Vec<Value> = bodies.collect();
        if bodies.is_empty() {
            return Ok(BTreeMap::new());
        }
        let input = json!({
            "collection": purpose.collection,
            "from": purpose.from,
            "to": purpose.to,
            "documents": bodies,
        });
        let now = self.options.clock.now();
        let caller = Caller::System { test_mode: purpose.test_mode };
        let platform = Arc::clone(&self.snapshot().platform);
        let context = Arc::new(CallContext::new(caller, now, new_request_id(now), platform));
        let work = Work {
            unit: Unit::new(self.store.clone(), now),
            collections: Arc::default(),
            read_only: true,
            services: Arc::new(NoServices),
        };
        let permit = self.sandbox.permit(&candidate.prepared).await;
        let _permit = permit.map_err(|error| error.to_string())?;
        let (prepared, input) = (&candidate.prepared, input.to_string());
        let work = (work, Tape::Off);
        let run = self.sandbox.run(prepared, &candidate.id, &context, (ACTION, &input), work);
        match run.await.answer.map_err(|error| error.to_string())? {
            GuestAnswer::Success { output, .. } => {
                let output: Output = serde_json::from_str(&output)
                    .map_err(|error| format!("the answer of the action migrate: {error}"))?;
                Ok(output.documents.into_iter().map(NewDocument::outcome).collect())
            }
            GuestAnswer::Refused { code, message, .. } => Err(format!("{code}: {message}")),
        }
    }
}

/// The collection, the mode and the versions of a migration.
pub(super) struct Purpose<'a> {
    collection: &'a str,
    test_mode: bool,
    from: u32,
    to: u32,
}

impl<'a> Purpose<'a> {
    pub(super) fn of(outdated: &'a Outdated) -> Self {
        Self {
            collection: &outdated.declared.name,
            test_mode: outdated.test_mode(),
            from: outdated.version,
            to: outdated.declared.version,
        }
    }
}

impl<'a> From<&'a Generation> for Purpose<'a> {
    fn from(generation: &'a Generation) -> Self {
        Self {
            collection: &generation.collection,
            test_mode: generation.test_mode,
            from: generation.from_version,
            to: generation.to_version,
        }
    }
}

#[derive(Deserialize)]
struct Output {
    documents: Vec<NewDocument>,
}

#[derive(Deserialize)]
struct NewDocument {
    id: String,
    document: Option<Value>,
    error: Option<String>,
}

impl NewDocument {
    fn outcome(self) -> (String, Result<Value, String>) {
        let none = || "the action migrate gave neither a document nor an error".to_owned();
        let outcome = match (self.error, self.document) {
            (Some(error), _) => Err(error),
            (None, document) => document.ok_or_else(none),
        };
        (self.id, outcome)
    }
}

/// The services of a component that migrates: none.
#[derive(Debug)]
struct NoServices;

const NONE: &str = "the action migrate has no services";

impl HostServices for NoServices {
    fn check_event(&self, _: &str) -> Result<(), String> {
        Err(NONE.to_owned())
    }

    fn subscribers(&self, _: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    fn check_timer(&self, _: &str, _: String) -> Result<String, String> {
        Err(NONE.to_owned())
    }

    fn call(self: Arc<Self>, nested: NestedCall) -> NestedCallFuture {
        let refused = GuestAnswer::Refused {
            code: "not_permitted".to_owned(),
            message: NONE.to_owned(),
            conflict: None,
            next: None,
            keep_writes: false,
        };
        Box::pin(async move { (refused, Some(nested.work)) })
    }
}
