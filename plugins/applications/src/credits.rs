//! The credits of an application: held when it is sent, and spent or refunded when it is decided or
//! ends, as those of a proposal.

use crate::{documents::*, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;

#[derive(Deserialize)]
pub(crate) struct Quote {
    cost: u32,
}

#[derive(Deserialize)]
pub(crate) struct HoldOutput {
    hold_id: String,
}

/// `agent_credits quote`
pub(crate) const QUOTE: Invocation<Value, Quote> = Invocation::new("agent_credits", "quote");
/// `agent_credits hold`
pub(crate) const HOLD: Invocation<Value, HoldOutput> = Invocation::new("agent_credits", "hold");
/// `agent_credits capture`
pub(crate) const CAPTURE: Invocation<Value, Value> = Invocation::new("agent_credits", "capture");
/// `agent_credits release`
pub(crate) const RELEASE: Invocation<Value, Value> = Invocation::new("agent_credits", "release");

/// Holds the credits for an application, from the calling agent's account.
pub(crate) fn hold(id: &str, action: &str, application: &mut Application) -> Result<()> {
    let priced = json!({ "action": action, "category": application.category });
    let quote = QUOTE.call(&json!({ "capability": CAPABILITY, "input": priced }))?;
    application.cost = quote.cost;
    if quote.cost > 0 {
        let reference = format!("application:{id}");
        let input = json!({ "amount": quote.cost, "ref": reference, "ttl_s": LONGEST_HOLD_S });
        application.hold_id = Some(HOLD.call(&input)?.hold_id);
    }
    Ok(())
}

/// Spends or refunds the held credits, depending on the state of the application.
pub(crate) fn settle(application: &mut Application) -> Result<()> {
    let Some(ending) = ending(application.state) else { return Ok(()) };
    let Some(hold_id) = application.hold_id.take() else { return Ok(()) };
    match ending {
        Ending::Spent => CAPTURE.call(&json!({ "hold_id": hold_id }))?,
        Ending::Refunded(reason) => {
            RELEASE.call(&json!({ "hold_id": hold_id, "reason": reason }))?
        }
    };
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Spent,
    /// The credits are refunded, with the reason as a word for programs.
    Refunded(&'static str),
}

/// Returns what happens to the credits in this state; `None` before a decision. The applicant
/// gets them back, unless the application is rejected.
fn ending(state: State) -> Option<Ending> {
    match state {
        State::Waiting | State::Submitted => None,
        State::Rejected => Some(Ending::Spent),
        State::Withdrawn => Some(Ending::Refunded("withdrawn")),
        State::Expired => Some(Ending::Refunded("expired")),
        State::Cancelled => Some(Ending::Refunded("cancelled")),
        State::Shortlisted
        | State::Invited
        | State::Offered
        | State::Accepted
        | State::Declined => Some(Ending::Refunded("accepted")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_are_spent_only_for_rejections() {
        let spent = State::ALL.iter().filter(|state| ending(**state) == Some(Ending::Spent));
        assert_eq!(spent.copied().collect::<Vec<_>>(), [State::Rejected]);
        assert_eq!(ending(State::Waiting), None);
    }
}
