//! The host functions that are recorded and replayed: a table of them, each with its policy. The functions
//! themselves know nothing of it.

use crate::{
    contract::{
        approvals, blobs, delivery, documents, events, feeds, identity, inbox, invoke, lookups,
        messages, moderation, people, platform, secrets, sms, timers, types, webhooks,
    },
    state::CallState,
    tape::{Policy, Tape, as_json, as_keyed_digest, play},
};
use portolan_vocabulary::Keyring;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::value::RawValue;
use std::any::Any;
use types::HostError;
use wasmtime::component::HasData;

/// The state of a run, whose calls of host functions are recorded or answered from a record.
pub(super) struct Taped<'a>(&'a mut CallState);

/// The type with which the generated bindings find the host of recorded interfaces.
pub(super) struct TapedState;

impl HasData for TapedState {
    type Data<'a> = Taped<'a>;
}

/// Returns the state as the host of recorded interfaces.
pub(super) fn taped(state: &mut CallState) -> Taped<'_> {
    Taped(state)
}

/// The answer of a host function, or the text with which it traps its guest.
#[derive(Serialize, Deserialize)]
enum Answered<T> {
    Ok(T),
    Trap(String),
}

impl CallState {
    /// Returns the arguments of a call as JSON, or a digest of them; `None` if the run is neither recorded nor
    /// replayed, or they are too long.
    fn taped_arguments(
        &self,
        function: &'static str,
        policy: Policy,
        arguments: &impl Serialize,
    ) -> Option<Box<RawValue>> {
        let limit = self.tape.json_limit(self.context.session())?;
        if policy.gives_secret && matches!(self.tape, Tape::Recording(_)) {
            return None;
        }
        match policy.hides_arguments {
            false => as_json(arguments, limit),
            true => self.hidden_arguments(function, arguments),
        }
    }

    /// Returns the digest of arguments under the newest of the host's keys; in a replay, under the key that the
    /// record was made with, if it is still there.
    fn hidden_arguments(
        &self,
        function: &'static str,
        arguments: &impl Serialize,
    ) -> Option<Box<RawValue>> {
        let keys = self.work.as_ref()?.unit.keys().derive(Keyring::RECORDED_ARGUMENTS);
        let mut newest = None;
        for key in keys.iter() {
            let about = [&*self.context.request_id, function];
            let digest = as_keyed_digest(arguments, key, about)?;
            match &self.tape {
                Tape::Replaying(player) if !player.has_call(function, &digest) => {}
                _ => return Some(digest),
            }
            newest.get_or_insert(digest);
        }
        newest
    }

    /// Returns the recorded answer of a call; `None` if the function itself is to answer.
    fn taped_answer<T: DeserializeOwned + 'static>(
        &mut self,
        function: &'static str,
        policy: Policy,
        arguments: Option<&RawValue>,
    ) -> wasmtime::Result<Option<T>> {
        let Tape::Replaying(player) = &mut self.tape else { return Ok(None) };
        let recorded = match play(player, function, policy, arguments) {
            Ok(None) => return Ok(None),
            Ok(Some(recorded)) => recorded,
            Err(divergence) => wasmtime::bail!("{divergence}"),
        };
        match serde_json::from_str(recorded.get()) {
            Ok(Answered::Ok(mut answer)) => {
                restore_numbers(&mut answer, &recorded);
                Ok(Some(answer))
            }
            Err(error) => wasmtime::bail!("the recorded answer cannot be read: {error}"),
            Ok(Answered::Trap(text)) => wasmtime::bail!("{text}"),
        }
    }

    fn record_answer<T: Serialize>(
        &mut self,
        function: &'static str,
        policy: Policy,
        arguments: Option<Box<RawValue>>,
        answer: &wasmtime::Result<T>,
    ) {
        let Some(session) = self.context.session() else { return };
        let Some(limit) = self.tape.json_limit(Some(session)) else { return };
        let Tape::Recording(recorder) = &mut self.tape else { return };
        if policy.gives_secret {
            return recorder.record(session, function, policy, (None, None));
        }
        let answer = match (&arguments, answer) {
            // The run is not kept.
            (None, _) => None,
            (Some(arguments), Ok(answer)) => {
                as_json(&Answered::Ok(answer), limit.saturating_sub(arguments.get().len()))
            }
            (Some(_), Err(error)) => as_json(&Answered::<()>::Trap(error.to_string()), limit),
        };
        recorder.record(session, function, policy, (arguments, answer));
    }
}

/// The fractional numbers of a page, as they are written.
#[derive(Deserialize)]
struct WrittenPage {
    hits: Vec<WrittenHit>,
}

#[derive(Deserialize)]
struct WrittenHit {
    relevance: Option<Box<RawValue>>,
    distance_m: Option<Box<RawValue>>,
}

/// Reads the fractional numbers of a page again, exactly: the reader of JSON can differ by the last bit.
fn restore_numbers<T: 'static>(answer: &mut T, recorded: &RawValue) {
    let answer: &mut dyn Any = answer;
    let Some(Ok(page)) = answer.downcast_mut::<Answer<documents::Page>>() else { return };
    let written = serde_json::from_str::<Answered<Result<WrittenPage, IgnoredAny>>>(recorded.get());
    let Ok(Answered::Ok(Ok(written))) = written else { return };
    let number = |text: Option<Box<RawValue>>| text?.get().parse().ok();
    for (hit, written) in page.hits.iter_mut().zip(written.hits) {
        hit.relevance = number(written.relevance).or(hit.relevance);
        hit.distance_m = number(written.distance_m).or(hit.distance_m);
    }
}

/// Implements an interface for [`Taped`]: each function with its policy.
macro_rules! taped {
    ($interface:ident, $($policy:ident $function:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl $interface::Host for Taped<'_> {
            $(async fn $function(&mut self, $($argument: $type),*) -> wasmtime::Result<$answer> {
                const NAME: &str = concat!(stringify!($interface), ".", stringify!($function));
                const POLICY: Policy = Policy::$policy;
                let arguments = self.0.taped_arguments(NAME, POLICY, &($(&$argument,)*));
                if let Some(answer) = self.0.taped_answer(NAME, POLICY, arguments.as_deref())? {
                    return Ok(answer);
                }
                let answer = $interface::Host::$function(self.0, $($argument),*).await;
                self.0.record_answer(NAME, POLICY, arguments, &answer);
                answer
            })*
        }
    };
}

/// Implements an interface without waiting functions for [`Taped`]. The functions after `;` are neither recorded nor
/// replayed.
macro_rules! taped_at_once {
    ($interface:ident, $($policy:ident $function:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
     @ direct $($direct:ident($given:ident: $kind:ty) -> $returned:ty;)*) => {
        impl $interface::Host for Taped<'_> {
            $(fn $function(&mut self, $($argument: $type),*) -> wasmtime::Result<$answer> {
                const NAME: &str = concat!(stringify!($interface), ".", stringify!($function));
                const POLICY: Policy = Policy::$policy;
                let arguments = self.0.taped_arguments(NAME, POLICY, &($(&$argument,)*));
                if let Some(answer) = self.0.taped_answer(NAME, POLICY, arguments.as_deref())? {
                    return Ok(answer);
                }
                let answer = $interface::Host::$function(self.0, $($argument),*);
                self.0.record_answer(NAME, POLICY, arguments, &answer);
                answer
            })*
            $(fn $direct(&mut self, $given: $kind) -> wasmtime::Result<$returned> {
                $interface::Host::$direct(self.0, $given)
            })*
        }
    };
}

type Answer<T> = Result<T, HostError>;
type Document = documents::Document;
type Counts = Vec<Vec<documents::Counted>>;

taped! { documents,
    READ get(collection: String, id: String) -> Answer<Option<Document>>;
    READ get_many(collection: String, ids: Vec<String>) -> Answer<Vec<Option<Document>>>;
    READ find(collection: String, query: documents::Query) -> Answer<documents::Page>;
    READ count(collection: String, filter: Option<String>) -> Answer<u64>;
    READ count_by(collection: String, query: documents::Query, paths: Vec<String>) -> Answer<Counts>;
    WRITE put(collection: String, id: String, body: String, expect: documents::Expectation) -> Answer<u64>;
    SILENT delete(collection: String, id: String, expect: documents::Expectation) -> Answer<()>;
    SILENT report_unreadable(collection: String, id: String, revision: u64, reason: String) -> Answer<()>;
}

taped! { events,
    CHECKED publish(to: events::Audience, event: events::Event) -> Answer<()>;
}

taped! { timers,
    CHECKED set(name: String, at: u64, action: String, input: String) -> Answer<()>;
    CHANGE cancel(name: String) -> Answer<bool>;
}

taped! { invoke,
    NESTED call(capability: String, action: String, input: String) -> Result<types::Success, types::Failure>;
}

taped! { feeds,
    READ publication() -> Answer<String>;
    READ get_many(feed: String, ids: Vec<String>) -> Answer<Vec<Option<Document>>>;
    READ find(feed: String, query: documents::Query) -> Answer<documents::Page>;
    READ count_by(feed: String, query: documents::Query, paths: Vec<String>) -> Answer<Counts>;
    READ changes(since: Option<String>, limit: u32) -> Answer<feeds::ChangePage>;
}

taped_at_once! { platform,
    READ about() -> platform::Service;
    READ limits() -> Vec<platform::Limit>;
    READ components() -> Vec<platform::Component>;
    @ direct
}

// A sealed text is opened again in a replay, so that no record has it.
taped_at_once! { secrets,
    KEYED mac(data: Vec<u8>) -> Answer<Vec<u8>>;
    KEYED macs(data: Vec<u8>) -> Answer<Vec<Vec<u8>>>;
    KEYED seal(data: Vec<u8>) -> Answer<Vec<u8>>;
    @ direct open(sealed: Vec<u8>) -> Answer<Vec<u8>>;
}

taped! { sms,
    HIDDEN send(to: String, text: String) -> Answer<String>;
}

taped! { messages,
    HIDDEN send(to: String, text: String, recipient: messages::Recipient) -> Result<String, messages::Unsent>;
}

taped! { identity,
    HIDDEN claim(person_key: String) -> Answer<identity::Claimed>;
    SILENT unclaim() -> Answer<()>;
    HIDDEN rebind(owner_id: String, person_key: String) -> Answer<()>;
    READ owner(owner_id: String) -> Answer<Option<identity::Person>>;
    READ agents(owner_id: String) -> Answer<Vec<identity::Agent>>;
    READ last_call(owner_id: String) -> Answer<Option<u64>>;
    SILENT rename(agent_id: String, name: String) -> Answer<()>;
    SILENT revoke(agent_id: String) -> Answer<()>;
    SILENT sign_out(owner_id: String) -> Answer<()>;
}

taped! { moderation,
    SILENT suspend(owner_id: String, suspension: moderation::Suspension) -> Answer<()>;
    CHANGE reinstate(owner_id: String) -> Answer<bool>;
}

taped! { delivery,
    READ get(owner_id: String) -> Answer<delivery::State>;
    SILENT set_rules(owner_id: String, rules: delivery::Rules) -> Answer<()>;
    SILENT mute(owner_id: String, subject: String, until: Option<u64>) -> Answer<()>;
    CHANGE unmute(owner_id: String, subject: String) -> Answer<bool>;
}

taped! { inbox,
    READ pull(cursor: Option<String>, types: Vec<String>, limit: u32) -> Answer<inbox::Page>;
    EFFECT acknowledge(event_ids: Vec<String>) -> Answer<inbox::Acknowledged>;
    EFFECT replay(since: u64, types: Vec<String>) -> Answer<u32>;
}

taped! { webhooks,
    SECRET create(url: String, types: Vec<String>, description: Option<String>) -> Answer<webhooks::Created>;
    READ all() -> Answer<Vec<webhooks::Endpoint>>;
    READ get(id: String) -> Answer<Option<webhooks::Endpoint>>;
    EFFECT update(id: String, expect: Option<u64>, change: webhooks::Change) -> Answer<webhooks::Endpoint>;
    EFFECT pause(id: String) -> Answer<webhooks::Endpoint>;
    EFFECT resume(id: String) -> Answer<webhooks::Endpoint>;
    EFFECT challenge(id: String) -> Answer<webhooks::Endpoint>;
    SECRET rotate_secret(id: String) -> Answer<webhooks::Created>;
    EFFECT test(id: String) -> Answer<String>;
    READ log(id: String, outcome: Option<webhooks::Outcome>, cursor: Option<String>, limit: u32) -> Answer<webhooks::Deliveries>;
    EFFECT redeliver(delivery_id: String) -> Answer<Option<webhooks::Delivery>>;
    CHANGE remove(id: String) -> Answer<bool>;
}

// The address of a file is the password of its person. The run that has opened it is not kept.
taped! { lookups,
    EFFECT txt(name: String, action: String, about: String) -> Answer<String>;
    EFFECT page(url: String, action: String, about: String) -> Answer<String>;
    SECRET file(url: String, media_types: Vec<String>, etag: Option<String>, last_modified: Option<String>, action: String, about: String) -> Answer<String>;
}

taped! { people,
    EFFECT request_export(action: String, about: String) -> Answer<String>;
    SILENT request_erasure() -> Answer<()>;
    SILENT request_erasure_of(owner_id: String) -> Answer<()>;
}

taped! { approvals,
    SILENT set_policy(policy: Option<String>) -> Answer<()>;
    SILENT run(approval_id: String, call: String, action: String) -> Answer<()>;
}

// The address of an upload is a secret: who has it can upload. So are the bytes of a file: what was uploaded can tell
// where its person was.
taped! { blobs,
    SECRET begin_upload(max_bytes: u64, action: String) -> Answer<blobs::Upload>;
    READ get(id: String) -> Answer<Option<blobs::Blob>>;
    BYTES read(id: String, offset: u64, length: u32) -> Answer<Vec<u8>>;
    HIDDEN derive(source: String, content: Vec<u8>) -> Answer<blobs::Blob>;
    SILENT serve(id: String, how: Option<blobs::Serving>) -> Answer<()>;
    READ address(id: String, until: u64) -> Answer<String>;
    CHANGE delete(id: String) -> Answer<bool>;
}
