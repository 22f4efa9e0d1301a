//! The failure that a caller gets in place of a component's general one, if the host knows the cause or the next
//! step.

use portolan_catalog::Capability;
use portolan_publication::no_feeds;
use portolan_store::{Cause, Unit};
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure, RETRY_SOON_S};
use serde_json::{Map, Value, json};

/// Returns the failure that names the cause noted in the unit, if there is one that explains the component's
/// failure; otherwise the component's.
///
/// Components in all languages answer a refused request of theirs in general terms. `input` is that of the
/// outermost call, because the caller knows no other; events and timers have no caller who could change it.
pub(super) fn explain(
    failure: Failure,
    unit: &Unit,
    (capability, action): (&Capability, &str),
    input: Option<&str>,
) -> Failure {
    let explained = match unit.cause() {
        Some(Cause::UndeclaredPerson(person)) if failure.kind == ErrorKind::Internal => {
            let input = input.and_then(|input| serde_json::from_str(input).ok());
            let failure = input.and_then(|input| person.caused_by(&input));
            failure.map(|failure| failure.next(capability.schema_step()))
        }
        Some(Cause::NoFeeds) if is_general(&failure) => Some(no_feeds()),
        _ => None,
    };
    let failure = explained.unwrap_or(failure);
    if is_general(&failure) {
        // A request of the component to the store has failed: the database may be back soon.
        return failure.after_s(RETRY_SOON_S);
    }
    let is_cursor = failure.has_code(ErrorCode::CursorInvalid) && failure.next.is_none();
    match input.filter(|_| is_cursor).and_then(|input| first_page(capability, action, input)) {
        Some(next) => failure.next(next),
        None => failure,
    }
}

/// Returns the same call without its cursor; `None` if it has no field `cursor`.
fn first_page(capability: &Capability, action: &str, input: &str) -> Option<Value> {
    let mut fields: Map<String, Value> = serde_json::from_str(input).ok()?;
    fields.shift_remove("cursor")?;
    let action = ("action".to_owned(), json!(action));
    let input: Map<_, _> = std::iter::once(action).chain(fields).collect();
    Some(json!({ "capability": capability.id, "input": input }))
}

/// Returns whether a failure says only that something is unavailable.
fn is_general(failure: &Failure) -> bool {
    let code = ErrorCode::DependencyUnavailable;
    failure.has_code(code) && failure.message == code.row().message && failure.next.is_none()
}
