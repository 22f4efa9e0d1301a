//! What a proposal costs: held when it is made, and spent or given back when it ends.

use crate::{kept::*, life::*, types::*};
use portolan_sdk::prelude::*;

#[derive(Serialize)]
struct Quoted<'a> {
    capability: &'a str,
    input: Priced<'a>,
}

#[derive(Serialize)]
struct Priced<'a> {
    action: &'a str,
    category: &'a str,
}

#[derive(Deserialize)]
struct Quote {
    cost: u32,
}

#[derive(Serialize)]
struct Wanted<'a> {
    amount: u32,
    #[serde(rename = "ref")]
    reference: &'a str,
    ttl_s: u32,
}

#[derive(Serialize)]
struct HoldId<'a> {
    hold_id: &'a str,
}

#[derive(Serialize)]
struct Released<'a> {
    hold_id: &'a str,
    reason: &'a str,
}

#[derive(Deserialize)]
struct Held {
    hold_id: String,
}

/// What is read of an answer that says nothing new.
#[derive(Deserialize)]
struct Done {}

/// Who brought an end about, as far as that decides on the credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Proposer,
    /// The recipient, time, or the operator.
    Another,
}

/// Holds what a proposal of this pairing costs, of the calling agent's credits.
pub(crate) fn hold(pairing_id: &str, pairing: &mut Pairing) -> Result<(), Refusal> {
    let input = Priced { action: "propose", category: &pairing.category };
    let quoted = Quoted { capability: CAPABILITY, input };
    let quote: Quote = invoke::call("agent_credits", "quote", &quoted)?;
    pairing.cost = quote.cost;
    if quote.cost > 0 {
        let reference = format!("pairing:{pairing_id}");
        let wanted = Wanted { amount: quote.cost, reference: &reference, ttl_s: LONGEST_HOLD_S };
        let held: Held = invoke::call("agent_credits", "hold", &wanted)?;
        pairing.hold_id = Some(held.hold_id);
    }
    Ok(())
}

/// Spends what is held or gives it back, as the state that a pairing has reached decides.
pub(crate) fn settle(pairing: &mut Pairing, by: By) -> Result<(), Refusal> {
    let Some(ending) = ending(pairing.state, by, pairing.was_seen()) else { return Ok(()) };
    let Some(hold_id) = pairing.hold_id.take() else { return Ok(()) };
    let hold_id = hold_id.as_str();
    let Done {} = match ending {
        Ending::Spent => invoke::call("agent_credits", "capture", &HoldId { hold_id })?,
        Ending::Refunded(reason) => {
            invoke::call("agent_credits", "release", &Released { hold_id, reason })?
        }
    };
    Ok(())
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
