//! Proposals, and the actions of the proposer.

use crate::credits::{self, By};
use crate::{
    access, changes, documents::*, guards, notices, refusals::*, states::*, transitions, types::*,
    views::*,
};
use people_kit::pairings::Origin;
use people_kit::text::{Faults, Lines, public};
use people_kit::threads::{self, Intent, Post};
use portolan_sdk::prelude::*;

pub(crate) fn propose(call: &Call, input: Propose) -> Result<View> {
    let (me, agent_id) = (call.require_owner()?, &call.require_agent()?.agent_id);
    let text = check_text(&input.message)?;
    let (from, to) = guards::listings(me, &input.from_listing_id, &input.to_listing_id)?;
    let pair = pair(&from, &to)?;
    guards::ensure_free(&pair)?;
    guards::ensure_accepts(&from, &to)?;
    guards::ensure_no_cooldown(&pair, &from.listing_id, call.now())?;
    transitions::count_proposal(call, me)?;
    let (id, now) = (call.new_id("pair"), call.now());
    let mut value = Pairing::new(&from, &to, Origin::Proposal, now);
    value.from.assigned_to = value.from.org_id.as_ref().map(|_| me.to_owned());
    value.from.agent_id = Some(agent_id.clone());
    value.messages.push(ProposalMessage {
        by: Role::Sent,
        owner_id: Some(me.to_owned()),
        kind: MessageKind::Proposal,
        text,
        at: now,
    });
    value.candidate_id = input.candidate_id;
    value.proposed_to = changes::material(&to);
    credits::hold(&id, &mut value)?;
    let mut pairing = Stored::new(id, value, now);
    transitions::enter(call, &mut pairing, "propose", State::Proposed, By::Proposer)?;
    notices::PROPOSAL.notify(call, &pairing, &[Role::Received], Facts::of_due(&pairing.value))?;
    view(call, &pairing)
}

/// Answers a question, or writes in the conversation.
pub(crate) fn message(call: &Call, input: Write) -> Result<Sent> {
    let (mut pairing, role) = transitions::load_with_role(call, &input.pairing_id)?;
    let state = pairing.value.state;
    let me = call.require_owner()?;
    if state.is_open() && !access::allowed(&pairing.value, role, me).contains(&"message") {
        return Err(match pairing.value.thread_closed {
            true => PairingError::ThreadClosed { pairing_id: pairing.id },
            false => PairingError::PairingNotConnected { pairing_id: pairing.id },
        });
    }
    if state == State::Clarifying {
        let text = check_text(&input.message)?;
        transitions::ensure_allowed(call, &pairing, role, "message", input.expected_version)?;
        guards::ensure_not_blocked(&pairing.value, role)?;
        guards::ensure_of_age(&pairing.value, role)?;
        let answer = ProposalMessage {
            by: role,
            owner_id: Some(me.to_owned()),
            kind: MessageKind::Answer,
            text,
            at: call.now(),
        };
        pairing.value.messages.push(answer);
        let is_assigned = transitions::record_agent(call, &mut pairing, role)?;
        transitions::enter(call, &mut pairing, "message", State::Proposed, By::Proposer)?;
        if is_assigned {
            notices::announce(call, &pairing, role)?;
        }
        notices::ANSWER.notify(call, &pairing, &[role.other()], Facts::of_due(&pairing.value))?;
        return Ok(Sent { message: None, pairing: view(call, &pairing)? });
    }
    transitions::ensure_allowed(call, &pairing, role, "message", input.expected_version)?;
    let message = post(call, &pairing, input.message)?;
    Ok(Sent { message: Some(message), pairing: view(call, &pairing)? })
}

fn post(call: &Call, pairing: &Stored<Pairing>, text: String) -> Result<Posted> {
    let not_connected = || PairingError::PairingNotConnected { pairing_id: pairing.id.clone() };
    let thread_id = pairing.value.thread_id.clone().ok_or_else(not_connected)?;
    let posted = threads::post(&Post {
        thread_id: thread_id.clone(),
        owner_id: call.require_owner()?.to_owned(),
        agent_id: Some(call.require_agent()?.agent_id.clone()),
        text,
        intent: Intent::Chat,
    });
    let posted = posted.map_err(|error| PairingError::of_thread(error, &pairing.id))?;
    Ok(Posted { thread_id, message_id: posted.message_id, seq: posted.seq })
}

pub(crate) fn withdraw(call: &Call, input: &Step) -> Result<View> {
    let (mut pairing, role) =
        transitions::load_for_action(call, &input.pairing_id, "withdraw", input.expected_version)?;
    transitions::enter(call, &mut pairing, "withdraw", State::Withdrawn, By::Proposer)?;
    notices::WITHDRAWAL.notify(call, &pairing, &[role.other()], Facts::default())?;
    view(call, &pairing)
}

/// Checks a message, which must not contain contact data.
pub(crate) fn check_text(message: &str) -> Result<String> {
    let mut faults = Faults::default();
    let text = public("/message", message, Lines::Many, &mut faults);
    faults.check()?;
    Ok(text)
}

/// Returns the pairing as the caller sees it.
pub(crate) fn view(call: &Call, pairing: &Stored<Pairing>) -> Result<View> {
    let me = call.require_owner()?;
    ViewContext::load(me, &[pairing])?.view(pairing)
}
