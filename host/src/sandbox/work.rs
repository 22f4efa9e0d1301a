//! The state a call works on: what its component may reach of the store, and how.

use crate::{
    db::{
        Audience, Collection, Counted, Document, Expectation, Hit, NewEvent, Page, StateError,
        TimerChange, TimerKey, Unit,
        query::{
            Direction, Query, Request,
            geo::{Circle, Rectangle},
        },
    },
    events::Events,
    sandbox::{
        contract::{documents, events, invoke, timers, types, types::HostError},
        run::Ending,
        state::{CallContext, CallState},
    },
    vocabulary::{Claimed, KnownOwner, OwnedAgent, Timestamp, new_identifier},
};
use rand::RngExt as _;
use std::{collections::BTreeMap, fmt, net::IpAddr, pin::Pin, sync::Arc};
use wasmtime::Result;

/// What one event may carry.
const EVENT_BYTES: usize = 20_000;
/// What one call may publish, and how many timers it may change.
const EVENTS: usize = 100;
const TIMERS: usize = 100;
const NAME_BYTES: usize = 128;

/// What a call can reach of the host beside the store. Given by the pipeline that runs the call.
pub trait Surroundings: fmt::Debug + Send + Sync {
    /// Why the running action may not publish this type of event, if so.
    fn check_event(&self, event_type: &str) -> std::result::Result<(), String>;
    /// Capability and action of each subscriber of this type.
    fn subscribers(&self, event_type: &str) -> Vec<(String, String)>;
    /// Why this is not an internal action of the running capability with an input it takes, if so.
    fn check_timer(&self, action: &str, input: &str) -> std::result::Result<(), String>;
    /// Who stands behind agents, if that is known here.
    fn people(&self) -> Option<&dyn People>;
    /// Inboxes and webhooks, if there are any here.
    fn events(&self) -> Option<Arc<Events>>;
    /// Whether another text message may be sent for a caller at this address.
    fn may_send(&self, address: Option<IpAddr>) -> bool;
    /// Runs an action of another capability in the same unit of work.
    fn call(self: Arc<Self>, within: Within) -> CalleeFuture;
}

/// Who stands behind agents: read and changed in the unit of work of a call.
pub trait People: Send + Sync {
    /// Binds an agent to the person behind this key; a person who is not known yet gets an id made
    /// of `random`. `Conflict` if somebody else has claimed the agent, or it is gone; `Limit` if the
    /// person has as many agents as one may have.
    fn claim<'a>(
        &'a self,
        unit: &'a mut Unit,
        agent_id: Arc<str>,
        person_key: String,
        random: u128,
    ) -> Answer<'a, Claimed>;
    /// The agent becomes anonymous again.
    fn unclaim<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> Answer<'a, ()>;
    /// From now on this key means the person, and the one before means nobody. `Conflict` if it
    /// means somebody else, or there is no such person.
    fn rebind<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        person_key: String,
    ) -> Answer<'a, ()>;
    /// A person, or none.
    fn owner<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> Answer<'a, Option<KnownOwner>>;
    /// The agents of a person, in the order in which they were claimed.
    fn agents<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> Answer<'a, Vec<OwnedAgent>>;
    /// Gives an agent another name. `Conflict` if it is gone.
    fn rename<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>, name: String)
    -> Answer<'a, ()>;
    /// Ends an agent for good: its tokens stop working, and it no longer counts as the person's.
    fn revoke<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> Answer<'a, ()>;
}

/// What is answered about people, from the state of the unit.
pub type Answer<'a, T> =
    Pin<Box<dyn Future<Output = std::result::Result<T, StateError>> + Send + 'a>>;

pub type CalleeFuture = Pin<Box<dyn Future<Output = (Ending, Option<Work>)> + Send>>;

/// A call within a call.
#[derive(Debug)]
pub struct Within {
    pub work: Work,
    pub context: CallContext,
    pub capability: String,
    pub action: String,
    pub input: String,
}

/// What one call has of the store.
#[derive(Debug)]
pub struct Work {
    pub unit: Unit,
    /// The collections that the running capability declares, by name.
    pub collections: Arc<BTreeMap<String, Collection>>,
    /// An action of access `read` changes nothing.
    pub read_only: bool,
    pub surroundings: Arc<dyn Surroundings>,
}

pub(super) type Reply<T> = Result<std::result::Result<T, HostError>>;

impl CallState {
    pub(super) fn work(&mut self) -> std::result::Result<&mut Work, HostError> {
        self.work
            .as_mut()
            .ok_or_else(|| HostError::Unavailable("there is no store here".to_owned()))
    }

    fn collection(
        &mut self,
        name: &str,
    ) -> std::result::Result<(&mut Unit, &Collection), HostError> {
        let work = self.work()?;
        let undeclared =
            || HostError::Invalid(format!("the collection {name} is not declared: declare it"));
        let collection = work.collections.get(name).ok_or_else(undeclared)?;
        Ok((&mut work.unit, collection))
    }

    fn writable(&mut self, name: &str) -> std::result::Result<(&mut Unit, &Collection), HostError> {
        self.changing()?;
        self.collection(name)
    }

    /// What a refusal of the store means to the component. The database's own troubles are for the
    /// operator.
    pub(super) fn refusal(&self, error: StateError) -> HostError {
        match error {
            StateError::Invalid(text) => HostError::Invalid(text),
            StateError::Conflict => HostError::Conflict,
            StateError::Duplicate(holder) => HostError::Duplicate(holder),
            StateError::Limit(text) => HostError::Limit(text),
            StateError::CursorInvalid => HostError::BadCursor,
            StateError::Db(error) => {
                let (capability, request) = (&*self.capability, &*self.context.request_id);
                tracing::error!(capability, request, %error, "the store does not answer");
                HostError::Unavailable("the store does not answer".to_owned())
            }
        }
    }
}

fn document(document: Document) -> documents::Document {
    documents::Document {
        id: document.id,
        revision: document.revision,
        body: document.body,
        created_at: document.created_at.as_millis(),
        updated_at: document.updated_at.as_millis(),
    }
}

fn expectation(expect: documents::Expectation) -> Expectation {
    match expect {
        documents::Expectation::Any => Expectation::Any,
        documents::Expectation::Absent => Expectation::Absent,
        documents::Expectation::Revision(revision) => Expectation::Revision(revision),
    }
}

fn checked(
    collection: &Collection,
    query: &documents::Query,
) -> std::result::Result<Query, StateError> {
    let invalid = |error: &dyn fmt::Display| StateError::Invalid(error.to_string());
    let near = query.near.map(|it| Circle::new(it.latitude, it.longitude, it.radius_m));
    let within = query.within.map(|it| Rectangle::new(it.south, it.west, it.north, it.east));
    let order: Vec<_> = query
        .order
        .iter()
        .map(|order| {
            let direction = match order.direction {
                documents::Direction::Ascending => Direction::Ascending,
                documents::Direction::Descending => Direction::Descending,
            };
            (order.path.as_str(), direction)
        })
        .collect();
    let request = Request {
        filter: query.filter.as_deref(),
        text: query.text.as_deref(),
        near: near.transpose().map_err(|error| invalid(&error))?,
        within: within.transpose().map_err(|error| invalid(&error))?,
        order: &order,
        limit: query.limit,
    };
    Query::new(collection.shape(), request).map_err(|error| invalid(&error))
}

async fn find(
    unit: &mut Unit,
    collection: &Collection,
    query: &documents::Query,
) -> std::result::Result<Page, StateError> {
    let checked = checked(collection, query)?;
    unit.find(collection, &checked, query.cursor.as_deref()).await
}

async fn count_by(
    unit: &mut Unit,
    collection: &Collection,
    query: &documents::Query,
    paths: &[String],
) -> std::result::Result<Vec<Vec<Counted>>, StateError> {
    unit.count_by(collection, &checked(collection, query)?, paths).await
}

impl documents::Host for CallState {
    async fn get(&mut self, collection: String, id: String) -> Reply<Option<documents::Document>> {
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => unit.get(collection, &id).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(found.map(|found| found.map(document)).map_err(|error| self.refusal(error)))
    }

    async fn get_many(
        &mut self,
        collection: String,
        ids: Vec<String>,
    ) -> Reply<Vec<Option<documents::Document>>> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => unit.get_many(collection, &ids).await,
            Err(error) => return Ok(Err(error)),
        };
        let documents = found.map(|found| found.into_iter().map(|it| it.map(document)).collect());
        Ok(documents.map_err(|error| self.refusal(error)))
    }

    async fn find(
        &mut self,
        collection: String,
        query: documents::Query,
    ) -> Reply<documents::Page> {
        let page = match self.collection(&collection) {
            Ok((unit, collection)) => find(unit, collection, &query).await,
            Err(error) => return Ok(Err(error)),
        };
        let hit = |hit: Hit| documents::Hit {
            document: document(hit.document),
            relevance: hit.relevance,
            distance_m: hit.distance_m,
        };
        let page = page.map(|page| documents::Page {
            hits: page.hits.into_iter().map(hit).collect(),
            next: page.next,
        });
        Ok(page.map_err(|error| self.refusal(error)))
    }

    async fn count(&mut self, collection: String, filter: Option<String>) -> Reply<u64> {
        let count = match self.collection(&collection) {
            Ok((unit, collection)) => unit.count(collection, filter.as_deref()).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(count.map_err(|error| self.refusal(error)))
    }

    async fn count_by(
        &mut self,
        collection: String,
        query: documents::Query,
        paths: Vec<String>,
    ) -> Reply<Vec<Vec<documents::Counted>>> {
        let counts = match self.collection(&collection) {
            Ok((unit, collection)) => count_by(unit, collection, &query, &paths).await,
            Err(error) => return Ok(Err(error)),
        };
        let counted =
            |it: Counted| documents::Counted { value: it.value.to_string(), count: it.count };
        let of_path = |counts: Vec<Counted>| counts.into_iter().map(counted).collect();
        let counts = counts.map(|counts| counts.into_iter().map(of_path).collect());
        Ok(counts.map_err(|error| self.refusal(error)))
    }

    async fn put(
        &mut self,
        collection: String,
        id: String,
        body: String,
        expect: documents::Expectation,
    ) -> Reply<u64> {
        let revision = match self.writable(&collection) {
            Ok((unit, collection)) => unit.put(collection, &id, body, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(revision.map_err(|error| self.refusal(error)))
    }

    async fn delete(
        &mut self,
        collection: String,
        id: String,
        expect: documents::Expectation,
    ) -> Reply<()> {
        let deleted = match self.writable(&collection) {
            Ok((unit, collection)) => unit.delete(collection, &id, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(deleted.map_err(|error| self.refusal(error)))
    }
}

impl events::Host for CallState {
    async fn publish(&mut self, to: events::Audience, event: events::Event) -> Reply<()> {
        Ok(self.publish(to, event))
    }
}

impl timers::Host for CallState {
    async fn set(&mut self, name: String, at: u64, action: String, input: String) -> Reply<()> {
        Ok(self.set_timer(name, at, action, input))
    }

    async fn cancel(&mut self, name: String) -> Reply<bool> {
        let key = self.timer(name);
        let there = match self.changing() {
            Ok(work) => match work.unit.timer_change(&key) {
                Some(change) => Ok(matches!(change, TimerChange::Set { .. })),
                None => work.unit.has_timer(&key).await,
            },
            Err(error) => return Ok(Err(error)),
        };
        match there {
            Ok(there) => {
                if let Some(work) = self.work.as_mut().filter(|_| there) {
                    work.unit.change_timer(key, TimerChange::Cancel);
                }
                Ok(Ok(there))
            }
            Err(error) => Ok(Err(self.refusal(error))),
        }
    }
}

impl CallState {
    pub(super) fn changing(&mut self) -> std::result::Result<&mut Work, HostError> {
        let work = self.work()?;
        if work.read_only {
            let text = "an action of access read changes nothing: declare another access";
            return Err(HostError::Invalid(text.to_owned()));
        }
        Ok(work)
    }

    fn publish(
        &mut self,
        to: events::Audience,
        event: events::Event,
    ) -> std::result::Result<(), HostError> {
        let (now, random) = (self.context.now, self.chance.generator().random());
        let (capability, request_id) =
            (self.capability.to_string(), self.context.request_id.to_string());
        let test_mode = self.context.caller.test_mode();
        let work = self.changing()?;
        work.surroundings.check_event(&event.event_type).map_err(HostError::Invalid)?;
        check_name("a subject", &event.subject)?;
        if let events::Audience::Agent(id) | events::Audience::Owner(id) = &to {
            check_name("an audience", id)?;
        }
        if event.data.len() > EVENT_BYTES {
            return Err(HostError::Limit(format!("an event has at most {EVENT_BYTES} bytes")));
        }
        if !matches!(serde_json::from_str(&event.data), Ok(serde_json::Value::Object(_))) {
            return Err(HostError::Invalid("an event's data is a JSON object".to_owned()));
        }
        if work.unit.event_count() >= EVENTS {
            return Err(HostError::Limit(format!("a call publishes at most {EVENTS} events")));
        }
        let event = NewEvent {
            id: new_identifier("evt", now, random),
            capability,
            subscribers: work.surroundings.subscribers(&event.event_type),
            event_type: event.event_type,
            subject: event.subject,
            audience: match to {
                events::Audience::Agent(id) => Audience::Agent(id),
                events::Audience::Owner(id) => Audience::Owner(id),
                events::Audience::Capabilities => Audience::Capabilities,
            },
            data: event.data,
            request_id,
            occurred_at: now,
            test_mode,
            agents: Vec::new(),
        };
        work.unit.publish(event);
        Ok(())
    }

    fn timer(&self, name: String) -> TimerKey {
        let test_mode = self.context.caller.test_mode();
        TimerKey { capability: self.capability.to_string(), name, test_mode }
    }

    fn set_timer(
        &mut self,
        name: String,
        at: u64,
        action: String,
        input: String,
    ) -> std::result::Result<(), HostError> {
        let setting = new_identifier("tmr", self.context.now, self.chance.generator().random());
        let key = self.timer(name);
        let work = self.changing()?;
        check_name("a timer's name", &key.name)?;
        work.surroundings.check_timer(&action, &input).map_err(HostError::Invalid)?;
        if work.unit.timer_count() >= TIMERS {
            return Err(HostError::Limit(format!("a call changes at most {TIMERS} timers")));
        }
        let at = Timestamp::from_millis(at);
        work.unit.change_timer(key, TimerChange::Set { setting, at, action, input });
        Ok(())
    }
}

fn check_name(what: &str, name: &str) -> std::result::Result<(), HostError> {
    if name.is_empty() || name.len() > NAME_BYTES || name.contains(char::is_control) {
        let text = format!("{what} has 1 to {NAME_BYTES} bytes and no control characters");
        return Err(HostError::Invalid(text));
    }
    Ok(())
}

impl invoke::Host for CallState {
    async fn call(
        &mut self,
        capability: String,
        action: String,
        input: String,
    ) -> Result<std::result::Result<types::Success, types::Failure>> {
        let seed = self.chance.generator().random();
        let context = self.context.within(&self.capability, seed);
        let Some(work) = self.work.take() else {
            wasmtime::bail!("there is nothing to call here");
        };
        let surroundings = Arc::clone(&work.surroundings);
        let within = Within { work, context, capability, action, input };
        let (ending, work) = surroundings.call(within).await;
        if work.is_none() {
            wasmtime::bail!("the call within this one took too long");
        }
        self.work = work;
        Ok(match ending {
            Ending::Success { output, next } => Ok(types::Success { output, next }),
            Ending::Refused { code, message, conflict, next, keep_writes: _ } => {
                // Whether the caller's own writes are kept is for the caller to say.
                Err(types::Failure { code, message, conflict, next, keep_writes: false })
            }
        })
    }
}
