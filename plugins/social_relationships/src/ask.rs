//! Follows and connections: one person asks, the other one answers, and either can end the
//! relationship.

use crate::{
    ids::id,
    life::*,
    limits::{COOLDOWN, ensure_requests, ensure_room},
    types::*,
    view::view,
};
use people_kit::{
    people::{self, ContactPolicy, Person},
    relations::{Tuple, relate},
};
use portolan_sdk::prelude::*;

/// The input of the timer that deletes an ended relationship.
#[input]
pub(crate) struct Ended {
    relationship_id: String,
}

/// Follows a person, or asks them to connect.
pub(crate) fn ask(call: &Call, input: Other, kind: Request, action: &str) -> Result<Relationship> {
    let (me, other, now) = (call.require_owner()?, &*input.owner_id, call.now());
    ensure_other(me, other)?;
    let own = id(kind.into(), me, other);
    let before = RELATIONSHIPS.get(&own)?;
    if let Some(before) = before.as_ref().filter(|before| before.value.state != State::None) {
        return Err(exists(before, me));
    }
    if let Some(block) = RELATIONSHIPS.get(&id(Kind::Block, me, other))? {
        return Err(exists(&block, me));
    }
    let to = wanted_state(me, other, kind)?;
    let ended = before.as_ref().filter(|before| before.value.ended_by.as_deref() != Some(me));
    if ended.is_some_and(|ended| ended.value.since + COOLDOWN > now) {
        return Err(RelationshipError::RecipientNotAccepting);
    }
    ensure_room(me, kind.into())?;
    let state = machine(kind).step_to(other, State::None, action, to)?;
    let asked_before = before
        .as_ref()
        .filter(|before| before.value.subject == me)
        .and_then(|before| before.value.asked_at);
    let told = asked_before.is_some_and(|at| at + DAY > now);
    let asks = state == State::Requested && !told;
    if asks {
        ensure_requests(me, now)?;
    }
    let record = Record {
        kind: kind.into(),
        subject: me.to_owned(),
        object: other.to_owned(),
        state,
        since: now,
        asked_at: if asks { Some(now) } else { asked_before },
        ended_by: None,
    };
    let stored = write(own, before, record)?;
    if asks {
        let summary = match kind {
            Request::Follow => "Somebody asks to follow you.",
            Request::Connect => "Somebody asks to connect with you.",
        };
        tell(call, REQUESTED, &stored, other, summary)?;
    }
    Ok(view(&stored, me))
}

/// Answers a request, or ends an active follow by the followed person.
pub(crate) fn reply(call: &Call, input: Reply, action: &str) -> Result<Relationship> {
    let (me, other) = (call.require_owner()?, &*input.owner_id);
    ensure_other(me, other)?;
    let mut stored = standing(input.kind, other, me)?;
    if stored.value.subject == me {
        let message = "Only the other side answers a request.";
        return Err(Refusal::common(ErrorCode::NotPermitted, message).next(get(other)).into());
    }
    let state = machine(input.kind).step(other, stored.value.state, action)?;
    expect(&stored, me, input.expected_version)?;
    if state == State::None {
        end(call, &mut stored, me)?;
        return Ok(view(&stored, me));
    }
    if input.kind == Request::Connect {
        ensure_room(me, Kind::Connect)?;
        relate(connected(me, other).into(), Vec::new())?;
    }
    (stored.value.state, stored.value.since) = (state, call.now());
    stored.save()?;
    tell(call, ACCEPTED, &stored, other, "Somebody has accepted your request.")?;
    Ok(view(&stored, me))
}

/// Stops following, or ends a connection or the request for one.
pub(crate) fn leave(
    call: &Call,
    input: Change,
    kind: Request,
    action: &str,
) -> Result<Relationship> {
    let (me, other) = (call.require_owner()?, &*input.owner_id);
    ensure_other(me, other)?;
    let mut stored = standing(kind, me, other)?;
    machine(kind).step(other, stored.value.state, action)?;
    expect(&stored, me, input.expected_version)?;
    if kind == Request::Connect {
        relate(Vec::new(), connected(me, other).into())?;
    }
    end(call, &mut stored, me)?;
    Ok(view(&stored, me))
}

/// Ends all relationships of two people, for a block. Records that do not exist are not written, so
/// that nobody can notice the block.
pub(crate) fn sever(call: &Call, me: &str, other: &str) -> Result<()> {
    for (kind, subject, object) in
        [(Request::Follow, me, other), (Request::Follow, other, me), (Request::Connect, me, other)]
    {
        match standing(kind, subject, object) {
            Ok(mut stored) => {
                machine(kind).step(other, stored.value.state, "block")?;
                end(call, &mut stored, me)?;
            }
            Err(RelationshipError::RelationshipNotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Deletes a relationship that ended long ago.
pub(crate) fn forget(call: &Call, input: &Ended) -> Result<(), HostError> {
    let Some(stored) = RELATIONSHIPS.get(&input.relationship_id)? else { return Ok(()) };
    let record = stored.value;
    if record.state == State::None && record.since + COOLDOWN <= call.now() {
        RELATIONSHIPS.delete(&stored.id, Expect::Revision(stored.revision))?;
    }
    Ok(())
}

/// Refuses a relationship of a person with themselves.
pub(crate) fn ensure_other(me: &str, other: &str) -> Result<()> {
    if me == other { Err(RelationshipError::SelfRelationship) } else { Ok(()) }
}

pub(crate) fn exists(stored: &Stored<Record>, me: &str) -> RelationshipError {
    RelationshipError::RelationshipExists {
        owner_id: stored.value.other(me).to_owned(),
        existing_id: stored.id.clone(),
        existing_state: stored.value.state.name(),
    }
}

pub(crate) fn expect(
    stored: &Stored<Record>,
    me: &str,
    expected: Option<Version>,
) -> Result<(), Refusal> {
    stored.ensure_version(expected, || view(stored, me), get(stored.value.other(me)))
}

/// Returns the relation `connected` in both directions.
pub(crate) fn connected(one: &str, other: &str) -> [Tuple; 2] {
    [(one, other), (other, one)].map(|(owner, known)| {
        Tuple::new(format!("owner:{owner}"), "connected", format!("owner:{known}"))
    })
}

/// Returns the state of a new request, by the contact policy of the other person. If they have
/// blocked the caller, the refusal is that of a person who does not exist.
fn wanted_state(me: &str, other: &str, kind: Request) -> Result<State> {
    let person = people::person(other)?.ok_or(RelationshipError::OwnerNotFound)?;
    let blocked_by = id(Kind::Block, other, me);
    if RELATIONSHIPS.get(&blocked_by)?.is_some() {
        return Err(RelationshipError::OwnerNotFound);
    }
    let connection = RELATIONSHIPS.get(&id(Kind::Connect, me, other))?;
    let connected = connection.is_some_and(|connection| connection.value.state == State::Active);
    decide(&person, kind, connected).ok_or(RelationshipError::RecipientNotAccepting)
}

fn decide(person: &Person, kind: Request, connected: bool) -> Option<State> {
    match (person.contact_policy, kind) {
        _ if !person.active => None,
        (ContactPolicy::Paused, _) => None,
        (_, Request::Connect) => Some(State::Requested),
        (ContactPolicy::AnyoneMatching, Request::Follow) => Some(State::Active),
        (ContactPolicy::Network, Request::Follow) if connected => Some(State::Active),
        (ContactPolicy::Network, Request::Follow) => Some(State::Requested),
    }
}

/// Returns the relationship of this kind, if it has not ended.
fn standing(kind: Request, subject: &str, object: &str) -> Result<Stored<Record>> {
    let stored = RELATIONSHIPS.get(&id(kind.into(), subject, object))?;
    let stored = stored.filter(|stored| stored.value.state != State::None);
    stored.ok_or(RelationshipError::RelationshipNotFound)
}

fn write(
    id: String,
    before: Option<Stored<Record>>,
    value: Record,
) -> Result<Stored<Record>, HostError> {
    match before {
        Some(before) => {
            let mut stored = Stored { value, ..before };
            stored.save()?;
            Ok(stored)
        }
        None => {
            let now = value.since;
            RELATIONSHIPS.add(id, value, now)
        }
    }
}

fn end(call: &Call, stored: &mut Stored<Record>, by: &str) -> Result<(), HostError> {
    (stored.value.state, stored.value.since) = (State::None, call.now());
    stored.value.ended_by = Some(by.to_owned());
    stored.save()?;
    let ended = Ended { relationship_id: stored.id.clone() };
    timers::set(&format!("forget/{}", stored.id), call.now() + COOLDOWN, "forget", &ended)
}

/// Publishes an event to the other side, unless they have muted the caller, who cannot tell the
/// difference.
fn tell(
    call: &Call,
    event: Event<Data<RequestData>>,
    stored: &Stored<Record>,
    other: &str,
    summary: &'static str,
) -> Result<()> {
    let me = call.require_owner()?;
    let muted = RELATIONSHIPS.get(&id(Kind::Mute, other, me))?.is_some();
    let audience = if muted { Audience::Capabilities } else { Audience::Owner(other.to_owned()) };
    let request = RequestData { kind: stored.value.kind, owner_id: me.to_owned() };
    let data = Data::new(call, stored.resource(), summary, request).next(get(me));
    Ok(stored.publish(event, audience, &data)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ContactPolicy::{AnyoneMatching, Network, Paused};
    use Request::{Connect, Follow};
    use State::{Active, Requested};

    #[test]
    fn the_contact_policy_decides_about_a_request() {
        let decided = |policy, active, kind, connected| {
            let person = Person {
                owner_id: "own_1".into(),
                display_name: None,
                active,
                contact_policy: policy,
                age_at_least: None,
                declined_categories: Vec::new(),
            };
            decide(&person, kind, connected)
        };
        assert_eq!(decided(AnyoneMatching, true, Follow, false), Some(Active));
        assert_eq!(decided(Network, true, Follow, false), Some(Requested));
        assert_eq!(decided(Network, true, Follow, true), Some(Active));
        for policy in [AnyoneMatching, Network] {
            assert_eq!(decided(policy, true, Connect, false), Some(Requested));
            assert_eq!(decided(policy, false, Connect, false), None);
        }
        for kind in [Follow, Connect] {
            assert_eq!(decided(Paused, true, kind, true), None);
        }
    }
}
