//! Questions, and who may ask them.
//!
//! One may ask about oneself, and about what one governs. A block is silent: to whoever was blocked
//! it looks like a relation that was never there, and to whoever governs an object, what others have
//! blocked does not show.

use crate::{
    judge::{Principal, Step, judge},
    model::{DELEGATE, MODEL, Relation, Told, Who},
    name::{Object, sort},
    tuples::{Known, Store},
    types::*,
};
use people_kit::people;
use portolan_sdk::prelude::*;

/// A relation to an object, as the model knows them.
pub(crate) fn known(object: &str, relation: &str) -> Result<(Object, &'static Relation)> {
    let object = Object::parse(MODEL, object).ok_or(PermissionsError::RelationUnknown)?;
    let relation = object.kind.relation(relation).ok_or(PermissionsError::RelationUnknown)?;
    Ok((object, relation))
}

/// An object's text, with the caller's person for `me`; `phone_binding_required` if there is none.
pub(crate) fn object_text(store: &Store, text: &str) -> Result<String> {
    let Some(kind) = text.strip_suffix(":me") else { return Ok(text.to_owned()) };
    let person = store.person().and_then(|person| person.split_once(':'));
    match person {
        Some((_, id)) => Ok(format!("{kind}:{id}")),
        None => {
            let message = "A person must claim this identity with a one-time phone bind first.";
            let refusal = Refusal::common(ErrorCode::PhoneBindingRequired, message);
            Err(refusal.next(Next::claim().then_retry()).into())
        }
    }
}

/// Why it holds, for an agent that asks; none if it does not, for whatever reason.
pub(crate) fn answer(store: &mut Store, ask: &Ask) -> Result<Option<Vec<Step>>> {
    let (object, relation) = known(&object_text(store, &ask.object)?, &ask.relation)?;
    let subject = match ask.subject.as_str() {
        "me" | "agent:me" | "owner:me" => None,
        subject => Some(subject).filter(|subject| !store.is_me(subject)),
    };
    let governs = store.governs(&object)?;
    let Some(subject) = subject else {
        if relation.told == Told::Governor && !governs {
            return Err(not_yours());
        }
        if relation.told == Told::Named && store.is_apart(&object)? {
            return Ok(None);
        }
        let me = store.me();
        let found = judge(MODEL, store, &object, relation, &me)?;
        let is_anybodys = judge(MODEL, store, &object, relation, &Principal::default())?.is_some();
        return Ok(if is_anybodys && !governs && !is_there(&object)? { None } else { found });
    };
    let subject = stranger(subject)?;
    if !governs {
        return Err(not_yours());
    }
    judge(MODEL, &mut Known(store), &object, relation, &subject)
}

/// Whether there is such a person. What everybody has with a person, nobody has with one who is not
/// there: otherwise who was blocked would be told the two apart.
fn is_there(object: &Object) -> Result<bool, Refusal> {
    match object.text.split_once(':') {
        Some(("owner", id)) => Ok(people::person(id)?.is_some()),
        _ => Ok(true),
    }
}

/// The verdict for another capability, with nothing left out.
pub(crate) fn verdict(
    store: &mut Store,
    object: &str,
    relation: &str,
    subject: &str,
) -> Result<bool> {
    let (object, relation) = known(object, relation)?;
    let principal = principal(store, subject)?;
    Ok(judge(MODEL, store, &object, relation, &principal)?.is_some())
}

/// A subject under its own name only: whose agent somebody else's is, is theirs to tell.
pub(crate) fn stranger(subject: &str) -> Result<Principal> {
    let name = subject.to_owned();
    match sort(MODEL, subject) {
        Some(Who::Person) => Ok(Principal { names: vec![name.clone()], person: Some(name) }),
        Some(Who::Agent | Who::Set(..)) => Ok(Principal { names: vec![name], person: None }),
        Some(Who::All) => Ok(Principal::default()),
        Some(Who::Object(_)) | None => Err(PermissionsError::RelationUnknown),
    }
}

/// A subject under all its names: an agent acts for its person.
fn principal(store: &mut Store, subject: &str) -> Result<Principal> {
    if store.is_me(subject) {
        return Ok(store.me());
    }
    let mut principal = stranger(subject)?;
    if sort(MODEL, subject) == Some(Who::Agent) {
        let filter = field("subject").eq(subject).and(field("relation").eq(DELEGATE));
        principal.person = store.find(filter)?.into_iter().next().map(|kept| kept.object);
        principal.names.extend(principal.person.clone());
    }
    Ok(principal)
}

/// Refuses what only those who govern an object may do.
pub(crate) fn governed(store: &mut Store, object: &Object) -> Result<()> {
    if store.governs(object)? {
        return Ok(());
    }
    Err(not_yours())
}

fn not_yours() -> PermissionsError {
    let message = "You may ask about yourself, and about what is yours to decide on.";
    Refusal::common(ErrorCode::NotPermitted, message).next(own_grants()).into()
}
