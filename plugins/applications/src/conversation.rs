//! The conversation of an application: it is opened by an invitation or an offer, and replaced by a new one
//! while the two sides still talk, if it is closed or nobody of the recipients is left in it.

use crate::{documents::*, recipients::Recipients, refusals::*, states::*, types::*};
use people_kit::threads::{self, Open, Participant, ThreadState};
use portolan_sdk::prelude::*;

/// The reason with which a conversation is closed whose member no longer acts for the recipient.
pub(crate) const MEMBER_LEFT: &str = "member_left";

/// Makes sure that the applicant can talk with somebody who acts for the recipient: leaves the conversation as it
/// is, or opens one of the applicant and the caller.
pub(crate) fn open_thread(
    call: &Call,
    application: &mut Stored<Application>,
    recipients: &Recipients,
) -> Result<()> {
    if let Some(partner) = find_partner(&application.value, recipients)? {
        application.value.talk_with(partner);
        return Ok(());
    }
    end_thread(application, MEMBER_LEFT)?;
    let (me, value) = (call.require_owner()?, &mut application.value);
    let applicant = Participant {
        owner_id: value.owner_id.clone(),
        agent_id: value.agent_id.clone(),
        org_id: None,
    };
    let recipient = Participant {
        owner_id: me.to_owned(),
        agent_id: Some(call.require_agent()?.agent_id.clone()),
        org_id: value.about.org_id.clone(),
    };
    let opened = threads::open(&Open {
        pairing_id: application.id.clone(),
        participants: vec![applicant, recipient],
        category: Some(value.category.clone()),
        replace_closed: true,
    });
    let opened = opened.map_err(|error| ApplicationError::of_thread(error, &application.id))?;
    (value.thread_id, value.thread_closed) = (Some(opened.thread_id), false);
    // The consents of both sides hold for their conversation only.
    (value.contact_id, value.contact) = (Some(me.to_owned()), Consents::default());
    set_check(call, application)
}

/// Returns the person with whom the applicant can talk in the conversation: the contact, or else another one in it
/// who acts for the recipient; `None` if there is none, the conversation is closed, or the applicant has left it.
pub(crate) fn find_partner(
    application: &Application,
    recipients: &Recipients,
) -> Result<Option<String>> {
    let Some(thread_id) = &application.thread_id else { return Ok(None) };
    let thread = match threads::thread(thread_id, &application.owner_id).map_err(Refusal::from) {
        Ok(thread) => thread,
        Err(refusal) if refusal.code == "thread_not_found" => return Ok(None),
        Err(refusal) => return Err(refusal.into()),
    };
    if thread.state == ThreadState::Closed {
        return Ok(None);
    }
    let contact = application.contact_id.iter().filter(|id| thread.participants.contains(id));
    let mut people = contact.chain(&thread.participants);
    Ok(people.find(|owner_id| recipients.include(owner_id)).cloned())
}

/// Records that the conversation of an application is closed.
pub(crate) fn closed(closed: &ThreadClosed) -> Result<()> {
    let Some(id) = &closed.pairing_id else { return Ok(()) };
    let is_concerned = |application: &Stored<Application>| {
        let Application { state, thread_id, thread_closed, .. } = &application.value;
        TALKING.contains(state) && thread_id.as_ref() == Some(&closed.thread_id) && !thread_closed
    };
    let Some(mut application) = APPLICATIONS.get(id)?.filter(is_concerned) else { return Ok(()) };
    application.value.thread_closed = true;
    Ok(application.save()?)
}

/// Closes the conversation of an application, if there is one.
pub(crate) fn end_thread(application: &Stored<Application>, reason: &str) -> Result<()> {
    match &application.value.thread_id {
        Some(thread_id) => threads::end(thread_id, reason)
            .map_err(|error| ApplicationError::of_thread(error, &application.id)),
        None => Ok(()),
    }
}

/// Refuses a closed or frozen conversation.
pub(crate) fn ensure_can_talk(me: &str, application: &Stored<Application>) -> Result<()> {
    let closed = || ApplicationError::ThreadClosed { application_id: application.id.to_string() };
    let thread_id = application.value.thread_id.as_deref().ok_or_else(closed)?;
    let thread = threads::thread(thread_id, me)
        .map_err(|error| ApplicationError::of_thread(error, &application.id))?;
    match thread.state {
        ThreadState::Open | ThreadState::Archived => Ok(()),
        ThreadState::Closed | ThreadState::Frozen => Err(closed()),
    }
}

pub(crate) fn stop_checks(application_id: &str) -> Result<()> {
    timers::cancel(&check_timer(application_id))?;
    Ok(())
}

pub(crate) fn set_check(call: &Call, application: &Stored<Application>) -> Result<()> {
    set_check_at(application, call.now() + CHECK_INTERVAL)
}

pub(crate) fn set_check_at(application: &Stored<Application>, at: u64) -> Result<()> {
    let Some(thread_id) = application.value.thread_id.clone() else { return Ok(()) };
    // An erased applicant's application is deleted, so the timer says which conversation it had.
    let input = Check { application_id: application.id.clone(), thread_id };
    Ok(timers::set(&check_timer(&application.id), at, "check", &input)?)
}

fn check_timer(application_id: &str) -> String {
    format!("check/{application_id}")
}

impl Application {
    /// Records with whom the applicant talks. A new person has allowed nothing yet.
    pub(crate) fn talk_with(&mut self, partner: String) {
        if self.contact_id.as_ref() != Some(&partner) && !self.contact.of_both() {
            self.contact.recipient = false;
        }
        self.contact_id = Some(partner);
    }
}
