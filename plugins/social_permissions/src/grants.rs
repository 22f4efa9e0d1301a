//! Tuples: stated by other capabilities, granted by people, and derived from claims.

use crate::{
    ask::{governed, known, object_text},
    judge::Shape,
    model::{Askers, DELEGATE, MODEL, Relation, Who},
    name::{Object, sort},
    tuples::{Store, id, of_subject},
    types::*,
};
use people_kit::relations::Relate;
use portolan_sdk::prelude::*;

/// Writes and deletes tuples for other capabilities.
pub(crate) fn relate(input: Relate) -> Result<()> {
    for tuple in &input.delete {
        let (object, _) = fitting(&tuple.object, &tuple.relation, &tuple.subject, stated)?;
        remove(&id(&object.text, &tuple.relation, &tuple.subject))?;
    }
    for tuple in input.write {
        fitting(&tuple.object, &tuple.relation, &tuple.subject, stated)?;
        state(&Kept::stated(tuple.object, tuple.relation, tuple.subject))?;
    }
    Ok(())
}

/// Records the person who claimed an agent last, and removes the record of any other.
pub(crate) fn delegate(agent: &Agent) -> Result<()> {
    let subject = format!("agent:{}", agent.agent_id);
    let object = agent.owner_id.as_ref().map(|owner_id| format!("owner:{owner_id}"));
    for hit in TUPLES.all(Query::new().filter(of_subject(&subject, DELEGATE))) {
        let kept = hit?.document;
        if Some(&kept.value.object) != object.as_ref() {
            remove(&kept.id)?;
        }
    }
    match object {
        Some(object) => state(&Kept::stated(object, DELEGATE.into(), subject)),
        None => Ok(()),
    }
}

pub(crate) fn grant(call: &Call, input: Grant) -> Result<TupleView> {
    let kept = granted(call, &input.object, &input.relation, &input.subject)?;
    let expires_at = input.expires_at.map(|text| ending(&text, call.now())).transpose()?;
    let tuple_id = kept.id();
    let existing = TUPLES.get(&tuple_id)?.filter(|tuple| !tuple.value.is_over(call.now()));
    if let Some(Stored { value, created_at, .. }) = existing {
        if input.on_duplicate == Otherwise::Ignore {
            return Ok(TupleView::of(&value, created_at, true));
        }
        let (object, expires_at) = (value.object, value.expires_at.map(rfc3339));
        return Err(PermissionsError::TupleExists { object, granted: value.granted, expires_at });
    }
    let granted_by = call.owner_id().map(str::to_owned);
    let kept = Kept { granted: true, granted_by, expires_at, ..kept };
    count_in(&kept)?;
    TUPLES.put(&tuple_id, &kept, Expect::Any)?;
    match kept.expires_at {
        Some(at) => timers::set(&tuple_id, at, "expire", &TupleId { tuple: tuple_id.clone() })?,
        None => _ = timers::cancel(&tuple_id)?,
    }
    Ok(TupleView::of(&kept, call.now(), true))
}

pub(crate) fn revoke(call: &Call, input: Revoke) -> Result<Revoked> {
    let tuple = granted(call, &input.object, &input.relation, &input.subject)?;
    let kept = TUPLES.get(&tuple.id())?;
    let revoked = kept.is_some_and(|kept| kept.value.granted && !kept.value.is_over(call.now()));
    if !revoked && input.on_missing == Otherwise::Error {
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
        Some(kept) if kept.value.is_over(call.now()) => remove(tuple_id),
        _ => Ok(()),
    }
}

/// Returns the tuples of an object that the caller governs, or those whose subject is the caller.
pub(crate) fn list(call: &Call, input: ListGrants) -> Result<Items<TupleView>> {
    let mut store = Store::new(call);
    let filter = match &input.object {
        Some(object) => {
            let object = object_text(&store, object)?;
            let object = Object::parse(MODEL, &object).ok_or(PermissionsError::RelationUnknown)?;
            governed(&mut store, &object)?;
            let of_it = field("object").eq(&object.text);
            match input.subject.as_deref() {
                Some("me") => of_it.and(field("subject").one_of(&store.me().names)),
                Some(subject) => of_it.and(field("subject").eq(object_text(&store, subject)?)),
                None => of_it,
            }
        }
        None => field("subject").one_of(&store.me().names),
    };
    let filter = filter.and(input.relation.as_ref().map(|relation| field("relation").eq(relation)));
    let query = Query::new().filter(filter).first("object").page(input.page);
    let (found, next_cursor) = TUPLES.find(query)?.into_parts();
    let mut items = Vec::new();
    let governed = input.object.is_some();
    for Stored { value: kept, created_at, .. } in found {
        if !kept.is_over(call.now()) && (governed || is_visible(&mut store, &kept)?) {
            items.push(TupleView::of(&kept, created_at, governed));
        }
    }
    Ok(Items { items, next_cursor })
}

/// Returns whether the subject may see a tuple: not if only governors may ask about its relation,
/// or if a block hides the object's person from the subject.
fn is_visible(store: &mut Store, kept: &Kept) -> Result<bool> {
    let Ok((object, relation)) = known(&kept.object, &kept.relation) else { return Ok(false) };
    Ok(relation.askers != Askers::Governor && !store.is_hidden(&object)?)
}

fn stated(relation: &'static Relation, who: Who) -> bool {
    relation.subjects().any(|subject| subject == who)
}

/// Returns the tuple of a grant, without writing it. Refuses a grant that the model does not
/// permit, or on an object that the caller does not govern.
fn granted(call: &Call, object: &str, relation: &str, subject: &str) -> Result<Kept> {
    let mut store = Store::new(call);
    let object = object_text(&store, object)?;
    let subject = object_text(&store, subject)?;
    let may_be = |relation: &'static Relation, who| relation.granted_to.contains(&who);
    let (object, relation) = fitting(&object, relation, &subject, may_be)?;
    if !store.governs(&object)? {
        let message = "Only the person who governs an object may grant relations to it.";
        return Err(Refusal::common(ErrorCode::NotOwner, message).next(own_grants()).into());
    }
    Ok(Kept::stated(object.text, relation.name.into(), subject))
}

/// Returns the object and the relation of a tuple. Refuses if the model does not have them, or if
/// `takes` excludes the kind of subject.
fn fitting(
    object: &str,
    relation: &str,
    subject: &str,
    takes: fn(&'static Relation, Who) -> bool,
) -> Result<(Object, &'static Relation)> {
    let (object, relation) = known(object, relation)?;
    let who = sort(MODEL, subject).filter(|who| takes(relation, *who));
    who.map(|_| (object, relation)).ok_or(PermissionsError::RelationUnknown)
}

fn ending(text: &str, now: u64) -> Result<u64> {
    let at = time::parse(text).filter(|at| *at > now);
    let expected = "an instant that is still to come";
    at.ok_or_else(|| Refusal::validation("/expires_at", "future", expected).into())
}

/// Counts one more grant on an object, or refuses if that exceeds the limit.
fn count_in(kept: &Kept) -> Result<()> {
    // The count is read first, so that a concurrent grant makes this call run again.
    let mut object = OBJECTS.get_or_default(&kept.object)?;
    let of_object = field("object").eq(&kept.object).and(field("granted").eq(true));
    let of_sets = of_object.clone().and(field("shape").eq(Shape::Set));
    let grants = TUPLES.count(of_object)? + 1;
    let sets = TUPLES.count(of_sets)? + u64::from(kept.shape == Shape::Set);
    for (name, number, limit) in
        [("grants_per_object", grants, MOST_GRANTS), ("sets_per_object", sets, MOST_SETS)]
    {
        if number > limit {
            let (limit, next) = (Limit::reached(name, limit), list_grants(&kept.object));
            return Err(PermissionsError::TupleLimit { limit: Box::new(limit), next });
        }
    }
    object.value = Granted { grants, sets };
    Ok(OBJECTS.save(&mut object)?)
}

/// Writes a tuple that another capability states. It replaces a grant of the same tuple.
fn state(kept: &Kept) -> Result<()> {
    let tuple_id = kept.id();
    let before = TUPLES.get(&tuple_id)?;
    if before.as_ref().is_some_and(|kept| !kept.value.granted) {
        return Ok(());
    }
    if before.is_some_and(|kept| kept.value.expires_at.is_some()) {
        timers::cancel(&tuple_id)?;
    }
    TUPLES.put(&tuple_id, kept, Expect::Any)?;
    Ok(())
}

fn remove(tuple_id: &str) -> Result<()> {
    let Some(kept) = TUPLES.get(tuple_id)? else { return Ok(()) };
    if kept.value.expires_at.is_some() {
        timers::cancel(tuple_id)?;
    }
    TUPLES.delete(tuple_id, Expect::Revision(kept.revision))?;
    Ok(())
}
