//! Questions, and who may ask them.
//!
//! Callers may ask about themselves, and about objects that they govern. A block is not disclosed:
//! to the blocked subject it looks like a relation that never existed, and the governor of an
//! object does not see blocks by others.

use crate::{
    evaluate::{Principal, Step, evaluate},
    model::{Askers, DELEGATE, MODEL, Relation, SubjectKind},
    name::{Object, subject_kind},
    tuples::{Store, VisibleTuples, of_subject},
    types::*,
};
use people_kit::{people, relations::Tuple};
use portolan_sdk::prelude::*;

/// Parses an object and a relation. Refuses with `relation_unknown` if the model does not have
/// them.
pub(crate) fn parse_relation(object: &str, relation: &str) -> Result<(Object, &'static Relation)> {
    let object = Object::parse(MODEL, object).ok_or(PermissionsError::RelationUnknown)?;
    let relation = object.kind.relation(relation).ok_or(PermissionsError::RelationUnknown)?;
    Ok((object, relation))
}

/// Returns an object's text, with the caller's person for `me`; refuses with
/// `phone_binding_required` if there is none.
pub(crate) fn object_text(store: &Store, text: &str) -> Result<String> {
    let Some(kind) = text.strip_suffix(":me") else { return Ok(text.to_owned()) };
    let Some((_, id)) = store.person().and_then(|person| person.split_once(':')) else {
        let message = "A person must claim this identity with a one-time phone bind first.";
        let refusal = Refusal::common(ErrorCode::PhoneBindingRequired, message);
        return Err(refusal.next(Next::claim().then_retry()).into());
    };
    Ok(format!("{kind}:{id}"))
}

/// Returns why the relation holds, for an agent that asks; `None` if it does not, for whatever
/// reason. Refuses a question that the caller may not ask.
pub(crate) fn answer(store: &mut Store, ask: &CheckInput) -> Result<Option<Vec<Step>>> {
    let (object, relation) = parse_relation(&object_text(store, &ask.object)?, &ask.relation)?;
    let subject = match &*ask.subject {
        "me" | "agent:me" | "owner:me" => None,
        subject => Some(subject).filter(|subject| !store.is_me(subject)),
    };
    let governs = store.governs(&object)?;
    let Some(subject) = subject else {
        if relation.askers == Askers::Governor && !governs {
            return Err(not_yours());
        }
        if relation.askers == Askers::Unblocked && store.is_hidden(&object)? {
            return Ok(None);
        }
        let me = store.me();
        let found = evaluate(MODEL, store, &object, relation, &me)?;
        let holds_for_everybody =
            evaluate(MODEL, store, &object, relation, &Principal::default())?.is_some();
        return Ok(if holds_for_everybody && !governs && !exists(&object)? { None } else { found });
    };
    let subject = principal_by_name(subject)?;
    if !governs {
        return Err(not_yours());
    }
    evaluate(MODEL, &mut VisibleTuples(store), &object, relation, &subject)
}

/// Returns the answer to one of several questions; a question that is refused has the code instead.
pub(crate) fn answer_or_code(store: &mut Store, ask: &CheckInput) -> Result<BatchCheckItem> {
    let (found, error_code) = match answer(store, ask).map_err(Refusal::from) {
        Ok(found) => (found, None),
        Err(Refusal { code, .. }) if SINGLE_QUESTION_CODES.contains(&code.as_str()) => {
            (None, Some(code))
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let (allowed, reason_path) = (found.is_some(), found.unwrap_or_default());
    Ok(BatchCheckItem { allowed, reason_path, error_code })
}

/// The error codes that refuse only one of several questions. Any other refusal refuses all of
/// them.
const SINGLE_QUESTION_CODES: [&str; 3] = ["tuple_limit", "relation_unknown", "not_permitted"];

/// Returns whether the object exists, if it is a person; true for other objects. Nobody has a
/// relation with a person who does not exist, not even a relation that everybody has with existing
/// people: otherwise a blocked caller could tell the two cases apart.
fn exists(object: &Object) -> Result<bool, Refusal> {
    match object.text.split_once(':') {
        Some(("owner", id)) => Ok(people::person(id)?.is_some()),
        _ => Ok(true),
    }
}

/// Returns whether a relation holds, for another capability, without hiding blocks.
pub(crate) fn verdict(call: &Call, tuple: &Tuple) -> Result<bool> {
    let store = &mut Store::new(call);
    let (object, relation) = parse_relation(&tuple.object, &tuple.relation)?;
    let principal = principal(store, &tuple.subject)?;
    Ok(evaluate(MODEL, store, &object, relation, &principal)?.is_some())
}

/// Returns a subject under its own name only: an agent of another person is not resolved to that
/// person.
pub(crate) fn principal_by_name(subject: &str) -> Result<Principal> {
    let name = subject.to_owned();
    match subject_kind(MODEL, subject) {
        Some(SubjectKind::Person) => {
            Ok(Principal { names: vec![name.clone()], person: Some(name) })
        }
        Some(SubjectKind::Agent | SubjectKind::Set(..)) => {
            Ok(Principal { names: vec![name], person: None })
        }
        Some(SubjectKind::All) => Ok(Principal::default()),
        Some(SubjectKind::Object(_)) | None => Err(PermissionsError::RelationUnknown),
    }
}

/// Returns a subject under all its names: an agent acts for its person.
fn principal(store: &mut Store, subject: &str) -> Result<Principal> {
    if store.is_me(subject) {
        return Ok(store.me());
    }
    let mut principal = principal_by_name(subject)?;
    if subject_kind(MODEL, subject) == Some(SubjectKind::Agent) {
        let found = store.find(of_subject(subject, DELEGATE))?;
        principal.person = found.into_iter().next().map(|stored| stored.object);
        principal.names.extend(principal.person.clone());
    }
    Ok(principal)
}

/// Refuses callers who do not govern the object.
pub(crate) fn ensure_governs(store: &mut Store, object: &Object) -> Result<()> {
    if store.governs(object)? { Ok(()) } else { Err(not_yours()) }
}

fn not_yours() -> PermissionsError {
    let message = "You may ask only about yourself, and about objects that you govern.";
    Refusal::common(ErrorCode::NotPermitted, message).next(own_grants()).into()
}
