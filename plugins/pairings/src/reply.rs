//! The recipient's answer to a proposal, and the connection.

use crate::notices::{self, BOTH, Notice};
use crate::propose::{self, check_text};
use crate::{
    access, credits::By, documents::*, guards, limits::*, refusals::*, states::*, transitions,
    types::*, views::*,
};
use people_kit::threads::{self, Open, Participant};
use portolan_sdk::prelude::*;

pub(crate) fn reply(call: &Call, input: Reply) -> Result<Answer<View>> {
    let (mut pairing, role) =
        transitions::load_for_action(call, &input.pairing_id, "reply", input.expected_version)?;
    let text = input.message.as_deref().map(check_text).transpose()?;
    let me = call.require_owner()?;
    let to = target_state(&pairing, me, input.decision, text.is_some())?;
    if input.decision != Decision::Decline {
        guards::ensure_not_blocked(&pairing.value, role)?;
        guards::ensure_of_age(&pairing.value, role)?;
    }
    let is_assigned = transitions::record_agent(call, &mut pairing, role)?;
    if let Some(text) = text {
        let kind = if to == State::Clarifying { MessageKind::Question } else { MessageKind::Reply };
        let (owner_id, at) = (Some(me.to_owned()), call.now());
        pairing.value.messages.push(ProposalMessage { by: role, owner_id, kind, text, at });
    }
    match to {
        State::Connected => {
            guards::ensure_both_active(&pairing.id, &pairing.value)?;
            connect(call, &mut pairing, "reply")?;
        }
        to => {
            pairing.value.reason_code = input.reason_code;
            transitions::enter(call, &mut pairing, "reply", to, By::Another)?;
        }
    }
    let summary = match input.decision {
        Decision::Accept => "Your proposal was accepted.",
        Decision::Decline => "Your proposal was declined.",
        Decision::Ask => "You are asked something about your proposal.",
    };
    let facts = Facts {
        decision: Some(input.decision),
        reason_code: pairing.value.reason_code,
        ..Facts::default()
    };
    Notice::new(REPLIED, summary).in_thread().notify(call, &pairing, &[Role::Sent], facts)?;
    if is_assigned {
        notices::announce(call, &pairing, role)?;
    }
    if to == State::Connected {
        let facts = Facts { origin: Some(pairing.value.origin), ..Facts::default() };
        notices::CONNECTION.notify(call, &pairing, BOTH, facts)?;
    }
    let next = pairing.value.thread_id.as_deref().map(read_thread);
    Ok(Answer::with(propose::view(call, &pairing)?, next))
}

/// Returns the state that a decision leads to.
fn target_state(
    pairing: &Stored<Pairing>,
    me: &str,
    decision: Decision,
    has_text: bool,
) -> Result<State> {
    let state = pairing.value.state;
    let was_last = state == State::Proposed && pairing.value.questions() >= QUESTIONS;
    match decision {
        Decision::Accept => Ok(State::Connected),
        Decision::Decline => Ok(State::Declined),
        Decision::Ask if !has_text => {
            Err(Refusal::validation("/message", "required", "the question").into())
        }
        Decision::Ask if was_last => {
            Err(PairingError::QuestionLimit { pairing_id: pairing.id.clone() })
        }
        Decision::Ask if state == State::Clarifying => {
            let allowed = access::allowed(&pairing.value, Role::Received, me);
            Err(PairingError::question_open(&pairing.id, state, allowed))
        }
        Decision::Ask => Ok(State::Clarifying),
    }
}

/// Opens the conversation of a pairing, and connects it.
pub(crate) fn connect(call: &Call, pairing: &mut Stored<Pairing>, action: &str) -> Result<()> {
    let value = &pairing.value;
    let participants = [&value.from, &value.to].map(|side| Participant {
        owner_id: side.owner_id.clone(),
        agent_id: side.agent_id.clone(),
        org_id: side.org_id.clone(),
    });
    let opened = threads::open(&Open {
        pairing_id: pairing.id.clone(),
        participants: participants.into(),
        category: Some(value.category.clone()),
        replace_closed: false,
    });
    let opened = opened.map_err(|error| PairingError::of_thread(error, &pairing.id))?;
    pairing.value.thread_id = Some(opened.thread_id);
    transitions::enter(call, pairing, action, State::Connected, By::Another)
}
