//! The visibility among the three people, and who can be asked.

use crate::{documents::*, refusals::*};
use people_kit::people::{ContactPolicy, Person};
use people_kit::visible;

/// Returns whether the person of a seat sees both others.
pub(crate) fn sees_others(seat: &Seat) -> Result<bool> {
    let others = seat.others();
    let visible = visible::people(&seat.owner_id, others)?;
    Ok(others.iter().all(|id| visible.contains_key(*id)))
}

/// Returns whether others can reach a person, and the person wants that.
pub(crate) fn is_accepting(person: &Person) -> bool {
    person.is_reachable() && person.contact_policy != ContactPolicy::Paused
}
