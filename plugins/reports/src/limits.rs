//! Every limit of this capability, and its counters.

use crate::{kept::*, life::*, refusals::*};
use portolan_sdk::prelude::*;

/// The most undecided reports of one person.
pub(crate) const MOST_OPEN: u64 = 20;
/// The limit of new reports of one person.
pub(crate) const A_DAY: Window = Window { most: 40, within: DAY };
/// The time after a decision in which it can be appealed: never less than six months.
pub(crate) const APPEAL_TIME: u64 = 184 * DAY;

/// Counts one more report of a person, or refuses it.
pub(crate) fn count(call: &Call, owner_id: &str) -> Result<()> {
    let mut reporter = REPORTERS.get_or_default(owner_id)?;
    let (made, message) =
        (&mut reporter.value.made, "There were as many reports as one may make in a day.");
    A_DAY.count(made, call.now(), "reports_per_day", message, list_mine())?;
    let undecided = field("state").one_of([State::Open, State::Triaged]);
    if REPORTS.count(field("owner_id").eq(owner_id).and(undecided))? >= MOST_OPEN {
        let message = "As many of your reports wait for a decision as may.";
        return Err(quota(message, &Limit::reached("open_reports", MOST_OPEN), list_mine()).into());
    }
    Ok(REPORTERS.save(&mut reporter)?)
}
