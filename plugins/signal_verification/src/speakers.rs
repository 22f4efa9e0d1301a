//! The people who speak for a company, and their confirmations.

use crate::{
    evidence::said,
    feed::{self, Signal},
    kept::{
        APPOINTMENTS, Appointment, CONFIRMATIONS, Confirmation, DAYS, STATEMENTS, Statement,
        StatementKind, is_kept, open_dispute, pair_id,
    },
    life::{Maturity, SIGNAL},
    limits::{CONFIRMATIONS_A_DAY, MOST_APPOINTED, MOST_SPEAKERS},
    refusals::{Result, SignalError, list_mine, many_appointed},
    types::{Appoint, CAPABILITY, Dismiss, ListSpeakers, Say, Verification},
    views::{self, AppointmentView, ConfirmationView},
};
use people_kit::people;
use portolan_sdk::{contract::platform, prelude::*};

pub(crate) fn appoint(call: &Call, input: Appoint) -> Result<AppointmentView> {
    let note = said("/note", Some(&input.note))?.unwrap_or_default();
    feed::name(&input.target_id)?.ok_or_else(|| SignalError::nothing("target"))?;
    people::person(&input.owner_id)?.ok_or(SignalError::OwnerNotFound)?;
    let id = pair_id(&input.target_id, &input.owner_id);
    let of_it = field("target_id").eq(&input.target_id);
    if let Some(mut appointed) = APPOINTMENTS.get(&id)? {
        if appointed.value.verification_id.take().is_some() {
            appointed.value.note = note;
            APPOINTMENTS.save(&mut appointed)?;
        }
        return Ok(views::appointment(appointed.value));
    }
    if APPOINTMENTS.count(of_it)? >= MOST_SPEAKERS {
        return Err(many_appointed("speakers_of_a_target", MOST_SPEAKERS).into());
    }
    if APPOINTMENTS.count(None)? >= MOST_APPOINTED {
        return Err(many_appointed("speakers", MOST_APPOINTED).into());
    }
    let appointment = Appointment {
        target_id: input.target_id,
        owner_id: input.owner_id,
        note,
        since: call.now(),
        verification_id: None,
    };
    APPOINTMENTS.put(&id, &appointment, Expect::Absent)?;
    Ok(views::appointment(appointment))
}

/// Dismisses a person. Their statements that no build has used yet no longer count.
pub(crate) fn dismiss(input: &Dismiss) -> Result<()> {
    let id = pair_id(&input.target_id, &input.owner_id);
    let appointed = APPOINTMENTS.get(&id)?.ok_or_else(|| SignalError::nothing("appointment"))?;
    APPOINTMENTS.delete(&id, Expect::Revision(appointed.revision))?;
    forget(&input.target_id, &input.owner_id)
}

fn forget(target_id: &str, owner_id: &str) -> Result<()> {
    let of_them = |path: &str| {
        let target = field("target_id").eq(target_id);
        Query::new().filter(target.and(field(path).eq(owner_id)))
    };
    for hit in STATEMENTS.all(of_them("speaker")) {
        STATEMENTS.delete(&hit?.document.id, Expect::Any)?;
    }
    for hit in CONFIRMATIONS.all(of_them("owner_id")) {
        CONFIRMATIONS.delete(&hit?.document.id, Expect::Any)?;
    }
    Ok(())
}

/// Appoints a person who has proved the company's domain, until the proof ends. Appointments by the
/// operator are not affected.
pub(crate) fn follow(call: &Call, verification: Verification) -> Result<()> {
    let Verification { resource, owner_id, target_id: Some(target_id), domain } = verification
    else {
        return Ok(());
    };
    let id = pair_id(&target_id, &owner_id);
    let appointed = APPOINTMENTS.get(&id)?;
    match (resource.state.as_str(), appointed) {
        ("verified", None) => {
            let note = format!("Has proved the domain {domain}.");
            let (since, verification_id) = (call.now(), Some(resource.id));
            let appointment = Appointment { target_id, owner_id, note, since, verification_id };
            APPOINTMENTS.put(&id, &appointment, Expect::Absent)?;
            Ok(())
        }
        // A stale verification still counts while it is checked again.
        ("verified" | "stale", _) | (_, None) => Ok(()),
        (_, Some(appointed)) if appointed.value.verification_id.is_none() => Ok(()),
        (_, Some(appointed)) => {
            APPOINTMENTS.delete(&id, Expect::Revision(appointed.revision))?;
            forget(&target_id, &owner_id)
        }
    }
}

pub(crate) fn list(input: ListSpeakers) -> Result<Items<AppointmentView>> {
    let of_it = input.target_id.map(|target_id| field("target_id").eq(target_id));
    let query = Query::new().filter(of_it).page(input.page);
    Ok(Items::of(APPOINTMENTS.find(query)?, |appointment| views::appointment(appointment.value)))
}

/// Whether a person speaks for a company.
pub(crate) fn speaks(owner_id: &str, target_id: &str) -> Result<bool, HostError> {
    Ok(APPOINTMENTS.get(&pair_id(target_id, owner_id))?.is_some())
}

/// Returns a signal on which the caller may take this action, because they speak for its company.
pub(crate) fn enter(call: &Call, signal_id: &str, action: &str) -> Result<Signal> {
    let signal = own(call, signal_id)?;
    may(signal_id, &signal, action)?;
    Ok(signal)
}

fn own(call: &Call, signal_id: &str) -> Result<Signal> {
    let signal = feed::signal(signal_id, || is_kept(signal_id))?;
    if !speaks(call.require_owner()?, &signal.target_id)? {
        return Err(SignalError::VerificationRequired { target_id: signal.target_id });
    }
    Ok(signal)
}

fn may(signal_id: &str, signal: &Signal, action: &str) -> Result<()> {
    let maturity = open_dispute(signal_id)?.map_or(signal.maturity, |_| Maturity::Disputed);
    SIGNAL.step(signal_id, maturity, action)?;
    Ok(())
}

pub(crate) fn confirm(call: &Call, input: Say) -> Result<ConfirmationView> {
    let (me, signal_id) = (call.require_owner()?.to_owned(), input.signal_id);
    let signal = own(call, &signal_id)?;
    let reason = said("/reason", input.reason.as_deref())?;
    let id = pair_id(&signal_id, &me);
    // A second confirmation changes nothing.
    if let Some(confirmed) = CONFIRMATIONS.get(&id)? {
        return Ok(views::confirmation(&confirmed.value));
    }
    may(&signal_id, &signal, "confirm")?;
    CONFIRMATIONS_A_DAY.count(call, DAYS, &me, list_mine())?;
    let confirmation = Confirmation {
        confirmation_id: call.new_id("cnf"),
        signal_id,
        target_id: signal.target_id,
        owner_id: me,
        reason,
        confirmed_at: call.now(),
    };
    CONFIRMATIONS.put(&id, &confirmation, Expect::Absent)?;
    let statement = Statement {
        signal_id: confirmation.signal_id.clone(),
        target_id: confirmation.target_id.clone(),
        kind: StatementKind::OwnerConfirms,
        at: call.now(),
        publisher: publisher(&confirmation.target_id)?,
        url: here(),
        answers: None,
        speaker: Some(confirmation.owner_id.clone()),
    };
    STATEMENTS.put(&confirmation.confirmation_id, &statement, Expect::Absent)?;
    Ok(views::confirmation(&confirmation))
}

/// Returns the publisher of a company's statement in the feeds.
pub(crate) fn publisher(target_id: &str) -> Result<String, HostError> {
    Ok(feed::name(target_id)?.unwrap_or_else(|| "The company".to_owned()))
}

/// Returns the address at which the statements are published.
pub(crate) fn here() -> String {
    format!("{}/v1/capabilities/{CAPABILITY}/schema", platform::about().public_url)
}
