//! Follows and connections: one person asks, the other one answers, and either can end the
//! relationship.

use crate::{
    limits::{COOLDOWN, ensure_below_limit, ensure_request_quota},
    states::*,
    types::*,
    view::view,
};
use people_kit::{
    people::{self, ContactPolicy},
    relations::{Tuple, relate},
};
use portolan_sdk::prelude::*;

/// The input of the timer that deletes an ended relationship.
#[input]
pub(crate) struct RelationshipId {
    relationship_id: String,
}

/// Follows a person, or asks them to connect.
pub(crate) fn request(
    call: &Call,
    input: Other,
    kind: Request,
    action: &str,
) -> Result<Relationship> {
    let (me, other, now) = (call.require_owner()?, &*input.owner_id, call.now());
    ensure_other(me, other)?;
    people::ensure_visible(me)?;
    let own = id(kind.into(), me, other);
    let before = RELATIONSHIPS.get(&own)?;
    if let Some(before) = before.as_ref().filter(|before| before.value.state != State::None) {
        return Err(already_exists(before, me));
    }
    if let Some(block) = RELATIONSHIPS.get(&id(Kind::Block, me, other))? {
        return Err(already_exists(&block, me));
    }
    let (to, has_agent) = wanted_state(me, other, kind)?;
    let ended = before.as_ref().filter(|before| before.value.ended_by.as_deref() != Some(me));
    if ended.is_some_and(|ended| ended.value.since + COOLDOWN > now) {
        return Err(RelationshipError::RecipientNotAccepting);
    }
    ensure_below_limit(me, kind.into())?;
    let state = machine(kind).step_to(other, State::None, action, to)?;
    let own_before = before.as_ref().filter(|before| before.value.subject == me);
    let asked_before = own_before.and_then(|before| before.value.asked_at);
    let was_notified = asked_before.is_some_and(|at| at + DAY > now);
    let is_notified = state == State::Requested && !was_notified;
    if is_notified {
        ensure_request_quota(me, now)?;
    }
    let asked_at = if is_notified { Some(now) } else { asked_before };
    let record = Record { asked_at, ..Record::new(kind.into(), me, other, state, now) };
    let mut stored = match before {
        Some(before) => Stored { value: record, ..before },
        None => Stored::new(own, record, now),
    };
    stored.save()?;
    if is_notified {
        let summary = match kind {
            Request::Follow => "Somebody asks to follow you.",
            Request::Connect => "Somebody asks to connect with you.",
        };
        notify(call, REQUESTED, &stored, other, summary)?;
    }
    Ok(Relationship { counterpart_reachable: Some(has_agent), ..view(&stored, me) })
}

/// Answers a request, or ends an active follow by the followed person.
pub(crate) fn reply(call: &Call, input: Reply, action: &str) -> Result<Relationship> {
    let (me, other) = (call.require_owner()?, &*input.owner_id);
    ensure_other(me, other)?;
    let mut stored = load_active(input.kind, other, me)?;
    if stored.value.subject == me {
        let message = "Only the other side answers a request.";
        return Err(Refusal::common(ErrorCode::NotPermitted, message).next(get(other)).into());
    }
    let state = machine(input.kind).step(other, stored.value.state, action)?;
    check_version(&stored, me, input.expected_version)?;
    if state == State::None {
        end(call, &mut stored, me)?;
        return Ok(view(&stored, me));
    }
    if input.kind == Request::Connect {
        ensure_below_limit(me, Kind::Connect)?;
        relate(connection_tuples(me, other).into(), Vec::new())?;
    }
    (stored.value.state, stored.value.since) = (state, call.now());
    stored.save()?;
    notify(call, ACCEPTED, &stored, other, "Somebody has accepted your request.")?;
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
    let mut stored = load_active(kind, me, other)?;
    machine(kind).step(other, stored.value.state, action)?;
    check_version(&stored, me, input.expected_version)?;
    if kind == Request::Connect {
        relate(Vec::new(), connection_tuples(me, other).into())?;
    }
    end(call, &mut stored, me)?;
    Ok(view(&stored, me))
}

/// Ends all relationships of two people, for a block. Records that do not exist are not written, so
/// that nobody can notice the block.
pub(crate) fn end_all(call: &Call, me: &str, other: &str) -> Result<()> {
    for (kind, subject, object) in
        [(Request::Follow, me, other), (Request::Follow, other, me), (Request::Connect, me, other)]
    {
        if let Some(mut stored) = find_active(kind, subject, object)? {
            machine(kind).step(other, stored.value.state, "block")?;
            end(call, &mut stored, me)?;
        }
    }
    Ok(())
}

/// Deletes a relationship that ended long ago.
pub(crate) fn forget(call: &Call, input: &RelationshipId) -> Result<(), HostError> {
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

pub(crate) fn already_exists(stored: &Stored<Record>, me: &str) -> RelationshipError {
    RelationshipError::RelationshipExists {
        owner_id: stored.value.other(me).to_owned(),
        existing_id: stored.id.clone(),
        existing_state: stored.value.state.name(),
    }
}

pub(crate) fn check_version(
    stored: &Stored<Record>,
    me: &str,
    expected: Option<Version>,
) -> Result<(), Refusal> {
    stored.ensure_version(expected, || view(stored, me), get(stored.value.other(me)))
}

/// Returns the relation `connected` in both directions.
pub(crate) fn connection_tuples(one: &str, other: &str) -> [Tuple; 2] {
    [(one, other), (other, one)].map(|(owner, known)| {
        Tuple::new(format!("owner:{owner}"), "connected", format!("owner:{known}"))
    })
}

/// Returns the state of a new request, by the contact policy of the other person, and whether they
/// have an agent. If they have blocked the caller, the refusal is that of a person who does not exist.
fn wanted_state(me: &str, other: &str, kind: Request) -> Result<(State, bool)> {
    let person = people::person(other)?.ok_or(RelationshipError::OwnerNotFound)?;
    let blocked_by = id(Kind::Block, other, me);
    if RELATIONSHIPS.get(&blocked_by)?.is_some() {
        return Err(RelationshipError::OwnerNotFound);
    }
    let connection = RELATIONSHIPS.get(&id(Kind::Connect, me, other))?;
    let connected = connection.is_some_and(|connection| connection.value.state == State::Active);
    let policy = person.active.then_some(person.contact_policy);
    let state = decide(policy, kind, connected);
    Ok((state.ok_or(RelationshipError::RecipientNotAccepting)?, person.has_agent))
}

/// Returns the state of a new request; `None` if the person does not accept the request, or is
/// deactivated or suspended (without a policy).
fn decide(policy: Option<ContactPolicy>, kind: Request, connected: bool) -> Option<State> {
    match (policy?, kind) {
        (ContactPolicy::Paused, _) => None,
        (_, Request::Connect) => Some(State::Requested),
        (ContactPolicy::AnyoneMatching, Request::Follow) => Some(State::Active),
        (ContactPolicy::Network, Request::Follow) if connected => Some(State::Active),
        (ContactPolicy::Network, Request::Follow) => Some(State::Requested),
    }
}

/// Returns the relationship of this kind, if it has not ended.
fn find_active(kind: Request, subject: &str, object: &str) -> Result<Option<Stored<Record>>> {
    let stored = RELATIONSHIPS.get(&id(kind.into(), subject, object))?;
    Ok(stored.filter(|stored| stored.value.state != State::None))
}

fn load_active(kind: Request, subject: &str, object: &str) -> Result<Stored<Record>> {
    find_active(kind, subject, object)?.ok_or(RelationshipError::RelationshipNotFound)
}

fn end(call: &Call, stored: &mut Stored<Record>, by: &str) -> Result<(), HostError> {
    (stored.value.state, stored.value.since) = (State::None, call.now());
    stored.value.ended_by = Some(by.to_owned());
    stored.save()?;
    let ended = RelationshipId { relationship_id: stored.id.clone() };
    timers::set(&format!("forget/{}", stored.id), call.now() + COOLDOWN, "forget", &ended)
}

/// Publishes an event to the other side.
fn notify(
    call: &Call,
    event: Event<Data<RequestData>>,
    stored: &Stored<Record>,
    other: &str,
    summary: &'static str,
) -> Result<()> {
    let me = call.require_owner()?;
    let audience = Audience::Owner(other.to_owned());
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
    fn a_request_says_whether_somebody_gets_it() {
        const ME: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X1";
        const OTHER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X2";
        for (action, has_agent) in
            [("connect", true), ("connect", false), ("follow", true), ("follow", false)]
        {
            let person = json!({
                "owner_id": OTHER, "active": true, "has_agent": has_agent,
                "contact_policy": "anyone_matching",
            });
            let mut world = portolan_sdk::test::world()
                .of::<crate::SocialRelationships>()
                .at(1_800_000_000_000_u64)
                .owner(ME)
                .answer(people::PEOPLE, json!({ "people": [person] }));
            let asked = world.call(action, &json!({ "owner_id": OTHER })).unwrap();
            assert_eq!(asked["counterpart_reachable"], has_agent, "{action}");
        }
    }

    #[test]
    fn the_contact_policy_decides_about_a_request() {
        for (policy, kind, connected, decided) in [
            (Some(AnyoneMatching), Follow, false, Some(Active)),
            (Some(AnyoneMatching), Connect, false, Some(Requested)),
            (Some(Network), Follow, false, Some(Requested)),
            (Some(Network), Follow, true, Some(Active)),
            (Some(Network), Connect, false, Some(Requested)),
            (Some(Paused), Follow, true, None),
            (Some(Paused), Connect, true, None),
            (None, Connect, false, None),
        ] {
            assert_eq!(decide(policy, kind, connected), decided, "{policy:?} {kind:?} {connected}");
        }
    }
}
