//! Whether each side of an application whose sides talk can be reached.

use crate::notices::{ABSENCE, RETURN};
use crate::{documents::*, recipients::Recipients, refusals::*, states::*, types::*};
use people_kit::people;
use portolan_sdk::prelude::*;

/// Returns whether the other side was notified that this one cannot be reached.
pub(crate) fn is_away(application: &Application, is_applicant: bool) -> bool {
    if is_applicant { application.applicant_away } else { application.recipient_away }
}

/// Notifies the other side, once, that this one can no longer be reached or can be reached again.
pub(crate) fn update(
    call: &Call,
    application: &mut Stored<Application>,
    is_applicant: bool,
    is_reachable: bool,
) -> Result<()> {
    let value = &mut application.value;
    let away = if is_applicant { &mut value.applicant_away } else { &mut value.recipient_away };
    if *away != is_reachable {
        return Ok(());
    }
    *away = !is_reachable;
    application.save()?;
    let others = match is_applicant {
        true => Recipients::of(&application.value)?.reachable,
        false => vec![application.value.owner_id.clone()],
    };
    let notice = if is_reachable { RETURN } else { ABSENCE };
    let facts = Facts { counterpart_reachable: Some(is_reachable), ..Facts::default() };
    notice.notify(call, application, &others, facts)
}

/// Notifies those who talk with a person that the person is active again: a call notifies some, the others follow.
pub(crate) fn returned(call: &Call, event: &Happened<Deactivated>) -> Result<()> {
    let owner_id = event.subject.trim_start_matches("owners/");
    // The event may be delivered after the person has left again.
    if people::person(owner_id)?.is_none_or(|person| !person.active) {
        return Ok(());
    }
    let theirs = ["owner_id", "to_owner_id", "contact_id"].map(|path| field(path).eq(owner_id));
    let theirs = any_of(theirs).and(field("state").one_of(TALKING));
    let mut told = 0;
    for hit in APPLICATIONS.all(Query::new().filter(theirs)) {
        let mut application = hit?.document;
        let value = &application.value;
        let is_applicant = value.owner_id == owner_id;
        if !is_away(value, is_applicant) {
            continue;
        }
        told += 1 + Recipients::of(value)?.reachable.len();
        if told > MOST_TOLD {
            let name = format!("returned/{owner_id}");
            return Ok(timers::set(&name, call.now(), "on_owner_reactivated", event)?);
        }
        update(call, &mut application, is_applicant, true)?;
    }
    Ok(())
}
