//! Tuples: stated by other capabilities, granted by people, and derived from claims.

use crate::{
    check::{ensure_governs, object_text, parse_relation},
    evaluate::{Principal, Shape},
    model::{Askers, DELEGATE, MODEL, Relation, SubjectKind},
    name::{Object, subject_kind},
    tuples::{Store, id, of_subject},
    types::*,
};
use people_kit::relations::RelationChanges;
use portolan_sdk::prelude::*;

/// Writes and deletes tuples for other capabilities.
pub(crate) fn relate(input: RelationChanges) -> Result<()> {
    for tuple in &input.delete {
        let (object, _) =
            parse_tuple(&tuple.object, &tuple.relation, &tuple.subject, can_be_stated)?;
        remove(&id(&object.text, &tuple.relation, &tuple.subject))?;
    }
    for tuple in input.write {
        parse_tuple(&tuple.object, &tuple.relation, &tuple.subject, can_be_stated)?;
        write_stated(&StoredTuple::stated(tuple.object, tuple.relation, tuple.subject))?;
    }
    Ok(())
}

/// Records the person who claimed an agent last, and removes the record of any other.
pub(crate) fn delegate(agent: &Agent) -> Result<()> {
    let subject = format!("agent:{}", agent.agent_id);
    let object = agent.owner_id.as_ref().map(|owner_id| format!("owner:{owner_id}"));
    for hit in TUPLES.all(Query::new().filter(of_subject(&subject, DELEGATE))) {
        let stored = hit?.document;
        if Some(&stored.value.object) != object.as_ref() {
            remove(&stored.id)?;
        }
    }
    match object {
        Some(object) => write_stated(&StoredTuple::stated(object, DELEGATE.into(), subject)),
        None => Ok(()),
    }
}

/// Ends the grants to an agent that has no person any more, because another person may claim it.
pub(crate) fn end_grants_to(agent_id: &str) -> Result<()> {
    let subject = format!("agent:{agent_id}");
    for hit in TUPLES.all(Query::new().filter(field("subject").eq(subject))) {
        let stored = hit?.document;
        if stored.value.granted {
            remove(&stored.id)?;
        }
    }
    Ok(())
}

pub(crate) fn grant(call: &Call, input: Grant) -> Result<TupleView> {
    let stored = granted(call, &input.object, &input.relation, &input.subject)?;
    let expires_at = input.expires_at.map(|text| parse_expiry(&text, call.now())).transpose()?;
    let tuple_id = stored.id();
    let existing = TUPLES.get(&tuple_id)?.filter(|tuple| !tuple.value.is_expired(call.now()));
    if let Some(Stored { value, created_at, .. }) = existing {
        if input.on_duplicate == OnConflict::Ignore {
            return Ok(TupleView::of(&value, created_at, true));
        }
        let (object, expires_at) = (value.object, value.expires_at.map(rfc3339));
        return Err(PermissionsError::TupleExists { object, granted: value.granted, expires_at });
    }
    let granted_by = call.owner_id().map(str::to_owned);
    let stored = StoredTuple { granted: true, granted_by, expires_at, ..stored };
    count_grant(&stored)?;
    TUPLES.put(&tuple_id, &stored, Expect::Any)?;
    match stored.expires_at {
        Some(at) => timers::set(&tuple_id, at, "expire", &TupleId { tuple: tuple_id.clone() })?,
        None => _ = timers::cancel(&tuple_id)?,
    }
    Ok(TupleView::of(&stored, call.now(), true))
}

pub(crate) fn revoke(call: &Call, input: Revoke) -> Result<Revoked> {
    let tuple = granted(call, &input.object, &input.relation, &input.subject)?;
    let stored = TUPLES.get(&tuple.id())?;
    let revoked =
        stored.is_some_and(|stored| stored.value.granted && !stored.value.is_expired(call.now()));
    if !revoked && input.on_missing == OnConflict::Error {
        return Err(PermissionsError::TupleMissing { object: tuple.object });
    }
    if revoked {
        remove(&tuple.id())?;
    }
    Ok(view!(tuple => Revoked { object, relation, subject; revoked }))
}

/// Ends a grant that has expired, unless it was granted again for longer.
pub(crate) fn expire(call: &Call, tuple_id: &str) -> Result<()> {
    match TUPLES.get(tuple_id)? {
        Some(stored) if stored.value.is_expired(call.now()) => remove(tuple_id),
        _ => Ok(()),
    }
}

/// Ends the grants that a person made on objects that they govern no more, such as those of an organisation that
/// they have left.
pub(crate) fn end_grants_by(call: &Call, member: MemberChanged) -> Result<()> {
    let MemberChanged { owner_id, cursor } = member;
    let (mut store, giver) = (Store::new(call), Principal::person(&owner_id));
    let theirs = Query::new().filter(field("granted_by").eq(&owner_id));
    let page = TUPLES.find(theirs.limit(MOST_ENDED).cursor(cursor))?;
    let (found, next) = page.into_parts();
    for Stored { id, value, .. } in found {
        let Ok((object, _)) = parse_relation(&value.object, &value.relation) else { continue };
        if value.granted && !store.is_governed_by(&object, &giver)? {
            remove(&id)?;
        }
    }
    match next {
        Some(next) => {
            let name = format!("grants_by/{owner_id}");
            let rest = MemberChanged { owner_id, cursor: Some(next) };
            Ok(timers::set(&name, call.now(), "end_grants", &rest)?)
        }
        None => Ok(()),
    }
}

/// Returns the tuples of an object that the caller governs, or those whose subject is the caller.
pub(crate) fn list(call: &Call, input: ListGrants) -> Result<Items<TupleView>> {
    let mut store = Store::new(call);
    let filter = match &input.object {
        Some(object) => {
            let object = object_text(&store, object)?;
            let object = Object::parse(MODEL, &object).ok_or(PermissionsError::RelationUnknown)?;
            ensure_governs(&mut store, &object)?;
            let by_object = field("object").eq(&object.text);
            match input.subject.as_deref() {
                Some("me") => by_object.and(field("subject").one_of(&store.me().names)),
                Some(subject) => by_object.and(field("subject").eq(object_text(&store, subject)?)),
                None => by_object,
            }
        }
        None => field("subject").one_of(&store.me().names),
    };
    let filter = filter.and(input.relation.as_ref().map(|relation| field("relation").eq(relation)));
    let query = Query::new().filter(filter).first("object").page(input.page);
    let (found, next_cursor) = TUPLES.find(query)?.into_parts();
    let mut items = Vec::new();
    let governed = input.object.is_some();
    for Stored { value: stored, created_at, .. } in found {
        if !stored.is_expired(call.now()) && (governed || is_visible(&mut store, &stored)?) {
            items.push(TupleView::of(&stored, created_at, governed));
        }
    }
    Ok(Items { items, next_cursor })
}

/// Returns whether the subject may see a tuple: not if only governors may ask about its relation,
/// or if a block hides the object's person from the subject.
fn is_visible(store: &mut Store, stored: &StoredTuple) -> Result<bool> {
    let Ok((object, relation)) = parse_relation(&stored.object, &stored.relation) else {
        return Ok(false);
    };
    Ok(relation.askers != Askers::Governor && !store.is_hidden(&object)?)
}

fn can_be_stated(relation: &'static Relation, who: SubjectKind) -> bool {
    relation.subjects().any(|subject| subject == who)
}

/// Returns the tuple of a grant, without writing it. Refuses a grant that the model does not
/// permit, or on an object that the caller does not govern.
fn granted(call: &Call, object: &str, relation: &str, subject: &str) -> Result<StoredTuple> {
    let mut store = Store::new(call);
    let object = object_text(&store, object)?;
    let subject = object_text(&store, subject)?;
    let can_be_granted = |relation: &'static Relation, who| relation.granted_to.contains(&who);
    let (object, relation) = parse_tuple(&object, relation, &subject, can_be_granted)?;
    if !store.governs(&object)? {
        let message = "Only the person who governs an object may grant relations to it.";
        return Err(Refusal::common(ErrorCode::NotOwner, message).next(own_grants()).into());
    }
    Ok(StoredTuple::stated(object.text, relation.name.into(), subject))
}

/// Returns the object and the relation of a tuple. Refuses if the model does not have them, or if
/// `is_accepted` excludes the kind of subject.
fn parse_tuple(
    object: &str,
    relation: &str,
    subject: &str,
    is_accepted: fn(&'static Relation, SubjectKind) -> bool,
) -> Result<(Object, &'static Relation)> {
    let (object, relation) = parse_relation(object, relation)?;
    let who = subject_kind(MODEL, subject).filter(|who| is_accepted(relation, *who));
    who.map(|_| (object, relation)).ok_or(PermissionsError::RelationUnknown)
}

fn parse_expiry(text: &str, now: u64) -> Result<u64> {
    let at = time::parse(text).filter(|at| *at > now);
    let expected = "an instant that is still to come";
    at.ok_or_else(|| Refusal::validation("/expires_at", "future", expected).into())
}

/// Counts one more grant on an object, or refuses if that exceeds the limit.
fn count_grant(stored: &StoredTuple) -> Result<()> {
    // The count is read first, so that a concurrent grant makes this call run again.
    let mut object = OBJECTS.get_or_default(&stored.object)?;
    let of_object = field("object").eq(&stored.object).and(field("granted").eq(true));
    let of_sets = of_object.clone().and(field("shape").eq(Shape::Set));
    let grants = TUPLES.count(of_object)? + 1;
    let sets = TUPLES.count(of_sets)? + u64::from(stored.shape == Shape::Set);
    for (name, number, limit) in
        [("grants_per_object", grants, MOST_GRANTS), ("sets_per_object", sets, MOST_SETS)]
    {
        if number > limit {
            let (limit, next) = (Limit::reached(name, limit), list_grants(&stored.object));
            return Err(PermissionsError::TupleLimit { limit: Box::new(limit), next });
        }
    }
    object.value = Granted { grants, sets };
    Ok(OBJECTS.save(&mut object)?)
}

/// Writes a tuple that another capability states. It replaces a grant of the same tuple.
fn write_stated(stored: &StoredTuple) -> Result<()> {
    let tuple_id = stored.id();
    let before = TUPLES.get(&tuple_id)?;
    if before.as_ref().is_some_and(|stored| !stored.value.granted) {
        return Ok(());
    }
    if before.is_some_and(|stored| stored.value.expires_at.is_some()) {
        timers::cancel(&tuple_id)?;
    }
    TUPLES.put(&tuple_id, stored, Expect::Any)?;
    Ok(())
}

fn remove(tuple_id: &str) -> Result<()> {
    let Some(stored) = TUPLES.get(tuple_id)? else { return Ok(()) };
    if stored.value.expires_at.is_some() {
        timers::cancel(tuple_id)?;
    }
    TUPLES.delete(tuple_id, Expect::Revision(stored.revision))?;
    Ok(())
}
