//! Every limit of this capability, and its counters.

use crate::{kept::*, life::*, refusals::*};
use portolan_sdk::prelude::*;

/// The maximum number of undecided reports of one person.
pub(crate) const MOST_OPEN: u64 = 20;
/// The limit of new reports of one person.
pub(crate) const A_DAY: Window = Window { most: 40, within: DAY };
/// The time after a decision in which it can be appealed: never less than six months.
pub(crate) const APPEAL_TIME: u64 = 184 * DAY;

/// Counts one more report of a person, or refuses it.
pub(crate) fn count(call: &Call, owner_id: &str) -> Result<()> {
    let mut reporter = REPORTERS.get_or_default(owner_id)?;
    A_DAY.one_more(&mut reporter.value.made, call.now()).map_err(too_many_today)?;
    let undecided = field("state").one_of([State::Open, State::Triaged]);
    if REPORTS.count(field("owner_id").eq(owner_id).and(undecided))? >= MOST_OPEN {
        return Err(too_many_open().into());
    }
    Ok(REPORTERS.save(&mut reporter)?)
}
