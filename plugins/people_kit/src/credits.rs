//! Credits that are held for something sent to another person: calls of `agent_credits`.

use portolan_sdk::prelude::*;

/// The output of `agent_credits quote`.
#[derive(Deserialize)]
pub struct Quote {
    cost: u32,
}

/// The output of `agent_credits hold`.
#[derive(Deserialize)]
pub struct HoldOutput {
    hold_id: String,
}

/// `agent_credits quote`
pub const QUOTE: Invocation<Value, Quote> = Invocation::new("agent_credits", "quote");
/// `agent_credits hold`
pub const HOLD: Invocation<Value, HoldOutput> = Invocation::new("agent_credits", "hold");
/// `agent_credits capture`
pub const CAPTURE: Invocation<Value, Value> = Invocation::new("agent_credits", "capture");
/// `agent_credits release`
pub const RELEASE: Invocation<Value, Value> = Invocation::new("agent_credits", "release");

/// The longest time for which credits are held, in seconds.
const LONGEST_HOLD_S: u32 = 90 * 86_400;

/// The credits that an action has held.
pub struct Held {
    pub cost: u32,
    /// The id of the hold; `None` if the action costs nothing.
    pub hold_id: Option<String>,
}

/// The ending of held credits.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    Spent,
    /// The credits are refunded, with the reason as a word for programs.
    Refunded(&'static str),
}

/// Holds the credits that the capability's action with the input `priced` costs, from the calling
/// agent's account. `reference` is what the statement of the account names.
pub fn hold(capability: &str, priced: Value, reference: &str) -> Result<Held, Refusal> {
    let cost = QUOTE.call(&json!({ "capability": capability, "input": priced }))?.cost;
    let hold_id = match cost {
        0 => None,
        amount => {
            let input = json!({ "amount": amount, "ref": reference, "ttl_s": LONGEST_HOLD_S });
            Some(HOLD.call(&input)?.hold_id)
        }
    };
    Ok(Held { cost, hold_id })
}

/// Spends or refunds held credits.
pub fn settle(hold_id: &str, ending: &Ending) -> Result<(), Refusal> {
    match ending {
        Ending::Spent => CAPTURE.call(&json!({ "hold_id": hold_id }))?,
        Ending::Refunded(reason) => {
            RELEASE.call(&json!({ "hold_id": hold_id, "reason": reason }))?
        }
    };
    Ok(())
}
