//! The agents of a person: listed, renamed, revoked. Agents of other people are not found.

use crate::{profile, types::*};
use people_kit::UNTRUSTED;
use portolan_sdk::{contract::identity, prelude::*};

/// The maximum number of agents that are listed: in test mode a person can have any number.
const MOST_LISTED: usize = 100;

pub(crate) fn list(call: &Call, owner_id: &str) -> Result<Vec<Agent>> {
    let caller = &call.require_agent()?.agent_id;
    let agents = identity::agents(owner_id)?.into_iter().take(MOST_LISTED);
    Ok(agents.map(|agent| view(agent, caller)).collect())
}

pub(crate) fn rename(call: &Call, owner_id: &str, input: RenameAgent) -> Result<Agent> {
    let (mut agent, _) = find(owner_id, &input.agent_id)?;
    let name = profile::agent_name(input.name)?;
    if agent.name.as_ref() != Some(&name) {
        identity::rename(&agent.agent_id, &name)?;
        agent.name = Some(name);
    }
    Ok(view(agent, &call.require_agent()?.agent_id))
}

pub(crate) fn revoke(call: &Call, owner_id: &str, input: RevokeAgent) -> Result<Agent> {
    let (agent, agents) = find(owner_id, &input.agent_id)?;
    if agents == 1 && !input.confirm {
        return Err(OwnersError::LastAgent);
    }
    end(call, owner_id, &agent.agent_id, agents.saturating_sub(1))?;
    let revoked = view(agent, &call.require_agent()?.agent_id);
    Ok(Agent { state: "revoked", allowed_actions: Vec::new(), ..revoked })
}

/// Revokes all agents of the person, signs out their browsers, and returns the number of the agents.
pub(crate) fn end_all(call: &Call, owner_id: &str) -> Result<usize> {
    let agents = identity::agents(owner_id)?;
    for (agent, left) in agents.iter().zip((0..agents.len()).rev()) {
        end(call, owner_id, &agent.agent_id, left)?;
    }
    identity::sign_out(owner_id)?;
    Ok(agents.len())
}

/// Revokes an agent, and notifies the others.
fn end(call: &Call, owner_id: &str, agent_id: &str, agents_left: usize) -> Result<()> {
    identity::revoke(agent_id)?;
    let (id, owner_id) = (agent_id.to_owned(), owner_id.to_owned());
    let audience = Audience::Owner(owner_id.clone());
    let revoked = Revoked { agent_id: id.clone(), owner_id, agents_left };
    // The host keeps no versions of agents.
    let resource = Resource { kind: "agent", id, state: "revoked", version: 0 };
    let data = Data::new(call, resource, "One of your agents was ended.", revoked);
    let subject = format!("agents/{agent_id}");
    Ok(REVOKED.publish(audience, subject, &data.next(list_agents()))?)
}

/// Returns one of the person's agents, and how many there are.
fn find(owner_id: &str, agent_id: &str) -> Result<(identity::Agent, usize)> {
    let agents = identity::agents(owner_id)?;
    let count = agents.len();
    let found = agents.into_iter().find(|agent| agent.agent_id == agent_id);
    found.map(|agent| (agent, count)).ok_or_else(|| {
        let message = "This person has no agent with this id.";
        Refusal::common(ErrorCode::NotFound, message).next(list_agents()).into()
    })
}

fn view(agent: identity::Agent, caller: &str) -> Agent {
    let this_agent = agent.agent_id == caller;
    view!(move agent => Agent {
        agent_id, name;
        this_agent,
        state: "claimed",
        allowed_actions: vec!["rename_agent", "revoke_agent"],
        created_at: rfc3339(agent.created_at),
        claimed_at: agent.claimed_at.map(rfc3339),
        trust: UNTRUSTED,
    })
}
