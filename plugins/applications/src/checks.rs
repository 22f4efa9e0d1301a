//! The checks when a person of a conversation is gone: it is replaced, or its meetings end.

use crate::conversation::{
    MEMBER_LEFT, end_thread, find_partner, open_thread, set_check, set_check_at,
};
use crate::transitions::{self, Loaded};
use crate::{
    documents::*, ends, notices, recipients::Recipients, refusals::*, states::*, types::*, views,
};
use portolan_sdk::prelude::*;

/// Opens a new conversation of the applicant and the caller in place of a closed one.
pub(crate) fn reopen(call: &Call, input: &Step) -> Result<Answer<views::View>> {
    let (id, expected) = (&input.application_id, input.expected_version);
    let Loaded { mut application, recipients, .. } =
        transitions::load_for_action(call, id, "reopen_conversation", expected)?;
    open_thread(call, &mut application, &recipients)?;
    (application.value.thread_closed, application.value.changed_at) = (false, call.now());
    application.save()?;
    let applicant = [application.value.owner_id.clone()];
    notices::REOPENING.notify(call, &application, &applicant, Facts::default())?;
    let next = application.value.thread_id.as_deref().map(read_thread);
    Ok(Answer::with(views::view(call.require_owner()?, &application)?, next))
}

/// Compares an application with its people. Remains of an erased person with very many applications, or of an
/// erased member of an organisation, are found here: the other side is told that its meetings with the erased
/// person do not take place, and that nobody is left to talk with.
pub(crate) fn check(call: &Call, input: &Check) -> Result<()> {
    let Some(mut application) = APPLICATIONS.get(&input.application_id)? else {
        return notices::publish_gone(&input.application_id, &input.thread_id);
    };
    if !TALKING.contains(&application.value.state) {
        return Ok(());
    }
    let recipients = Recipients::of(&application.value)?;
    if !recipients.is_known(application.value.contact_id.as_deref())? {
        notices::publish_gone(&application.id, &input.thread_id)?;
    }
    if recipients.are_gone() && UNANSWERED.contains(&application.value.state) {
        end_thread(&application, MEMBER_LEFT)?;
        return ends::cancel(call, &mut application, "check");
    }
    if !application.value.thread_closed {
        match find_partner(&application.value, &recipients)? {
            Some(partner) if application.value.contact_id.as_ref() == Some(&partner) => {}
            Some(partner) => {
                application.value.talk_with(partner);
                application.save()?;
            }
            None => {
                end_thread(&application, MEMBER_LEFT)?;
                application.value.thread_closed = true;
                application.save()?;
            }
        }
    }
    let is_over = application.value.state == State::Accepted
        && application.value.changed_at + CHECKED_FOR < call.now();
    if is_over { Ok(()) } else { set_check(call, &application) }
}

/// Compares the applications of a member who no longer acts for a company with their people at once. The
/// conversations of an organisation's listings go on with its other members.
pub(crate) fn member_left(call: &Call, owner_id: &str) -> Result<()> {
    let theirs = field("contact_id").eq(owner_id).and(field("state").one_of(TALKING));
    for hit in APPLICATIONS.all(Query::new().filter(theirs)) {
        let application = hit?.document;
        if application.value.about.org_id.is_none() && !application.value.thread_closed {
            set_check_at(&application, call.now())?;
        }
    }
    Ok(())
}
