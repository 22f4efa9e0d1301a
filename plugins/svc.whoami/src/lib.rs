//! The capability `svc.whoami`: who an agent is, what it may call, and what it may do next.

mod intents;
mod steps;

use portolan_sdk::{contract::platform, prelude::*};
use steps::{Step, steps};

const READ: &str = "svc.read";
const WRITE: &str = "svc.write";
const EVENTS: &str = "svc.events";

#[derive(Serialize, JsonSchema)]
struct Whoami {
    agent_id: String,
    /// The agent's name, from its registration or a later change by its person.
    agent_name: Option<String>,
    /// The OAuth client to which the call's token was issued.
    client_id: Option<String>,
    /// The state: `claimed` once a person has claimed the agent. It is read at this call, not from
    /// the token.
    state: State,
    /// The person behind the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_id: Option<String>,
    /// The scopes of the token, which may have fewer than the agent could request.
    scopes: Vec<String>,
    /// The access classes of actions that this agent can call now with this token. The catalog has
    /// the class of every action.
    may_call: Vec<Access>,
    /// Whether the agent is in test mode: live agents see nothing that it does, and no messages are
    /// sent for it.
    test_mode: bool,
    /// The limits of one call, and of this host.
    limits: Vec<Limit>,
    /// The next steps, most useful first. Each is a call or an HTTP request, to be made as it
    /// stands once the fields in `missing` are filled in.
    next_steps: Vec<Step>,
}

#[choice]
enum State {
    Anonymous,
    Claimed,
}

#[choice]
enum Access {
    Open,
    Read,
    Write,
    Events,
}

#[output]
struct Limit {
    name: String,
    value: u64,
    /// The unit: byte, millisecond or count.
    unit: String,
    description: String,
}

struct SvcWhoami;

/// Tells an agent who it is, what it may call, and what to do next.
///
/// Call this first, with any valid token and an empty body; it has no requirements and changes
/// nothing. It returns the agent's id and client, whether a person has claimed it, the scopes of
/// the token, which access classes of actions work right now, the current limits, and the next
/// steps: each a call or an HTTP request that can be made as it stands. Call it again after a claim
/// or with another token: the answer always describes the present state.
#[capability(id = "svc.whoami", title = "Who am I", tags = ["service", "identity", "start"], default_action = "get")]
impl SvcWhoami {
    /// Get who you are, what you may call, and what to do next.
    ///
    /// `may_call` lists the access classes that work with this token; `next_steps` shows how to get
    /// the others. A step with `ask_user` needs an answer from the person first.
    #[action(access = open, idempotent, intents = intents::GET)]
    fn get(call: &Call) -> Result<Whoami, Refusal> {
        let caller = call.require_agent()?;
        let state = if caller.owner_id.is_some() { State::Claimed } else { State::Anonymous };
        let limit =
            |limit: platform::Limit| view!(move limit => Limit { name, value, unit, description; });
        let components = platform::components().into_iter();
        let catalog: Vec<_> = components.map(|component| component.id).collect();
        Ok(view!(caller => Whoami {
            agent_id, agent_name, owner_id, scopes, test_mode;
            client_id: call.client_id(),
            state,
            may_call: may_call(state, &caller.scopes),
            limits: platform::limits().into_iter().map(limit).collect(),
            next_steps: steps(state, &caller.scopes, caller.test_mode, &catalog),
        }))
    }
}

fn may_call(state: State, scopes: &[String]) -> Vec<Access> {
    let classes = [
        (Access::Open, true),
        (Access::Read, holds(scopes, READ)),
        (Access::Write, state == State::Claimed && holds(scopes, WRITE)),
        (Access::Events, holds(scopes, EVENTS)),
    ];
    classes.into_iter().filter_map(|(access, is_allowed)| is_allowed.then_some(access)).collect()
}

fn holds(scopes: &[String], scope: &str) -> bool {
    scopes.iter().any(|held| held == scope)
}
