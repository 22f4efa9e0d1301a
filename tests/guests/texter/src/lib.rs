//! A component that imports a sensitive interface.

use portolan_sdk::{contract::sms, prelude::*};

#[derive(Serialize, JsonSchema)]
struct Sent {
    to: String,
}

pub struct Texter;

/// Sends text messages.
#[capability(id = "texter", title = "Texter")]
impl Texter {
    /// Send one.
    #[action(access = open)]
    fn text(_call: &Call) -> Result<Sent, Refusal> {
        let to = "+14155550100";
        sms::send(to, "hello")?;
        Ok(Sent { to: to.into() })
    }
}
