//! The questions of other capabilities about a pairing: the contact of a person with a listing, whether
//! two people know each other, and whether something came of it.

use crate::{documents::*, limits::*, refusals::*, states::*};
use people_kit::acquaintances::{Acquainted, TwoPeople};
use people_kit::encounters::Encounter;
use people_kit::pairings::{Contact, ContactQuery};
use portolan_sdk::prelude::*;

/// Returns the pairing that keeps a person from another contact with a listing: an open one, or a
/// proposal of theirs that was declined within the cooldown.
pub(crate) fn contact(call: &Call, input: &ContactQuery) -> Result<Contact> {
    let ContactQuery { owner_id, listing_id } = input;
    let sent = all_of([field("from.owner_id").eq(owner_id), field("to.listing_id").eq(listing_id)]);
    let received =
        all_of([field("to.owner_id").eq(owner_id), field("from.listing_id").eq(listing_id)]);
    let since = call.now().saturating_sub(COOLDOWN);
    let declined = all_of([field("state").eq(State::Declined), field("changed_at").gt(since)]);
    let open = || field("state").one_of(OPEN);
    let filter = any_of([sent.and(any_of([open(), declined])), received.and(open())]);
    let found = PAIRINGS.find(Query::new().filter(filter).limit(1))?.into_documents().next();
    Ok(Contact { pairing_id: found.map(|pairing| pairing.id) })
}

/// Returns whether two people are connected by a pairing, or were.
pub(crate) fn acquainted(people: &TwoPeople) -> Result<Acquainted> {
    let theirs = field("people").eq(both(&people.one, &people.other));
    let connected = field("state").one_of([State::Connected, State::Closed]);
    let found = PAIRINGS.find(Query::new().filter(theirs.and(connected)).limit(1))?;
    Ok(Acquainted { acquainted: !found.hits.is_empty() })
}

/// The outcomes of a connection of which something came.
const SUCCESSFUL: [Outcome; 4] = [Outcome::Hired, Outcome::Leased, Outcome::Invested, Outcome::Met];

/// Returns the two people of a connection of which something came; nobody for any other pairing.
pub(crate) fn encounter(pairing_id: &str) -> Result<Encounter> {
    let is_successful = |pairing: &Stored<Pairing>| {
        let Pairing { state, outcome, .. } = &pairing.value;
        *state == State::Closed && outcome.is_some_and(|outcome| SUCCESSFUL.contains(&outcome))
    };
    let pairing = PAIRINGS.get(pairing_id)?.filter(is_successful);
    let people =
        |Stored { value, .. }: Stored<Pairing>| vec![value.from.owner_id, value.to.owner_id];
    Ok(Encounter { owner_ids: pairing.map(people).unwrap_or_default() })
}
