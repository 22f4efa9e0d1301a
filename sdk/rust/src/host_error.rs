//! What becomes of a request that the host refuses.
//!
//! With `?`, a [`HostError`] becomes one of the host's common codes. What an author has a better
//! answer for is named with [`RefuseOn`], or matched.

use crate::{answer::Refusal, contract::HostError};
use portolan_codes::ErrorCode;

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Self {
        match &error {
            HostError::Unavailable(_) => Self::common(
                ErrorCode::DependencyUnavailable,
                "A part that this capability depends on is away. Try again in a moment.",
            ),
            HostError::Conflict => Self::common(
                ErrorCode::VersionConflict,
                "Somebody else changed this at the same time.",
            ),
            HostError::BadCursor => {
                Self::common(ErrorCode::CursorInvalid, "The cursor does not belong to this query.")
            }
            HostError::Invalid(_) | HostError::Duplicate(_) | HostError::Limit(_) => {
                report(&error);
                Self::common(
                    ErrorCode::InternalError,
                    "This capability asked its host for something impossible.",
                )
            }
        }
    }
}

/// Tells the operator: callers only learn that something is wrong with the capability.
fn report(error: &HostError) {
    #[cfg(target_arch = "wasm32")]
    {
        use crate::contract::context::{Level, log};
        // A value that is taken twice, and the id that has it, are people's own.
        let message = match error {
            HostError::Duplicate(_) => "a unique key is taken, and the capability has no answer",
            HostError::Invalid(what) | HostError::Limit(what) => what.as_str(),
            HostError::Conflict | HostError::BadCursor | HostError::Unavailable(_) => return,
        };
        log(Level::Error, &format!("the host refused: {message}"));
    }
    #[cfg(not(target_arch = "wasm32"))]
    let _ = error;
}

/// Names the refusal for an answer of the host's that the author expects.
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
    /// If what was expected of the document's revision is not so.
    fn on_conflict<E: From<HostError>>(self, refusal: E) -> Result<T, E>;

    /// If a unique key is taken, by the document of the id that the function gets.
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
                "internal_error",
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
