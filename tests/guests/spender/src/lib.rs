//! The capability `spender`: passes its input on to the internal actions of `agent_credits`, which
//! agents cannot call themselves.

use portolan_sdk::{
    events::{Audience, Event},
    invoke,
    prelude::*,
};
use serde_json::{Map, Value};

const CLAIMED: Event<Claim> = Event::new("identity.claimed");

/// What the other capability takes, unread.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Passed {
    input: Map<String, Value>,
    /// Refuse when all is done.
    #[serde(default)]
    then_refuse: bool,
}

/// What the other capability answered.
#[derive(Serialize, JsonSchema)]
struct Answered {
    output: Value,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Claim {
    agent_id: String,
    owner_id: String,
}

#[derive(Refusals)]
enum SpenderError {
    /// Refused on purpose, after passing on.
    #[refusal(conflict)]
    ChangedMind,
    #[refusal(transparent)]
    Common(Refusal),
}

struct Spender;

/// Passes on.
#[capability(id = "spender", title = "Spender", tags = ["test"])]
impl Spender {
    /// Hold credits.
    #[action(access = write)]
    fn hold(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("hold", input)
    }

    /// Spend what is held.
    #[action(access = write)]
    fn capture(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("capture", input)
    }

    /// Give back what is held.
    #[action(access = write)]
    fn release(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("release", input)
    }

    /// Run a top-up.
    #[action(access = write)]
    fn top_up(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("top_up", input)
    }

    /// Run the end of a hold.
    #[action(access = write)]
    fn expire(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("expire", input)
    }

    /// Make a code.
    #[action(access = write)]
    fn issue_code(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("issue_code", input)
    }

    /// Freeze an agent's account.
    #[action(access = write)]
    fn freeze(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("freeze", input)
    }

    /// Free an agent's account.
    #[action(access = write)]
    fn unfreeze(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass("unfreeze", input)
    }

    /// Say once more that an agent was claimed.
    #[action(access = write, emits = [CLAIMED])]
    fn claimed(_call: &Call, input: Claim) -> Result<NoOutput, SpenderError> {
        CLAIMED.publish(Audience::Capabilities, format!("agents/{}", input.agent_id), &input)?;
        Ok(NoOutput {})
    }
}

fn pass(action: &str, input: Passed) -> Result<Answered, SpenderError> {
    let output = invoke::call("agent_credits", action, &input.input)?;
    if input.then_refuse {
        return Err(SpenderError::ChangedMind);
    }
    Ok(Answered { output })
}
