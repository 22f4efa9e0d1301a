//! The credits of a request. Their release or spending depends only on what the requester sees, so that it
//! does not tell who declined.

use crate::{documents::*, refusals::*, types::*};
use people_kit::credits::{self, Ending, Held};
pub(crate) use people_kit::credits::{CAPTURE, HOLD, QUOTE, RELEASE};
use portolan_sdk::prelude::*;

/// Holds the credits for a request, from the calling agent's account.
pub(crate) fn hold(seat: &mut Seat) -> Result<()> {
    let reference = format!("intro:{}", seat.intro_id);
    let Held { cost, hold_id } =
        credits::hold(CAPABILITY, json!({ "action": "request" }), &reference)?;
    (seat.cost, seat.hold_id) = (cost, hold_id);
    Ok(())
}

/// Spends the held credits of a request that did not lead to an introduction.
pub(crate) fn spend(seat: &mut Seat) -> Result<()> {
    settle(seat, &Ending::Spent)
}

/// Refunds the held credits of a request.
pub(crate) fn refund(seat: &mut Seat, reason: &'static str) -> Result<()> {
    settle(seat, &Ending::Refunded(reason))
}

fn settle(seat: &mut Seat, ending: &Ending) -> Result<()> {
    match seat.hold_id.take() {
        Some(hold_id) => Ok(credits::settle(&hold_id, ending)?),
        None => Ok(()),
    }
}
