//! The call of a draft, in the person's name.
//!
//! The call comes first, and then the address is used up, because a call that is refused can be corrected and sent
//! again. Its idempotency key follows from the handoff, its record, the action and the person, so that it is made once:
//! also if a form is sent twice, if this host stops between the two, or if the address was renewed.

use super::{
    draft::{Drafted, fields},
    resolve::{Ids, Preview, USED, redeem},
    shown::Outcome,
};
use crate::{
    App,
    oauth::{
        forms::PageForm,
        person::{
            calls::PersonCalls,
            forms::{AGREED, drafted_input},
            things::at,
        },
    },
};
use portolan_vocabulary::{Digest, ErrorCode, Failure};
use serde_json::{Map, Value};
use std::time::Duration;

/// How often a call is tried while the first one with its key is running, and the time in between.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(500);

/// The context of a call that a form makes.
pub(super) struct Sending<'a> {
    pub(super) app: &'a App,
    pub(super) calls: &'a PersonCalls<'a>,
    pub(super) drafted: &'a Drafted<'a>,
    pub(super) token: &'a str,
}

/// Makes the call that a form has drafted, or tries it. An action that reads answers what the page shows.
pub(super) async fn send(
    sending: &Sending<'_>,
    preview: &Preview,
    form: &PageForm,
) -> Result<Outcome, Failure> {
    let Drafted { capability, page, action } = sending.drafted;
    let mut input = drafted_input(page, action, form, fields(&preview.draft));
    if !page.writes {
        let output = sending.calls.call(capability, &page.action, input).await?;
        return Ok(Outcome::Found(sending.drafted.things(&output)));
    }
    if form.field("step") == "check" {
        input.insert("dry_run".to_owned(), Value::Bool(true));
        let output = sending.calls.call(capability, &page.action, input).await?;
        return Ok(Outcome::Tried(sending.drafted.things(&output)));
    }
    if page.confirm.is_some() && form.field(AGREED).is_empty() {
        let message = "Nothing was sent, because the box was not ticked.";
        return Err(Failure::new(ErrorCode::ConfirmRequired).message(message));
    }
    let output = match sending.call(input, &preview.ids).await {
        Err(failure) if failure.has_code(ErrorCode::IdempotencyKeyReused) => {
            sending.use_up().await;
            let message = "You have sent this already in the last 24 hours, with other words. Nothing was sent now.";
            return Err(failure.message(message));
        }
        called => called?,
    };
    sending.use_up().await;
    let made = page.draft.as_ref().and_then(|draft| at(&output, draft.made.as_deref()?));
    Ok(Outcome::Sent { made: made.and_then(Value::as_str).unwrap_or_default().to_owned() })
}

impl Sending<'_> {
    /// Makes the call. While an equal one is running, it waits for the answer of that one.
    async fn call(&self, input: Map<String, Value>, ids: &Ids) -> Result<Value, Failure> {
        let (capability, action) = (self.drafted.capability, &self.drafted.page.action);
        let Ids { handoff_id, record_id } = ids;
        let (id, person) = (&capability.id, self.calls.person());
        let sent = format!("handoff {handoff_id} {record_id} {id} {action} {person}");
        let key = Digest::of(sent.as_bytes()).hex();
        let clock = &self.app.host.clock;
        let mut tries = 1;
        loop {
            match self.calls.call_once(capability, action, input.clone(), key.clone()).await {
                Err(failure)
                    if failure.has_code(ErrorCode::IdempotencyInProgress) && tries < TRIES =>
                {
                    tries += 1;
                    clock.sleep_until(clock.now().plus(PAUSE)).await;
                }
                called => return called,
            }
        }
    }

    /// Uses the address up, so that agents see that it was finished. The call stays made if that fails.
    async fn use_up(&self) {
        match redeem(self.app, self.token, self.calls).await {
            Ok(_) => {}
            Err(failure) if failure.error_code == USED => {}
            Err(failure) => {
                tracing::warn!(
                    code = &*failure.error_code,
                    "a handoff that was sent is not used up"
                );
            }
        }
    }
}
