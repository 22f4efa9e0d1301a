//! The event for the person, and for the capabilities that follow verifications.

use crate::{life::*, refusals::*, types::*};
use portolan_sdk::prelude::*;

/// Publishes the event. Events about one record are ordered, so that several people's changes are
/// not mixed up.
pub(crate) fn updated(
    stored: &Stored<Verification>,
    anybody_verified: bool,
) -> Result<(), HostError> {
    let it = &stored.value;
    let more = view!(it => Updated { owner_id, of, domain; anybody_verified });
    let data = Data::by_owner(&it.owner_id, stored.resource(), summary(it.state), more);
    let data = data.next(status_of(&stored.id));
    UPDATED.publish(Audience::Owner(it.owner_id.clone()), it.of.subject(), &data)
}

fn summary(state: State) -> &'static str {
    match state {
        State::ChallengeIssued => "A domain is to be proved again.",
        State::Verified => "You speak for a company: its domain is proved.",
        State::Stale => "A domain is looked at again; the text must still be there.",
        State::Failed => "A domain was not proved: the text was not found.",
        State::Expired => "A domain was not proved in time.",
        State::Revoked => "You speak for a company no longer.",
    }
}
