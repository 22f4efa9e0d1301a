//! How much of it: every number of this capability, and what is counted by them.

use crate::{kept::*, life::*, refusals::*};
use portolan_sdk::prelude::*;

/// Reports of one person that nobody has decided yet.
pub(crate) const MOST_OPEN: u64 = 20;
/// Reports that one person makes.
pub(crate) const A_DAY: Window = Window { most: 40, within: DAY };
/// How long after a decision an appeal is taken: never less than six months.
pub(crate) const APPEAL_TIME: u64 = 184 * DAY;

/// Counts one more report of a person, unless there are as many as may be.
pub(crate) fn count(call: &Call, owner_id: &str) -> Result<()> {
    let mut reporter = REPORTERS.get_or_default(owner_id)?;
    A_DAY.one_more(&mut reporter.value.made, call.now()).map_err(too_many_today)?;
    let undecided = field("state").one_of([State::Open, State::Triaged]);
    if REPORTS.count(field("owner_id").eq(owner_id).and(undecided))? >= MOST_OPEN {
        return Err(too_many_open().into());
    }
    Ok(REPORTERS.save(&mut reporter)?)
}
