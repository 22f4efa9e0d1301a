//! The credits of an application: held when it is sent, and spent or refunded when it is decided or
//! ends, as those of a proposal.

use crate::{documents::*, refusals::*, states::*, types::*};
use people_kit::credits::{self, Held};
pub(crate) use people_kit::credits::{CAPTURE, Ending, HOLD, QUOTE, RELEASE};
use portolan_sdk::prelude::*;

/// Holds the credits for an application, from the calling agent's account.
pub(crate) fn hold(id: &str, action: &str, application: &mut Application) -> Result<()> {
    let priced = json!({ "action": action, "category": application.category });
    let reference = format!("application:{id}");
    let Held { cost, hold_id } = credits::hold(CAPABILITY, priced, &reference)?;
    (application.cost, application.hold_id) = (cost, hold_id);
    Ok(())
}

/// Spends or refunds the held credits, depending on the state of the application.
pub(crate) fn settle(application: &mut Application) -> Result<()> {
    let Some(ending) = ending(application.state) else { return Ok(()) };
    let Some(hold_id) = application.hold_id.take() else { return Ok(()) };
    credits::settle(&hold_id, &ending)?;
    Ok(())
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
