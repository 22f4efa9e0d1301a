//! What a proposal costs: held when it is made, and spent or given back when it ends.

use crate::{kept::*, life::*, refusals::*, types::*};
use portolan_sdk::prelude::*;

#[derive(Deserialize)]
struct Quote {
    cost: u32,
}

#[derive(Deserialize)]
struct Held {
    hold_id: String,
}

/// Asks `agent_credits`.
fn ask<T: serde::de::DeserializeOwned>(action: &str, input: &impl Serialize) -> Result<T> {
    Ok(invoke::call("agent_credits", action, input)?)
}

/// Who brought an end about, as far as that decides on the credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Proposer,
    /// The recipient, time, or the operator.
    Another,
}

/// Holds what a proposal of this pairing costs, of the calling agent's credits.
pub(crate) fn hold(pairing_id: &str, pairing: &mut Pairing) -> Result<()> {
    let priced = json!({ "action": "propose", "category": pairing.category });
    let quote: Quote = ask("quote", &json!({ "capability": CAPABILITY, "input": priced }))?;
    pairing.cost = quote.cost;
    if quote.cost > 0 {
        let reference = format!("pairing:{pairing_id}");
        let wanted = json!({ "amount": quote.cost, "ref": reference, "ttl_s": LONGEST_HOLD_S });
        let held: Held = ask("hold", &wanted)?;
        pairing.hold_id = Some(held.hold_id);
    }
    Ok(())
}

/// Spends what is held or gives it back, as the state that a pairing has reached decides.
pub(crate) fn settle(pairing: &mut Pairing, by: By) -> Result<()> {
    let Some(ending) = ending(pairing.state, by, pairing.was_seen()) else { return Ok(()) };
    let Some(hold_id) = pairing.hold_id.take() else { return Ok(()) };
    let (action, input) = match ending {
        Ending::Spent => ("capture", json!({ "hold_id": hold_id })),
        Ending::Refunded(reason) => ("release", json!({ "hold_id": hold_id, "reason": reason })),
    };
    ask::<serde::de::IgnoredAny>(action, &input).map(drop)
}

#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Spent,
    /// With the reason as a word for programs.
    Refunded(&'static str),
}

/// Whoever takes back what was read has had the attention that credits pay for; none while it waits.
fn ending(state: State, by: By, seen: bool) -> Option<Ending> {
    let taken_back = by == By::Proposer && seen;
    match state {
        State::Proposed | State::Clarifying => None,
        State::Declined => Some(Ending::Spent),
        State::Withdrawn | State::Cancelled if taken_back => Some(Ending::Spent),
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
    fn only_attention_that_was_had_is_paid_for() {
        for (state, by, seen, expected) in [
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
            assert_eq!(ending(state, by, seen), expected, "{state:?} {by:?} {seen}");
        }
    }
}
