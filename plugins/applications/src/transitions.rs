//! The transitions of an application, with everything that follows from them.

use crate::recipients::Recipients;
use crate::{conversation, credits, documents::*, refusals::*, states::*, types::*, views};
use portolan_sdk::prelude::*;

/// An application, the caller's side of it, and those who receive it.
pub(crate) struct Loaded {
    pub(crate) application: Stored<Application>,
    pub(crate) role: Role,
    pub(crate) recipients: Recipients,
}

/// Returns an application of the caller. Refuses any other as not found: one that the person has
/// neither sent nor received, and one of a person who is blocked.
pub(crate) fn load(call: &Call, id: &str) -> Result<Loaded> {
    let me = call.owner_id().ok_or(ApplicationError::ApplicationNotFound)?;
    let application = Application::load(id)?;
    let value = &application.value;
    let recipients = Recipients::of(value)?;
    let is_delivered = value.state != State::Waiting;
    let role = match value.owner_id == me {
        true => Role::Sent,
        false if is_delivered && recipients.show(me) => Role::Received,
        false => return Err(ApplicationError::ApplicationNotFound),
    };
    Ok(Loaded { application, role, recipients })
}

/// Returns an application of the caller, to be changed by `action`. Refuses if their side may not
/// take the action now, or if the caller expects another version.
pub(crate) fn load_for_action(
    call: &Call,
    id: &str,
    action: &str,
    expected: Option<Version>,
) -> Result<Loaded> {
    let mut loaded = load(call, id)?;
    let (me, role) = (call.require_owner()?, loaded.role);
    let value = &mut loaded.application.value;
    let allowed = views::allowed(value, role, me);
    if let Err(mut refusal) = APPLICATION.step(id, value.state, action) {
        name_allowed(&mut refusal, &allowed);
        return Err(refusal.into());
    }
    if !allowed.contains(&action) {
        let application_id = id.to_owned();
        return Err(match action {
            "exchange_contact" if value.thread_closed => {
                ApplicationError::ThreadClosed { application_id }
            }
            "reopen_conversation" if role == Role::Received => {
                ApplicationError::ThreadOpen { application_id }
            }
            _ => ApplicationError::not_yours(id),
        });
    }
    if role == Role::Sent {
        value.agent_id = Some(call.require_agent()?.agent_id.clone());
    }
    let current = || views::view(me, &loaded.application).ok();
    loaded.application.ensure_version(expected, current, get(id))?;
    Ok(loaded)
}

/// Lets a refusal of the state name what this side may do instead.
pub(crate) fn name_allowed(refusal: &mut Refusal, allowed: &[&str]) {
    if let Some(conflict) = &mut refusal.conflict {
        conflict["allowed_actions"] = portolan_sdk::to_value(&allowed);
    }
}

/// Applies `action` to an application and saves it, with its timer, its credits, and the document
/// that prevents others.
pub(crate) fn enter(
    call: &Call,
    application: &mut Stored<Application>,
    action: &str,
    to: State,
) -> Result<()> {
    if application.revision > 0 {
        APPLICATION.step_to(&application.id, application.value.state, action, to)?;
    }
    let now = call.now();
    let (id, sent_at) = (application.id.clone(), application.created_at);
    let value = &mut application.value;
    (value.state, value.changed_at) = (to, now);
    let due_at = match to {
        State::Waiting => Some(sent_at + UNCLAIMED),
        state if state.is_open() => Some(now + UNDECIDED_FOR),
        _ => None,
    };
    if to == State::Submitted {
        value.inbox = value.inbox_key();
    }
    if !TALKING.contains(&to) {
        conversation::stop_checks(&id)?;
    }
    remember(call, &id, value)?;
    credits::settle(value)?;
    set_due(application, due_at)
}

/// Sets the time at which the application expires, with its timer, and saves it.
pub(crate) fn set_due(application: &mut Stored<Application>, due_at: Option<u64>) -> Result<()> {
    application.value.due_at = due_at;
    let id = application.id.as_str();
    let timer = format!("due/{id}");
    match due_at {
        Some(at) => {
            timers::set(&timer, at, "expire", &ApplicationId { application_id: id.into() })?
        }
        None => _ = timers::cancel(&timer)?,
    }
    Ok(application.save()?)
}

/// Refuses another application to a target that nobody has claimed, if too many wait for it, or too
/// many of this person wait for such targets.
pub(crate) fn ensure_room(value: &Application) -> Result<()> {
    let waiting = |of: Filter| APPLICATIONS.count(of.and(field("state").eq(State::Waiting)));
    let for_target = waiting(field("about.target_id").eq(&value.about.target_id))?;
    if for_target >= WAITING_FOR_A_TARGET {
        let (name, most) = ("waiting_for_target", WAITING_FOR_A_TARGET);
        return Err(ApplicationError::too_many_waiting(name, most));
    }
    if waiting(field("owner_id").eq(&value.owner_id))? >= WAITING_OF_A_PERSON {
        let (name, most) = ("waiting_of_person", WAITING_OF_A_PERSON);
        return Err(ApplicationError::too_many_waiting(name, most));
    }
    Ok(())
}

/// Remembers the application as the last one of this person to this recipient.
fn remember(call: &Call, id: &str, value: &Application) -> Result<()> {
    let mut last = LAST.get_or_default(&value.key())?;
    last.value.owner_id.clone_from(&value.owner_id);
    last.value.open = value.state.is_open().then(|| id.to_owned());
    if value.state == State::Rejected {
        last.value.rejected = Some((id.to_owned(), call.now()));
    }
    Ok(LAST.save(&mut last)?)
}

/// Refuses a second open application of a person to the same recipient, and one within the cooldown
/// after a rejection.
pub(crate) fn ensure_free(call: &Call, value: &Application) -> Result<()> {
    let last = LAST.get_or_default(&value.key())?.value;
    if let Some(id) = last.open
        && let Some(open) = APPLICATIONS.get(&id)?
    {
        let state = open.value.state;
        return Err(ApplicationError::ApplicationExists { application_id: id, state });
    }
    let now = call.now();
    match last.rejected.filter(|(_, at)| at + COOLDOWN > now) {
        Some((application_id, at)) => {
            let wait = at + COOLDOWN - now;
            Err(ApplicationError::CooldownActive { application_id, wait })
        }
        None => Ok(()),
    }
}
