//! The claim on a page of the host, which a client opens in its person's browser: neither the phone number nor the
//! code passes through the client.

use crate::{Mcp, Sender};
use portolan_vocabulary::Digest;
use rmcp::model::ElicitRequestParams;
use std::time::Duration;

/// The interval at which a waiting call looks whether its agent is claimed.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The text that the client shows its person.
const MESSAGE: &str = "Open this page and sign in there with your phone, to let this agent act for you. Enter the code on the page alone: the agent does not need it, and nobody will ask you for it.";
/// The length of the identifier of a question, in hexadecimal digits.
const ID_DIGITS: usize = 32;

impl Mcp {
    /// Returns the request to open the claim's page. `link` is the last segment of its address.
    pub(super) fn page_request(&self, link: &str) -> ElicitRequestParams {
        let mut elicitation_id = Digest::of(link.as_bytes()).hex();
        elicitation_id.truncate(ID_DIGITS);
        ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: MESSAGE.to_owned(),
            url: format!("{}/claim/{link}", self.public_url),
            elicitation_id,
        }
    }

    /// Waits until a person has claimed the sender's agent, at most for this time. Returns whether one has; `false`
    /// also if the token ends, or the host stops.
    pub(super) async fn wait_for_claim(&self, sender: &Sender, time: Duration) -> bool {
        let (identity, clock) = (&self.host.identity, &self.host.clock);
        let claimed = async {
            loop {
                match identity.authenticate(&sender.token, identity.mcp_audience()).await {
                    Ok(caller) if caller.owner_id.is_none() => {}
                    ended => return ended.is_ok(),
                }
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
        };
        tokio::select! {
            claimed = claimed => claimed,
            () = clock.sleep_until(clock.now().plus(time)) => false,
            () = self.stop.cancelled() => false,
        }
    }
}
