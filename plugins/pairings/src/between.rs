//! The contact of a person with a listing, for other capabilities.

use crate::{documents::*, limits::*, refusals::*, states::*};
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
