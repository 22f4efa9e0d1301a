//! Erasures, from their schedule to the request to the host.

use crate::{documents::*, refusals::*, states::*, types::*};
use people_kit::people;
use portolan_sdk::{people::erase_owner, prelude::*};

/// The effects of an erasure, for the person to read before they confirm.
const CONSEQUENCES: [Consequence; 14] = [
    Consequence {
        what: "Your profile, preferences, phone number, listings, saved searches, matching sessions, calendar, credits, permissions, notes, relationships, proofs of domains, the applications that you sent, and your organisations without another member.",
        effect: Effect::Deleted,
        left: None,
    },
    Consequence {
        what: "Your roles in organisations with other members. If nobody else owns one, its members are told, and an admin can take it over.",
        effect: Effect::Deleted,
        left: None,
    },
    Consequence {
        what: "The listings that you hold for an organisation, and its questions to applicants.",
        effect: Effect::Redacted,
        left: Some(
            "They are the organisation's, and pass to another owner, admin or recruiter without your id, also those that have ended. They are deleted if nobody else acts for the organisation.",
        ),
    },
    Consequence {
        what: "All your agents, the sign-ins of your browsers and your passkeys: they stop working at once.",
        effect: Effect::Deleted,
        left: None,
    },
    Consequence {
        what: "The inboxes and webhooks of your agents, stored answers, and the archive of an export.",
        effect: Effect::Deleted,
        left: None,
    },
    Consequence {
        what: "Conversations, pairings, meetings, organisations with other members and received applications, which belong to others too.",
        effect: Effect::Redacted,
        left: Some(
            "What others wrote stays with them. An organisation keeps its name. Your texts and your id are removed. Open proposals, applications and meetings end, with the credits back, and the others are told so without a reason.",
        ),
    },
    Consequence {
        what: "What you said about signals of the map.",
        effect: Effect::Redacted,
        left: Some(
            "The address of evidence, and that a signal was confirmed or disputed and how that was decided, without your texts and your id.",
        ),
    },
    Consequence {
        what: "Reports about you or by you, and events that name you.",
        effect: Effect::Redacted,
        left: Some(
            "That there was a report and how it was decided, without your texts and your id.",
        ),
    },
    Consequence {
        what: "The audit log of what was called here.",
        effect: Effect::Redacted,
        left: Some(
            "Time and action of each call, without your agent, your id and your address, as long as the log is kept: it is the evidence that the service was not misused.",
        ),
    },
    Consequence {
        what: "A keyed hash of your phone number, with the limits of codes that were sent to it, and a suspension that is in force.",
        effect: Effect::Kept,
        left: Some(
            "It names nobody, and is kept for 90 days to prevent abuse. Who claims an agent with the number again is a stranger here, but stays suspended.",
        ),
    },
    Consequence {
        what: "A SHA-256 hash of your ids.",
        effect: Effect::Kept,
        left: Some(
            "It is kept without a limit, so that you do not come back with an older backup. It names nobody.",
        ),
    },
    Consequence {
        what: "Archives that other people have made of their own data before, with what you wrote to them.",
        effect: Effect::Kept,
        left: Some("Until they expire, at most 7 days."),
    },
    Consequence {
        what: "Backups of the provider of this service.",
        effect: Effect::Kept,
        left: Some(
            "Older backups contain your data until the provider deletes them. Ask the provider how long that takes.",
        ),
    },
    Consequence {
        what: "What a law obliges the provider to keep outside this service, such as invoices.",
        effect: Effect::Kept,
        left: Some("For as long as that law says. This service keeps nothing for such a law."),
    },
];

/// The conflict of an erasure that the person has not confirmed: what they would confirm.
#[derive(Debug, Serialize)]
struct Unconfirmed {
    kind: &'static str,
    consequences: &'static [Consequence],
}

pub(crate) fn erase(call: &Call, input: &Erase) -> Result<Answer<ErasureView>> {
    let owner_id = call.require_owner()?;
    if !input.confirm {
        let message = "This erases everything about the person. Show them the consequences, and send confirm: true.";
        let conflict = Unconfirmed { kind: "confirmation", consequences: &CONSEQUENCES };
        let question = "Shall I erase your account and all your data?";
        let next = Next::action(CAPABILITY, "erase").ask("confirm", question);
        let refusal = Refusal::common(ErrorCode::ConfirmRequired, message);
        return Err(refusal.conflict(&conflict).next(next).into());
    }
    let erasure = schedule(call, owner_id, Requester::Person)?;
    Ok(Answer::new(view(&erasure)).next(status()))
}

pub(crate) fn schedule_for_operator(call: &Call, owner_id: &str) -> Result<ErasureView> {
    let person = people::person(owner_id)?.ok_or(DataRightsError::OwnerNotFound)?;
    // The host's calls find people of both modes, but the person's agents see only what is stored in their own.
    match (person.test_mode, call.test_mode()) {
        (true, false) => return Err(DataRightsError::OwnerInTestMode),
        (false, true) => return Err(DataRightsError::OwnerInLiveMode),
        (true, true) | (false, false) => {}
    }
    Ok(view(&schedule(call, owner_id, Requester::Operator)?))
}

/// Schedules the erasure of a person, unless one is scheduled already.
fn schedule(call: &Call, owner_id: &str, requested_by: Requester) -> Result<Stored<Erasure>> {
    let mut rights = RIGHTS.get_or_default(owner_id)?;
    if let Some(last) = find_last(owner_id)? {
        if last.value.state != ErasureState::Cancelled {
            return Ok(last);
        }
        ERASURES.delete(&last.id, Expect::Any)?;
    }
    let now = call.now();
    let value = Erasure {
        owner_id: owner_id.to_owned(),
        state: ErasureState::Scheduled,
        requested_by,
        agent_id: call.agent().map(|agent| agent.agent_id.clone()),
        scheduled_at: now,
        erases_at: now + COOLING_OFF,
    };
    let erasure = ERASURES.add(call.new_id("era"), value, now)?;
    rights.value.erasure_id = Some(erasure.id.clone());
    RIGHTS.save(&mut rights)?;
    let erases_at = erasure.value.erases_at;
    set_timer("remind", &erasure.id, erases_at - REMINDED_BEFORE)?;
    set_timer("carry_out", &erasure.id, erases_at)?;
    let summary = "All your data is to be erased. If you do not want this, cancel it.";
    notify(&erasure, SCHEDULED, summary)?;
    let warning = ErasureWarning { owner_id: owner_id.to_owned(), erases_at };
    if let Err(refusal) = WARN_OF_ERASURE.call(&warning) {
        // The agents are notified in any case.
        log::warn!("no text message warns of an erasure: {}", refusal.code);
    }
    Ok(erasure)
}

pub(crate) fn cancel(call: &Call) -> Result<ErasureView> {
    let last = find_last(call.require_owner()?)?;
    let is_scheduled = |erasure: &Stored<Erasure>| erasure.value.state != ErasureState::Cancelled;
    let mut erasure = last.filter(is_scheduled).ok_or_else(Erasure::not_found)?;
    erasure.step(&ERASURE, "cancel")?;
    erasure.save()?;
    for action in ["remind", "carry_out"] {
        timers::cancel(&timer(action, &erasure.id))?;
    }
    notify(&erasure, CANCELLED, "The erasure of your data is cancelled.")?;
    Ok(view(&erasure))
}

/// Returns the last erasure of a person.
pub(crate) fn find_last(owner_id: &str) -> Result<Option<Stored<Erasure>>> {
    let rights = RIGHTS.get_or_default(owner_id)?.value;
    Ok(rights.erasure_id.map(|id| ERASURES.get(&id)).transpose()?.flatten())
}

pub(crate) fn view(erasure: &Stored<Erasure>) -> ErasureView {
    let value = &erasure.value;
    view!(value => ErasureView {
        state, requested_by, agent_id;
        erasure_id: erasure.id.clone(),
        version: erasure.revision,
        allowed_actions: ERASURE.allowed(value.state),
        scheduled_at: rfc3339(value.scheduled_at),
        erases_at: rfc3339(value.erases_at),
        consequences: &CONSEQUENCES,
    })
}

pub(crate) fn remind(erasure_id: &str) -> Result<()> {
    let erasure = ERASURES.get(erasure_id)?;
    match erasure.filter(|erasure| erasure.value.state == ErasureState::Scheduled) {
        Some(erasure) => {
            let summary = "All your data is erased tomorrow. Until then, you can cancel it.";
            notify(&erasure, REMINDER, summary)
        }
        None => Ok(()),
    }
}

/// Lets the host erase the person, if the erasure was not cancelled.
pub(crate) fn carry_out(call: &Call, erasure_id: &str) -> Result<()> {
    let Some(mut erasure) = ERASURES.get(erasure_id)? else { return Ok(()) };
    if erasure.value.erases_at > call.now() || erasure.step(&ERASURE, "carry_out").is_err() {
        return Ok(());
    }
    erasure.save()?;
    Ok(erase_owner(&erasure.value.owner_id)?)
}

/// Notifies all agents of the person, who can all cancel the erasure.
fn notify(erasure: &Stored<Erasure>, event: ErasureEvent, summary: &'static str) -> Result<()> {
    let value = &erasure.value;
    let planned = Planned {
        erasure_id: erasure.id.clone(),
        requested_by: value.requested_by,
        agent_id: value.agent_id.clone(),
        erases_at: rfc3339(value.erases_at),
    };
    let next = match value.state {
        ErasureState::Scheduled => Next::action(CAPABILITY, "cancel"),
        ErasureState::Cancelled | ErasureState::CarriedOut => status(),
    };
    let data = Data::by_system(erasure.resource(), summary, planned).next(next);
    Ok(erasure.notify_owner(event, &data)?)
}

fn set_timer(action: &str, erasure_id: &str, at: u64) -> Result<()> {
    let input = ErasureId { erasure_id: erasure_id.to_owned() };
    Ok(timers::set(&timer(action, erasure_id), at, action, &input)?)
}

fn timer(action: &str, erasure_id: &str) -> String {
    format!("{action}/{erasure_id}")
}
