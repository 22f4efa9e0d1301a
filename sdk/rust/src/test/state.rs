//! The state of a world, which implements the imports of a capability.

use super::{
    documents::Collections,
    effects::{Asked, Logged, Lookup, PeopleRequest, Published, Question, Timer},
    secrets::Keys,
};
use crate::{
    contract::{
        Caller, Descriptor, Failure, HostError, Success, context,
        description::{Access, Action},
        events,
    },
    feeds::Change,
    imports,
};
use portolan_query::Shape;
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};
use ulid::Ulid;

const NAME_BYTES: usize = 128;
const RANDOM_BYTES: u32 = 4096;
const EVENT_BYTES: usize = 20_000;
const EVENTS: usize = 100;
const SECRET_BYTES: usize = 64 << 10;
const ABOUT_BYTES: usize = 4096;
/// The end of the year 9999.
const LATEST: u64 = 253_402_300_799_999;

/// The answers of other capabilities' actions that are still to be given, by capability and action.
type Answers = BTreeMap<(String, String), VecDeque<Result<Success, Failure>>>;

/// A function that makes the answer of another capability's action from the input.
pub(super) type Answering = Box<dyn Fn(Value) -> Result<Success, Failure>>;

/// The state of a test world: its time, its caller, prepared answers, and what the calls have stored and
/// logged.
pub(super) struct State {
    pub(super) now: u64,
    pub(super) caller: Caller,
    pub(super) test_mode: bool,
    pub(super) descriptor: Option<Descriptor>,
    /// The running action, if it was called by its name.
    pub(super) action: Option<Action>,
    pub(super) random: StdRng,
    pub(super) keys: Keys,
    pub(super) shapes: BTreeMap<String, Shape>,
    pub(super) effects: Effects,
    /// The number of events that were published before the running call.
    pub(super) earlier_events: usize,
    pub(super) answers: Answers,
    /// The functions that answer the actions that are not in `answers`, by capability and action.
    pub(super) answering: BTreeMap<(String, String), Answering>,
    pub(super) asked: Vec<Asked>,
    pub(super) logged: Vec<Logged>,
    /// The changes of the feeds.
    pub(super) changes: Vec<Change>,
}

/// The effects that are discarded when an action refuses, unless the refusal keeps the writes.
#[derive(Debug, Clone, Default)]
pub(super) struct Effects {
    pub(super) collections: Collections,
    pub(super) events: Vec<Published>,
    pub(super) timers: BTreeMap<String, Timer>,
    pub(super) lookups: Vec<Lookup>,
    pub(super) people: Vec<PeopleRequest>,
}

impl imports::Host for State {}
impl imports::Blobs for State {}
impl imports::Identity for State {}
impl imports::Inbox for State {}
impl imports::Approvals for State {}
impl imports::Delivery for State {}
impl imports::Moderation for State {}
impl imports::Sms for State {}

impl imports::Messages for State {}
impl imports::Webhooks for State {}

impl State {
    pub(super) fn new(caller: Caller, now: u64, seed: u64) -> Self {
        let (random, keys) = seeded(seed);
        Self {
            now,
            caller,
            test_mode: false,
            descriptor: None,
            action: None,
            random,
            keys,
            shapes: BTreeMap::new(),
            effects: Effects::default(),
            earlier_events: 0,
            answers: BTreeMap::new(),
            answering: BTreeMap::new(),
            asked: Vec::new(),
            logged: Vec::new(),
            changes: Vec::new(),
        }
    }

    pub(super) fn seed(&mut self, seed: u64) {
        (self.random, self.keys) = seeded(seed);
    }

    pub(super) fn ensure_writable(&self) -> Result<(), HostError> {
        match self.action.as_ref().map(|action| action.access) {
            Some(Access::Read) => {
                let text = "an action of access read changes nothing: declare another access";
                Err(HostError::Invalid(text.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the running action declares this event type. If the action is unknown, the
    /// capability must declare the type; if the capability is unknown too, every type is allowed.
    fn check_event(&self, event_type: &str) -> Result<(), HostError> {
        let declared = match (&self.action, &self.descriptor) {
            (Some(action), _) => action.emits.iter().any(|declared| declared == event_type),
            (None, Some(descriptor)) => {
                descriptor.publishes.iter().any(|declared| declared.event_type == event_type)
            }
            (None, None) => true,
        };
        let undeclared = || format!("the event {event_type} is not among the action's `emits`");
        declared.then_some(()).ok_or_else(|| HostError::Invalid(undeclared()))
    }

    /// Checks that the capability, if it is known, has this internal action.
    fn check_internal(&self, action: &str) -> Result<(), HostError> {
        let Some(descriptor) = &self.descriptor else { return Ok(()) };
        let mut actions = descriptor.actions.iter();
        let is_internal = |own: &Action| own.name == action && own.access == Access::Internal;
        match actions.any(is_internal) {
            true => Ok(()),
            false => {
                Err(HostError::Invalid(format!("there is no action {action} of access internal")))
            }
        }
    }

    fn is_declared_invocation(&self, capability: &str, action: &str) -> bool {
        self.descriptor.as_ref().is_none_or(|descriptor| {
            let mut declared = descriptor.invokes.iter();
            declared.any(|call| call.capability == capability && call.action == action)
        })
    }

    fn look_up(
        &mut self,
        question: Question,
        action: &str,
        about: &str,
    ) -> Result<String, HostError> {
        self.ensure_writable()?;
        self.check_internal(action)?;
        let about = bounded_object(about)?;
        let id = imports::Context::new_id(self, "lkp");
        let action = action.to_owned();
        self.effects.lookups.push(Lookup { id: id.clone(), question, action, about });
        Ok(id)
    }

    fn calling_owner(&self) -> Result<String, HostError> {
        let owner_id = match &self.caller {
            Caller::Agent(agent) => agent.owner_id.clone(),
            Caller::System => None,
        };
        let missing = || HostError::Invalid("nobody has claimed the calling agent".to_owned());
        owner_id.ok_or_else(missing)
    }
}

fn seeded(seed: u64) -> (StdRng, Keys) {
    let mut random = StdRng::seed_from_u64(seed);
    let keys = Keys { mac: random.random(), seal: random.random(), cursor: random.random() };
    (random, keys)
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// Parses the value that a component wants to have returned.
fn bounded_object(about: &str) -> Result<Value, HostError> {
    let parsed = object(about).filter(|_| about.len() <= ABOUT_BYTES);
    let text = || format!("`about` must be a JSON object of at most {ABOUT_BYTES} bytes");
    parsed.map(Value::Object).ok_or_else(|| HostError::Invalid(text()))
}

fn ensure_name(what: &str, name: &str) -> Result<(), HostError> {
    if name.is_empty() || name.len() > NAME_BYTES || name.contains(char::is_control) {
        let text = format!("{what} must have 1 to {NAME_BYTES} bytes and no control characters");
        return Err(HostError::Invalid(text));
    }
    Ok(())
}

fn ensure_length(data: &[u8]) -> Result<(), HostError> {
    match data.len() > SECRET_BYTES {
        true => Err(HostError::Limit(format!("the data must have at most {SECRET_BYTES} bytes"))),
        false => Ok(()),
    }
}

impl imports::Context for State {
    fn now(&mut self) -> u64 {
        self.now
    }

    fn client_id(&mut self) -> Option<String> {
        match &self.caller {
            Caller::Agent(_) => Some("cli_01JZX8Q4M2N6P7R8S9T0V1W2X5".to_owned()),
            Caller::System => None,
        }
    }

    fn test_mode(&mut self) -> bool {
        self.test_mode
    }

    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    fn random(&mut self, length: u32) -> Vec<u8> {
        if length > RANDOM_BYTES {
            panic!("random gives at most {RANDOM_BYTES} bytes, and {length} were asked for");
        }
        let mut bytes = vec![0; length as usize];
        self.random.fill_bytes(&mut bytes);
        bytes
    }

    fn new_id(&mut self, prefix: &str) -> String {
        format!("{prefix}_{}", Ulid::from_parts(self.now, self.random.random()))
    }

    fn log(&mut self, level: context::Level, message: &str) {
        self.logged.push(Logged { level, message: message.to_owned() });
    }
}

impl imports::Events for State {
    fn publish(&mut self, to: &events::Audience, event: &events::Event) -> Result<(), HostError> {
        self.ensure_writable()?;
        self.check_event(&event.event_type)?;
        ensure_name("a subject", &event.subject)?;
        if let events::Audience::Agent(id) | events::Audience::Owner(id) = to {
            ensure_name("an audience", id)?;
        }
        if event.data.len() > EVENT_BYTES {
            return Err(HostError::Limit(format!(
                "an event must have at most {EVENT_BYTES} bytes"
            )));
        }
        let data = object(&event.data).ok_or_else(|| {
            HostError::Invalid("an event's data must be a JSON object".to_owned())
        })?;
        if self.effects.events.len() >= self.earlier_events + EVENTS {
            return Err(HostError::Limit(format!("a call can publish at most {EVENTS} events")));
        }
        self.effects.events.push(Published {
            to: to.clone(),
            event_type: event.event_type.clone(),
            subject: event.subject.clone(),
            data: Value::Object(data),
        });
        Ok(())
    }
}

impl imports::Timers for State {
    fn set(&mut self, name: &str, at: u64, action: &str, input: &str) -> Result<(), HostError> {
        self.ensure_writable()?;
        ensure_name("a timer's name", name)?;
        self.check_internal(action)?;
        let input = object(input).ok_or_else(|| {
            HostError::Invalid("a timer's input must be a JSON object".to_owned())
        })?;
        if at > LATEST {
            let text = "a timer's time is after the year 9999: it is in milliseconds since 1970";
            return Err(HostError::Invalid(text.to_owned()));
        }
        let (action, input) = (action.to_owned(), Value::Object(input));
        let timer = Timer { name: name.to_owned(), at, action, input };
        self.effects.timers.insert(name.to_owned(), timer);
        Ok(())
    }

    fn cancel(&mut self, name: &str) -> Result<bool, HostError> {
        self.ensure_writable()?;
        Ok(self.effects.timers.remove(name).is_some())
    }
}

impl imports::Invoke for State {
    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    fn call(&mut self, capability: &str, action: &str, input: &str) -> Result<Success, Failure> {
        if !self.is_declared_invocation(capability, action) {
            return Err(Failure {
                code: "not_permitted".to_owned(),
                message: format!(
                    "This capability does not list {capability}.{action} in `invokes`."
                ),
                conflict: None,
                next: None,
                keep_writes: false,
            });
        }
        let key = (capability.to_owned(), action.to_owned());
        let input = object(input).map_or(Value::Null, Value::Object);
        let asked =
            Asked { capability: key.0.clone(), action: key.1.clone(), input: input.clone() };
        self.asked.push(asked);
        let Some(answers) = self.answers.get_mut(&key) else {
            let Some(answering) = self.answering.get(&key) else {
                panic!(
                    "{capability}.{action} is called: give the world its answer with `answer`, `answer_by` or `refuse`"
                );
            };
            return answering(input);
        };
        // The last answer is given again and again.
        let answer = match answers.len() {
            1 => answers.front().cloned(),
            _ => answers.pop_front(),
        };
        answer.unwrap_or_else(|| panic!("{capability}.{action} has no answer"))
    }
}

impl imports::Secrets for State {
    fn mac(&mut self, data: &[u8]) -> Result<Vec<u8>, HostError> {
        ensure_length(data)?;
        Ok(self.keys.mac(data))
    }

    fn macs(&mut self, data: &[u8]) -> Result<Vec<Vec<u8>>, HostError> {
        Ok(vec![imports::Secrets::mac(self, data)?])
    }

    fn seal(&mut self, data: &[u8]) -> Result<Vec<u8>, HostError> {
        ensure_length(data)?;
        let sealed = self.keys.seal(self.random.random(), data);
        sealed.ok_or_else(|| HostError::Unavailable("sealing failed".to_owned()))
    }

    fn open(&mut self, sealed: &[u8]) -> Result<Vec<u8>, HostError> {
        let text = "this is not a value that `seal` returned, or not all of it";
        self.keys.open(sealed).ok_or_else(|| HostError::Invalid(text.to_owned()))
    }
}

impl imports::People for State {
    fn request_export(&mut self, action: &str, about: &str) -> Result<String, HostError> {
        self.ensure_writable()?;
        self.check_internal(action)?;
        self.calling_owner()?;
        let about = bounded_object(about)?;
        let export_id = imports::Context::new_id(self, "exp");
        let action = action.to_owned();
        let request = PeopleRequest::Export { export_id: export_id.clone(), action, about };
        self.effects.people.push(request);
        Ok(export_id)
    }

    fn request_erasure(&mut self) -> Result<(), HostError> {
        self.ensure_writable()?;
        let owner_id = self.calling_owner()?;
        self.effects.people.push(PeopleRequest::Erasure { owner_id });
        Ok(())
    }

    fn request_erasure_of(&mut self, owner_id: &str) -> Result<(), HostError> {
        if let Caller::Agent(_) = self.caller {
            return Err(HostError::Invalid("an agent can erase its own person only".to_owned()));
        }
        self.effects.people.push(PeopleRequest::Erasure { owner_id: owner_id.to_owned() });
        Ok(())
    }
}

impl imports::Lookups for State {
    fn txt(&mut self, name: &str, action: &str, about: &str) -> Result<String, HostError> {
        self.look_up(Question::Txt(name.to_owned()), action, about)
    }

    fn page(&mut self, url: &str, action: &str, about: &str) -> Result<String, HostError> {
        self.look_up(Question::Page(url.to_owned()), action, about)
    }

    fn file(
        &mut self,
        url: &str,
        _media_types: &[String],
        etag: Option<&str>,
        last_modified: Option<&str>,
        action: &str,
        about: &str,
    ) -> Result<String, HostError> {
        let (url, etag) = (url.to_owned(), etag.map(str::to_owned));
        let last_modified = last_modified.map(str::to_owned);
        self.look_up(Question::File { url, etag, last_modified }, action, about)
    }
}
