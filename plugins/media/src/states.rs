//! The states of a file, and the transitions between them.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    /// Its bytes have not arrived yet.
    Uploading,
    /// Its bytes have arrived and are read.
    Processing,
    Ready,
    /// It did not arrive, or is not what it must be. Its bytes are deleted.
    Refused,
    /// The operator has hidden it after a report.
    Hidden,
    Deleted,
}

use State::{Deleted, Hidden, Processing, Ready, Refused, Uploading};

pub(crate) const MEDIA: Machine<State> = Machine::new(
    "media",
    &[
        Transition::new("create", &[], &[Uploading]),
        Transition::internal("arrived", &[Uploading], &[Processing]),
        Transition::internal("process", &[Processing], &[Ready, Refused]),
        Transition::internal("give_up", &[Uploading, Processing], &[Refused]),
        Transition::internal("forget", &[Refused], &[Deleted]),
        Transition::internal("hide", &[Ready], &[Hidden]),
        Transition::internal("reinstate", &[Hidden], &[Ready]),
        Transition::new("update", &[Uploading, Processing, Ready], &[]),
        Transition::new("delete", &[Uploading, Processing, Ready, Refused, Hidden], &[Deleted]),
    ],
)
.read_by("media", "get", "media_id");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_can_always_delete_and_changes_what_is_not_refused_or_hidden() {
        for state in [Uploading, Processing, Ready] {
            assert_eq!(MEDIA.allowed(state), ["update", "delete"], "{state:?}");
        }
        for state in [Refused, Hidden] {
            assert_eq!(MEDIA.allowed(state), ["delete"], "{state:?}");
        }
        assert_eq!(MEDIA.allowed(Deleted), Vec::<&str>::new());
    }
}
