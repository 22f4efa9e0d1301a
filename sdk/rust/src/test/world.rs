//! A world: its state before an action runs, the run, and the effects of the action.

use super::{
    effects::{Asked, Logged, Lookup, PeopleRequest, Published, Timer},
    state::State,
};
use crate::{
    Call, Refusal,
    contract::{
        AgentCaller, Caller, Failure, Guest, Success,
        documents::{Document, Expectation},
    },
    documents::{Collection, Stored, collection},
    feeds::{Change, Operation},
    imports::{self, Documents as _},
    invoke::{self, Invocation},
    time,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{cell::RefCell, fmt, rc::Rc};

const AGENT: &str = "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";
/// 2026-01-01T00:00:00Z.
const START: u64 = 1_767_225_600_000;

/// The component's export `call`.
type Export = fn(Caller, String, String) -> Result<Success, Failure>;

/// The world of a test: see the [module](super).
pub struct World {
    state: Rc<RefCell<State>>,
    call: Option<Export>,
}

/// An instant: milliseconds since the Unix epoch, or a text such as `2026-03-01T09:00:00Z`.
pub trait Instant {
    fn millis(self) -> u64;
}

impl Instant for u64 {
    fn millis(self) -> u64 {
        self
    }
}

impl Instant for &str {
    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    fn millis(self) -> u64 {
        time::parse(self).unwrap_or_else(|| panic!("{self} is not an instant of RFC 3339"))
    }
}

/// The state before an action runs.
impl World {
    pub(super) fn new() -> Self {
        let caller = agent(AGENT, Some(OWNER));
        Self { state: Rc::new(RefCell::new(State::new(caller, START, 0))), call: None }
    }

    /// Sets the capability. Collections, events, timers and nested calls that it uses must then be
    /// declared, as on a host.
    #[must_use]
    pub fn of<C: Guest>(mut self) -> Self {
        self.call = Some(C::call);
        let descriptor = C::describe();
        self.with(|state| {
            descriptor.collections.iter().for_each(|collection| state.learn(collection));
            state.descriptor = Some(descriptor);
        })
    }

    /// Sets the time of the next calls.
    #[must_use]
    pub fn at(self, instant: impl Instant) -> Self {
        self.with(|state| state.now = instant.millis())
    }

    /// Sets the seed of randomness and keys.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.with(|state| state.seed(seed))
    }

    /// Makes the caller an agent that this person has claimed.
    #[must_use]
    pub fn owner(self, owner_id: &str) -> Self {
        self.with(|state| state.caller = agent(AGENT, Some(owner_id)))
    }

    /// Makes the caller an agent that nobody has claimed.
    #[must_use]
    pub fn anonymous(self) -> Self {
        self.with(|state| state.caller = agent(AGENT, None))
    }

    /// Makes this agent the caller.
    #[must_use]
    pub fn agent(self, agent: AgentCaller) -> Self {
        self.with(|state| {
            state.test_mode = agent.test_mode;
            state.caller = Caller::Agent(agent);
        })
    }

    /// Makes the host the caller: a timer is due, or a subscribed event happened.
    #[must_use]
    pub fn system(self) -> Self {
        self.with(|state| state.caller = Caller::System)
    }

    /// Runs the next calls in test mode.
    #[must_use]
    pub fn test_mode(self) -> Self {
        self.with(|state| {
            state.test_mode = true;
            if let Caller::Agent(agent) = &mut state.caller {
                agent.test_mode = true;
            }
        })
    }

    /// Adds a document, or replaces it.
    #[must_use]
    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    pub fn document<T: Serialize>(self, collection: Collection<T>, id: &str, value: &T) -> Self {
        let (name, body) = (collection.name(), crate::to_json(value));
        self.with(|state| {
            state.declare(collection.declaration());
            if let Err(error) = state.write(name, id, &body, Expectation::Any) {
                panic!("the document {id} of {name} cannot be written: {error:?}");
            }
        })
    }

    /// Adds a record to a feed. The collection has the feed's id as its name, and the paths by which the feed
    /// is searched.
    #[must_use]
    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    pub fn record<T: Serialize>(self, feed: Collection<T>, id: &str, record: &T) -> Self {
        let body = crate::to_json(record);
        self.with(|state| {
            if let Err(error) = state.publish(feed.declaration(), id, &body) {
                panic!("the record {id} of {} cannot be published: {error:?}", feed.name());
            }
        })
    }

    /// Adds a change to the log of the feeds.
    #[must_use]
    pub fn change(self, feed: &str, id: &str, operation: Operation) -> Self {
        let change = Change { feed: feed.to_owned(), id: id.to_owned(), operation };
        self.with(|state| state.changes.push(change))
    }

    /// Answers the next nested call of this action with an output. The last answer of an action is given
    /// again and again.
    #[must_use]
    pub fn answer<I: ?Sized, O>(
        self,
        invocation: Invocation<I, O>,
        output: impl Serialize,
    ) -> Self {
        let output = crate::to_json(&output);
        self.answer_with(invocation, Ok(Success { output, next: None }))
    }

    /// Answers each nested call of this action with what the function makes of its input, unless there is an
    /// answer by [`answer`](Self::answer) or [`refuse`](Self::refuse).
    #[must_use]
    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    pub fn answer_by<I: DeserializeOwned + 'static, O: Serialize + 'static>(
        self,
        invocation: Invocation<I, O>,
        answer: impl Fn(I) -> Result<O, Refusal> + 'static,
    ) -> Self {
        let action = invocation.declaration();
        let key = (action.capability, action.action);
        let name = key.clone();
        let answering = move |input: Value| match serde_json::from_value(input) {
            Ok(input) => {
                let output = answer(input)?;
                Ok(Success { output: crate::to_json(&output), next: None })
            }
            Err(error) => panic!("{}.{} is called with another input: {error}", name.0, name.1),
        };
        self.with(|state| drop(state.answering.insert(key, Box::new(answering))))
    }

    /// Refuses the next nested call of this action.
    #[must_use]
    pub fn refuse<I: ?Sized, O>(self, invocation: Invocation<I, O>, refusal: Refusal) -> Self {
        self.answer_with(invocation, Err(refusal.into()))
    }

    fn answer_with<I: ?Sized, O>(
        self,
        invocation: Invocation<I, O>,
        answer: Result<Success, Failure>,
    ) -> Self {
        let action = invocation.declaration();
        self.with(|state| {
            let answers = state.answers.entry((action.capability, action.action)).or_default();
            answers.push_back(answer);
        })
    }

    fn with(self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.state.borrow_mut());
        self
    }
}

/// The run.
impl World {
    /// Lets time pass, in milliseconds.
    pub fn advance(&mut self, millis: u64) {
        self.state.borrow_mut().now += millis;
    }

    /// Runs an action's function. If it refuses, its writes, events, timers and look-ups are discarded,
    /// unless the refusal keeps them.
    pub fn run<T, E: Into<Refusal>>(
        &mut self,
        action: impl FnOnce(&Call) -> Result<T, E>,
    ) -> Result<T, Refusal> {
        let call = Call::new(self.state.borrow().caller.clone());
        self.attempt(|| action(&call).map_err(Into::into))
    }

    /// Runs an action by its name with an input in JSON. The world must know the capability by
    /// [`of`](Self::of).
    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    pub fn call(&mut self, action: &str, input: &Value) -> Result<Value, Refusal> {
        let Some(call) = self.call else {
            panic!("this world does not know the capability: name it with `of`");
        };
        let declared = self.state.borrow().descriptor.as_ref().and_then(|descriptor| {
            descriptor.actions.iter().find(|declared| declared.name == action).cloned()
        });
        let Some(declared) = declared else {
            panic!("the capability has no action {action}");
        };
        let caller = self.state.borrow().caller.clone();
        self.state.borrow_mut().action = Some(declared);
        let answer = self.attempt(|| {
            call(caller, action.to_owned(), input.to_string()).map_err(invoke::refusal)
        });
        self.state.borrow_mut().action = None;
        let output = answer?.output;
        Ok(serde_json::from_str(&output)
            .unwrap_or_else(|error| panic!("the output of {action} is not JSON: {error}")))
    }

    fn attempt<T>(&mut self, run: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
        let before = self.state.borrow().effects.clone();
        self.state.borrow_mut().earlier_events = before.events.len();
        let installed = imports::install(self.state.clone());
        let answer = run();
        drop(installed);
        if answer.as_ref().is_err_and(|refusal| !refusal.keep_writes) {
            self.state.borrow_mut().effects = before;
        }
        answer
    }
}

/// The effects of the actions.
impl World {
    /// Returns a document; `None` if there is none.
    pub fn get<T: DeserializeOwned>(
        &self,
        collection: Collection<T>,
        id: &str,
    ) -> Option<Stored<T>> {
        self.documents(collection).into_iter().find(|document| document.id == id)
    }

    /// Returns all documents of a collection, ordered by id.
    pub fn documents<T: DeserializeOwned>(&self, collection: Collection<T>) -> Vec<Stored<T>> {
        let name = collection.name();
        let mut state = self.state.borrow_mut();
        state.declare(collection.declaration());
        let found = state.all(name);
        found.into_iter().map(|document| parse(name, document)).collect()
    }

    /// Returns the published events, in their order.
    pub fn events(&self) -> Vec<Published> {
        self.state.borrow().effects.events.clone()
    }

    /// Returns the timers that are set, ordered by name.
    pub fn timers(&self) -> Vec<Timer> {
        self.state.borrow().effects.timers.values().cloned().collect()
    }

    /// Returns the look-ups that were asked for.
    pub fn lookups(&self) -> Vec<Lookup> {
        self.state.borrow().effects.lookups.clone()
    }

    /// Returns the exports and erasures of people that were asked for.
    pub fn people_requests(&self) -> Vec<PeopleRequest> {
        self.state.borrow().effects.people.clone()
    }

    /// Returns the nested calls, also those of refused actions.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.borrow().asked.clone()
    }

    /// Returns the messages for the operator's log, also those of refused actions.
    pub fn logged(&self) -> Vec<Logged> {
        self.state.borrow().logged.clone()
    }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.borrow();
        formatter
            .debug_struct("World")
            .field("now", &time::rfc3339(state.now))
            .field("caller", &state.caller)
            .finish_non_exhaustive()
    }
}

fn agent(agent_id: &str, owner_id: Option<&str>) -> Caller {
    Caller::Agent(AgentCaller {
        agent_id: agent_id.to_owned(),
        owner_id: owner_id.map(str::to_owned),
        agent_name: None,
        scopes: ["svc.read", "svc.write", "svc.events"].map(str::to_owned).into(),
        via: Vec::new(),
        test_mode: false,
    })
}

#[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
fn parse<T: DeserializeOwned>(collection: &str, document: Document) -> Stored<T> {
    let id = document.id.clone();
    collection::parse(document)
        .unwrap_or_else(|reason| panic!("the document {id} of {collection}: {reason}"))
}
