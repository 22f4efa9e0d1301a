//! The capability `spender`: passes its input on to the internal actions of `agent_credits`, which
//! agents cannot call themselves.

use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

const ON_CLAIMED: Invocation<Happened<Claim>, ()> = Invocation::new("agent_credits", "on_claimed");

const CAPTURE: Invocation<Map<String, Value>, Value> = Invocation::new("agent_credits", "capture");
const EXPIRE: Invocation<Map<String, Value>, Value> = Invocation::new("agent_credits", "expire");
const FREEZE: Invocation<Map<String, Value>, Value> = Invocation::new("agent_credits", "freeze");
const HOLD: Invocation<Map<String, Value>, Value> = Invocation::new("agent_credits", "hold");
const ISSUE_CODE: Invocation<Map<String, Value>, Value> =
    Invocation::new("agent_credits", "issue_code");
const RELEASE: Invocation<Map<String, Value>, Value> = Invocation::new("agent_credits", "release");
const TOP_UP: Invocation<Map<String, Value>, Value> = Invocation::new("agent_credits", "top_up");
const UNFREEZE: Invocation<Map<String, Value>, Value> =
    Invocation::new("agent_credits", "unfreeze");

/// The input of the other capability, unread.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Passed {
    input: Map<String, Value>,
    /// Refuse when all is done.
    #[serde(default)]
    then_refuse: bool,
}

/// The answer of the other capability.
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
#[capability(
    id = "spender",
    title = "Spender",
    tags = ["test"],
    invokes = [ON_CLAIMED, CAPTURE, EXPIRE, FREEZE, HOLD, ISSUE_CODE, RELEASE, TOP_UP, UNFREEZE]
)]
impl Spender {
    /// Hold credits.
    #[action(access = write)]
    fn hold(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(HOLD, input)
    }

    /// Spend what is held.
    #[action(access = write)]
    fn capture(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(CAPTURE, input)
    }

    /// Give back what is held.
    #[action(access = write)]
    fn release(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(RELEASE, input)
    }

    /// Run a top-up.
    #[action(access = write)]
    fn top_up(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(TOP_UP, input)
    }

    /// Run the end of a hold.
    #[action(access = write)]
    fn expire(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(EXPIRE, input)
    }

    /// Make a code.
    #[action(access = write)]
    fn issue_code(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(ISSUE_CODE, input)
    }

    /// Freeze an agent's account.
    #[action(access = write)]
    fn freeze(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(FREEZE, input)
    }

    /// Free an agent's account.
    #[action(access = write)]
    fn unfreeze(_call: &Call, input: Passed) -> Result<Answered, SpenderError> {
        pass(UNFREEZE, input)
    }

    /// Say once more that an agent was claimed.
    #[action(access = write)]
    fn claimed(_call: &Call, input: Claim) -> Result<(), Refusal> {
        let subject = format!("agents/{}", input.agent_id);
        let event_type = "identity.claimed".to_owned();
        ON_CLAIMED.call(&Happened { id: None, event_type, subject, data: input })
    }
}

fn pass(
    action: Invocation<Map<String, Value>, Value>,
    input: Passed,
) -> Result<Answered, SpenderError> {
    let output = action.call(&input.input)?;
    if input.then_refuse {
        return Err(SpenderError::ChangedMind);
    }
    Ok(Answered { output })
}
