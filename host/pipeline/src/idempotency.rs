//! Idempotency keys: a repeated call gets the stored answer of the first one.
//!
//! An answer is stored under the agent, the capability, the action and the key, if the call succeeded or
//! wrote something. A refusal without writes is not stored, because the same call may succeed later.

use crate::{answer::declared_failure, outcome::Outcome};
use portolan_catalog::{Action, Capability};
use portolan_store::{IdempotencyKey, Store, StoredAnswer};
use portolan_vocabulary::{Digest, ErrorCode, Failure, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

/// The retention of an answer: 24 hours.
const RETENTION_MS: u64 = 24 * 3600 * 1000;
/// The retention of the answer of an approved call, whose outcome may be told late: 30 days.
const APPROVED_RETENTION_MS: u64 = 30 * RETENTION_MS;
/// The maximum number of bytes of a stored answer. In place of a larger answer, an empty one is stored.
const MAX_STORED_BYTES: usize = 64 << 10;
/// The seconds after which the first call has probably ended.
const RETRY_AFTER_S: u32 = 1;

/// The keys of calls that are running on this node.
#[derive(Debug, Default, Clone)]
pub(super) struct RunningKeys(Arc<Mutex<BTreeSet<IdempotencyKey>>>);

/// A call with an idempotency key. Until it is dropped, no other call with this key starts on this node.
#[derive(Debug)]
pub(super) struct KeyedCall {
    key: IdempotencyKey,
    body_hash: Digest,
    running: RunningKeys,
    /// Whether a person has approved the call.
    is_approved: bool,
}

/// The stored form of an answer. If it has neither a result nor a refusal, the answer was too large.
#[derive(Debug, Default, Serialize, Deserialize)]
struct AnswerRecord {
    result: Option<Value>,
    refusal: Option<RefusalRecord>,
    next: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RefusalRecord {
    code: String,
    message: String,
    conflict: Option<Value>,
}

impl RunningKeys {
    /// Registers a call; `idempotency_in_progress` if another call with this key is running. `body` is the
    /// call's body without the key, with its person.
    pub(super) fn begin(&self, key: IdempotencyKey, body: &Value) -> Result<KeyedCall, Failure> {
        let body_hash = Digest::of_value(body);
        let is_first = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        if !is_first {
            return Err(Failure::new(ErrorCode::IdempotencyInProgress).after_s(RETRY_AFTER_S));
        }
        Ok(KeyedCall { key, body_hash, running: self.clone(), is_approved: false })
    }
}

impl Drop for KeyedCall {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

impl KeyedCall {
    /// Returns the call as one that a person has approved.
    pub(super) fn approved(mut self) -> Self {
        self.is_approved = true;
        self
    }

    /// Returns the idempotency key.
    pub(super) fn key(&self) -> &str {
        &self.key.key
    }

    /// Returns the stored answer of the first call with this key, if there is one. Fails if the bodies of
    /// the two calls differ, or if the answer was too large to be stored; that of an approved call is then null.
    pub(super) async fn find_answer(
        &self,
        store: &Store,
        now: Timestamp,
        capability: &Capability,
        action: &Action,
    ) -> Result<Option<Outcome>, Failure> {
        let Some((hash, answer)) = store.find_answer(&self.key, now).await? else {
            return Ok(None);
        };
        if hash != self.body_hash.hex() {
            return Err(Failure::new(ErrorCode::IdempotencyKeyReused)
                .conflict(json!({ "kind": "idempotency", "idempotency_key": self.key.key })));
        }
        let unreadable = |_| Failure::new(ErrorCode::InternalError);
        let record: AnswerRecord = serde_json::from_str(&answer).map_err(unreadable)?;
        if let Some(result) = record.result {
            return Ok(Some(Ok((result, record.next))));
        }
        let Some(refusal) = record.refusal else {
            if self.is_approved {
                return Ok(Some(Ok((Value::Null, None))));
            }
            return Err(Failure::new(ErrorCode::ResourceGone).message(
                "The first call with this key was done. Its answer was too large to be kept.",
            ));
        };
        let mut failure = declared_failure(capability, action, &refusal.code)
            .ok_or(Failure::new(ErrorCode::CapabilityAnswerInvalid))?;
        failure.message = Cow::Owned(refusal.message);
        failure.conflict = refusal.conflict.map(Box::new);
        failure.next = record.next.map(Box::new);
        Ok(Some(Err(failure)))
    }

    fn retention_ms(&self) -> u64 {
        if self.is_approved { APPROVED_RETENTION_MS } else { RETENTION_MS }
    }

    /// Returns the stored form of this outcome.
    pub(super) fn stored_answer(&self, outcome: &Outcome, now: Timestamp) -> StoredAnswer {
        let record = match outcome {
            Ok((result, next)) => {
                AnswerRecord { result: Some(result.clone()), refusal: None, next: next.clone() }
            }
            Err(failure) => AnswerRecord {
                result: None,
                refusal: Some(RefusalRecord {
                    code: failure.error_code.to_string(),
                    message: failure.message.to_string(),
                    conflict: failure.conflict.as_deref().cloned(),
                }),
                next: failure.next.as_deref().cloned(),
            },
        };
        StoredAnswer {
            key: self.key.clone(),
            body_hash: self.body_hash,
            answer: record.text(),
            now,
            expires_at: Timestamp::from_millis(now.as_millis() + self.retention_ms()),
        }
    }
}

impl AnswerRecord {
    fn text(&self) -> String {
        let text = json!(self).to_string();
        if text.len() > MAX_STORED_BYTES { json!(Self::default()).to_string() } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_an_approved_call_is_kept_longer() {
        let key = |name: &str| IdempotencyKey {
            agent_id: "agt_1".to_owned(),
            capability: "pay".to_owned(),
            action: "send".to_owned(),
            key: name.to_owned(),
        };
        let running = RunningKeys::default();
        let begun = |name: &str| running.begin(key(name), &json!([])).unwrap();
        let expiry = |keyed: &KeyedCall| {
            let stored = keyed.stored_answer(&Ok((json!({}), None)), Timestamp::from_millis(0));
            stored.expires_at.as_millis()
        };
        assert_eq!(expiry(&begun("a")), RETENTION_MS);
        assert_eq!(expiry(&begun("b").approved()), APPROVED_RETENTION_MS);
    }

    #[test]
    fn a_large_answer_is_not_stored() {
        let record = |bytes: usize| AnswerRecord {
            result: Some(json!("x".repeat(bytes))),
            ..AnswerRecord::default()
        };
        assert!(record(MAX_STORED_BYTES / 2).text().len() > MAX_STORED_BYTES / 2);
        assert_eq!(record(MAX_STORED_BYTES).text(), json!(AnswerRecord::default()).to_string());
    }
}
