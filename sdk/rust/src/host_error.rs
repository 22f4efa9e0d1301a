//! Errors of the host as refusals.
//!
//! With `?`, a [`HostError`] becomes a refusal with a common code. [`RefuseOn`] names a better refusal for
//! an expected error.

use crate::{
    answer::Refusal,
    contract::{
        HostError,
        context::{Level, log},
    },
};
use portolan_codes::ErrorCode;

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Self {
        match &error {
            HostError::Unavailable(_) => Self::common(
                ErrorCode::DependencyUnavailable,
                "A dependency of this capability is unavailable. Try again in a moment.",
            ),
            HostError::Conflict => Self::common(
                ErrorCode::VersionConflict,
                "It was changed at the same time. Read it again, then repeat the call.",
            ),
            HostError::BadCursor => {
                Self::common(ErrorCode::CursorInvalid, "The cursor does not belong to this query.")
            }
            HostError::Limit(which) => Self::common(ErrorCode::QuotaExceeded, which.clone()),
            HostError::Invalid(_) | HostError::Duplicate(_) => {
                report(&error);
                Self::common(
                    ErrorCode::InternalError,
                    "This capability sent an invalid request to its host.",
                )
            }
        }
    }
}

/// Logs the error for the operator, because callers only learn that the capability has a fault.
fn report(error: &HostError) {
    #[cfg(not(target_arch = "wasm32"))]
    if !crate::imports::has_world() {
        return;
    }
    // The duplicate value and the id of its document may be personal data, so they are not logged.
    let message = match error {
        HostError::Duplicate(_) => "a unique key is taken, and the capability has no answer",
        HostError::Invalid(what) => what.as_str(),
        HostError::Conflict
        | HostError::BadCursor
        | HostError::Limit(_)
        | HostError::Unavailable(_) => return,
    };
    log(Level::Error, &format!("the host refused: {message}"));
}

/// The conversion of an expected error of the host into a refusal of the capability.
///
/// ```no_run
/// use portolan_sdk::prelude::*;
///
/// #[derive(Serialize, Deserialize)]
/// struct Person {
///     email: String,
/// }
///
/// const PEOPLE: Collection<Person> = Collection::new("people").unique("email", &["email"]);
///
/// #[derive(Refusals)]
/// enum PeopleError {
///     /// There is a person of this id already.
///     #[refusal(conflict)]
///     PersonExists,
///     /// This address belongs to somebody else.
///     #[refusal(conflict)]
///     EmailTaken,
///     #[refusal(transparent)]
///     Common(Refusal),
/// }
///
/// fn add(id: &str, person: &Person) -> Result<u64, PeopleError> {
///     PEOPLE.put(id, person, Expect::Absent).on_conflict(PeopleError::PersonExists)
/// }
///
/// fn add_with_unique_email(id: &str, person: &Person) -> Result<u64, PeopleError> {
///     PEOPLE.put(id, person, Expect::Any).on_duplicate(|_other_id| PeopleError::EmailTaken)
/// }
/// ```
pub trait RefuseOn<T> {
    /// Refuses if the expectation about the document's revision does not hold.
    fn on_conflict<E: From<HostError>>(self, refusal: E) -> Result<T, E>;

    /// Refuses if a unique key is taken. The function gets the id of the document that has it.
    fn on_duplicate<E: From<HostError>>(self, refusal: impl FnOnce(String) -> E) -> Result<T, E>;
}

impl<T> RefuseOn<T> for Result<T, HostError> {
    fn on_conflict<E: From<HostError>>(self, refusal: E) -> Result<T, E> {
        self.map_err(|error| match error {
            HostError::Conflict => refusal,
            other => other.into(),
        })
    }

    fn on_duplicate<E: From<HostError>>(self, refusal: impl FnOnce(String) -> E) -> Result<T, E> {
        self.map_err(|error| match error {
            HostError::Duplicate(id) => refusal(id),
            other => other.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_of_the_host_has_its_code() {
        let text = || String::from("text");
        let codes = [
            HostError::Unavailable(text()),
            HostError::Conflict,
            HostError::BadCursor,
            HostError::Invalid("there is no index price".into()),
            HostError::Duplicate(text()),
            HostError::Limit(text()),
        ]
        .map(|error| Refusal::from(error).code);
        assert_eq!(
            codes,
            [
                "dependency_unavailable",
                "version_conflict",
                "cursor_invalid",
                "internal_error",
                "internal_error",
                "quota_exceeded",
            ]
        );
    }

    #[test]
    fn an_author_can_name_the_refusal() {
        let code = |result: Result<(), Refusal>| result.map_err(|refusal| refusal.code);
        let named = |code: &str| {
            let refusal = Refusal::common(ErrorCode::NotFound, "A message.");
            Refusal { code: code.to_owned(), ..refusal }
        };
        let conflict = Err::<(), _>(HostError::Conflict);
        assert_eq!(code(conflict.clone().on_conflict(named("mine"))), Err("mine".into()));
        assert_eq!(code(conflict.on_duplicate(|_| named("mine"))), Err("version_conflict".into()));
        let duplicate = Err::<(), _>(HostError::Duplicate("taken".into()));
        assert_eq!(code(duplicate.on_duplicate(|id| named(&id))), Err("taken".into()));
        assert_eq!(code(Ok(()).on_conflict(named("mine"))), Ok(()));
    }
}
