//! Look-ups for components. A component's own internal action gets the result.
//!
//! A look-up is a timer of the host. So it is made after the call that requested it has committed, outside
//! of any transaction, and again after a crash; it is removed in the commit of the action that gets the
//! result.

use crate::{host::Host, system::SystemCall};
use portolan_outgoing::lookups::{FileAnswer, FileLookup, LookupError, LookupRequest};
use portolan_store::{DueWork, MAX_ATTEMPTS};
use portolan_telemetry::{SpanKind, TraceContext};
use portolan_vocabulary::{Access, Caller, ErrorCode, Failure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The number of attempts after which the action gets a retryable error as the result.
const MAX_LOOKUPS: u32 = 3;

/// The stored form of a look-up.
#[derive(Serialize, Deserialize)]
struct StoredLookup {
    lookup_id: String,
    question: LookupRequest,
    /// The component's own data, which the action gets back.
    about: Value,
}

impl Host {
    /// Makes a look-up, and runs the component's action with the result. The result is dropped if the action
    /// has failed in every attempt.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        capability: &str,
        work: &DueWork,
        trace: Option<TraceContext>,
    ) -> Result<(), Failure> {
        if let Some((lookup_id, lookup)) = FileLookup::open(&work.input, self.store.keys()) {
            return self.look_up_file(capability, work, trace, (lookup_id, lookup)).await;
        }
        let StoredLookup { lookup_id, question: request, about } =
            serde_json::from_str(&work.input)
                .map_err(|_| Failure::new(ErrorCode::MalformedJson))?;
        // The trace begins with the timer, so that the page does not learn the id of the caller's.
        let mut span = self.telemetry.span(trace, SpanKind::Client, "look up");
        let traceparent = span.context_or(trace).map(|context| context.to_string());
        let looked_up = self.lookups.look_up(&request, traceparent).await;
        if looked_up.is_err() {
            span.fail("lookup_failed");
        }
        drop(span);
        let input = match looked_up {
            Ok(found) => json!({ "lookup_id": lookup_id, "about": about, "found": found }),
            Err(error) if error.is_retryable() && work.attempts + 1 < MAX_LOOKUPS => {
                return Err(
                    Failure::new(ErrorCode::DependencyUnavailable).message(error.to_string())
                );
            }
            Err(error) => {
                json!({ "lookup_id": lookup_id, "about": about, "error": error.to_string() })
            }
        };
        self.answer_lookup(capability, work, trace, (input, false)).await
    }

    /// Reads a file that changes, and runs the component's action with the result. The server is asked once for each
    /// run of the action; when to ask again is the component's to decide.
    async fn look_up_file(
        self: &Arc<Self>,
        capability: &str,
        work: &DueWork,
        trace: Option<TraceContext>,
        (lookup_id, lookup): (String, Option<FileLookup>),
    ) -> Result<(), Failure> {
        let Some(FileLookup { file, about }) = lookup else {
            // Without its data, the action cannot tell which look-up this was.
            tracing::error!(capability, lookup_id, "{}", LookupError::KeyMissing);
            return self.remove(work).await;
        };
        let mut span = self.telemetry.span(trace, SpanKind::Client, "look up");
        let traceparent = span.context_or(trace).map(|context| context.to_string());
        let answer = self.lookups.read_file(&file, traceparent, self.clock.now()).await;
        if matches!(answer, FileAnswer::Failed { .. }) {
            span.fail("lookup_failed");
        }
        drop(span);
        let mut input = file_fields(answer);
        input.insert("lookup_id".to_owned(), Value::String(lookup_id));
        input.insert("about".to_owned(), about);
        // The text is private, and the address to which the file has moved is a secret.
        self.answer_lookup(capability, work, trace, (Value::Object(input), true)).await
    }

    /// Runs the component's action with the result of a look-up.
    async fn answer_lookup(
        self: &Arc<Self>,
        capability: &str,
        work: &DueWork,
        trace: Option<TraceContext>,
        (input, has_secret): (Value, bool),
    ) -> Result<(), Failure> {
        let call = SystemCall {
            capability,
            action: &work.action,
            access: Access::Internal,
            input: &input.to_string(),
            caller: Caller::System { test_mode: work.test_mode },
            via: None,
            task: Some(work.task.clone()),
            trace,
            has_secret,
            dry_run: false,
        };
        match self.run_system_call(call).await {
            Err(failure) if work.attempts + 1 < MAX_ATTEMPTS => Err(failure),
            Err(failure) => {
                let (action, code) = (&*work.action, &*failure.error_code);
                tracing::error!(
                    capability,
                    action,
                    code,
                    "the result of a look-up is dropped, because its action fails"
                );
                self.remove(work).await
            }
            Ok(_) => Ok(()),
        }
    }
}

/// Returns the fields of an answer about a file. Those without a value are left out.
fn file_fields(answer: FileAnswer) -> Map<String, Value> {
    let fields = match answer {
        FileAnswer::Read { text, validators, moved_to } => json!({
            "text": text, "etag": validators.etag, "last_modified": validators.last_modified,
            "moved_to": moved_to,
        }),
        FileAnswer::Unchanged { validators, moved_to } => json!({
            "unchanged": true, "etag": validators.etag,
            "last_modified": validators.last_modified, "moved_to": moved_to,
        }),
        FileAnswer::Failed { error, retry_after_s } => {
            let status = match error {
                LookupError::Status(status) => Some(status),
                _ => None,
            };
            json!({ "error": error.to_string(), "status": status, "retry_after_s": retry_after_s })
        }
    };
    match fields {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}
