//! The credits of a proposal: held when it is made, and spent or refunded when it ends.

use crate::{documents::*, refusals::*, states::*, types::*};
use people_kit::credits::{self, Held};
pub(crate) use people_kit::credits::{CAPTURE, Ending, HOLD, QUOTE, RELEASE};
use portolan_sdk::prelude::*;

/// The cause of a pairing's end, as far as it affects the credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Proposer,
    /// The recipient, a timer, or the operator.
    Another,
}

/// Holds the credits for a proposal, from the calling agent's account.
pub(crate) fn hold(pairing_id: &str, pairing: &mut Pairing) -> Result<()> {
    let priced = json!({ "action": "propose", "category": pairing.category });
    let reference = format!("pairing:{pairing_id}");
    let Held { cost, hold_id } = credits::hold(CAPABILITY, priced, &reference)?;
    (pairing.cost, pairing.hold_id) = (cost, hold_id);
    Ok(())
}

/// Spends or refunds the held credits, depending on the state of the pairing.
pub(crate) fn settle(pairing: &mut Pairing, by: By, now: u64) -> Result<()> {
    let is_free = pairing.state == State::Withdrawn && pairing.is_withdrawal_free(now);
    let costs = pairing.was_seen() && !is_free;
    let Some(ending) = ending(pairing.state, by, costs) else { return Ok(()) };
    let Some(hold_id) = pairing.hold_id.take() else { return Ok(()) };
    match credits::settle(&hold_id, &ending) {
        // The member who proposed for an organisation was erased, and their credits with them.
        Err(refusal) if refusal.code == "not_found" => Ok(()),
        settled => Ok(settled?),
    }
}

/// Returns what happens to the credits; `None` while the proposal waits. Credits pay for the
/// recipient's attention, so they are spent even if the proposer ends a proposal that was read,
/// unless the listing to which it was made has changed meanwhile: `costs` is whether neither holds.
fn ending(state: State, by: By, costs: bool) -> Option<Ending> {
    let is_taken_back = by == By::Proposer && costs;
    match state {
        State::Proposed | State::Clarifying => None,
        State::Declined => Some(Ending::Spent),
        State::Withdrawn | State::Cancelled if is_taken_back => Some(Ending::Spent),
        State::Connected | State::Closed => Some(Ending::Refunded("accepted")),
        State::Withdrawn => Some(Ending::Refunded("withdrawn")),
        State::Expired => Some(Ending::Refunded("expired")),
        State::Cancelled => Some(Ending::Refunded("cancelled")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use By::{Another, Proposer};
    use Ending::{Refunded, Spent};

    #[test]
    fn credits_are_spent_only_for_proposals_that_were_read() {
        for (state, by, costs, expected) in [
            (State::Proposed, Proposer, true, None),
            (State::Connected, Another, true, Some(Refunded("accepted"))),
            (State::Declined, Another, true, Some(Spent)),
            (State::Withdrawn, Proposer, true, Some(Spent)),
            (State::Withdrawn, Proposer, false, Some(Refunded("withdrawn"))),
            (State::Expired, Another, true, Some(Refunded("expired"))),
            (State::Cancelled, Proposer, true, Some(Spent)),
            (State::Cancelled, Proposer, false, Some(Refunded("cancelled"))),
            (State::Cancelled, Another, true, Some(Refunded("cancelled"))),
        ] {
            assert_eq!(ending(state, by, costs), expected, "{state:?} {by:?} {costs}");
        }
    }
}
