//! The people who speak for a company, and their confirmations.

use crate::{
    documents::*,
    evidence::check_text,
    feed::{self, Signal},
    limits::{CONFIRMATIONS_A_DAY, ensure_few_appointed},
    refusals::*,
    states::*,
    types::*,
    views::{self, AppointmentView, ConfirmationView},
};
use people_kit::people;
use portolan_sdk::{contract::platform, prelude::*};

pub(crate) fn appoint(call: &Call, input: Appoint) -> Result<AppointmentView> {
    let note = check_text("/note", Some(&input.note))?.unwrap_or_default();
    let (target_id, owner_id) = (String::from(input.target_id), String::from(input.owner_id));
    feed::name(&target_id)?.ok_or_else(|| SignalError::not_found("target"))?;
    people::person(&owner_id)?.ok_or(SignalError::OwnerNotFound)?;
    let id = pair_id(&target_id, &owner_id);
    if let Some(mut appointed) = APPOINTMENTS.get(&id)? {
        if appointed.value.verification_id.take().is_some() {
            appointed.value.note = note;
            APPOINTMENTS.save(&mut appointed)?;
        }
        return Ok(views::appointment(appointed.value));
    }
    ensure_few_appointed(&target_id)?;
    let (since, verification_id) = (call.now(), None);
    let appointment = Appointment { target_id, owner_id, note, since, verification_id };
    Ok(views::appointment(APPOINTMENTS.add(id, appointment, since)?.value))
}

/// Dismisses a person.
pub(crate) fn dismiss(input: &Dismiss) -> Result<()> {
    let appointed = APPOINTMENTS.get(&pair_id(&input.target_id, &input.owner_id))?;
    remove_appointment(&appointed.ok_or_else(|| SignalError::not_found("appointment"))?)
}

/// Ends an appointment. Statements of the person that no build has used yet no longer count.
fn remove_appointment(appointed: &Stored<Appointment>) -> Result<()> {
    let Appointment { target_id, owner_id, .. } = &appointed.value;
    APPOINTMENTS.delete(&appointed.id, Expect::Revision(appointed.revision))?;
    let of_appointment = |path: &str| {
        Query::new().filter(field("target_id").eq(target_id).and(field(path).eq(owner_id)))
    };
    for hit in STATEMENTS.all(of_appointment("speaker")) {
        STATEMENTS.delete(&hit?.document.id, Expect::Any)?;
    }
    for hit in CONFIRMATIONS.all(of_appointment("owner_id")) {
        CONFIRMATIONS.delete(&hit?.document.id, Expect::Any)?;
    }
    Ok(())
}

/// Appoints a person who has proved the company's domain, until the proof ends. Appointments by the
/// operator are not affected.
pub(crate) fn apply_verification(call: &Call, verification: Verification) -> Result<()> {
    let Verification { resource, owner_id, target_id: Some(target_id), domain } = verification
    else {
        return Ok(());
    };
    let id = pair_id(&target_id, &owner_id);
    match (resource.state.as_str(), APPOINTMENTS.get(&id)?) {
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
        (_, Some(appointed)) => remove_appointment(&appointed),
    }
}

pub(crate) fn list(input: ListSpeakers) -> Result<Items<AppointmentView>> {
    let filter = input.target_id.map(|target_id| field("target_id").eq(target_id));
    let found = APPOINTMENTS.find(Query::new().filter(filter).page(input.page))?;
    Ok(Items::of(found, |appointment| views::appointment(appointment.value)))
}

/// Returns whether a person speaks for a company.
pub(crate) fn is_speaker(owner_id: &str, target_id: &str) -> Result<bool, HostError> {
    Ok(APPOINTMENTS.get(&pair_id(target_id, owner_id))?.is_some())
}

/// Returns a signal. Refuses unless the caller speaks for its company.
pub(crate) fn load_as_speaker(call: &Call, signal_id: &str) -> Result<Signal> {
    let signal = feed::signal(signal_id)?;
    if !is_speaker(call.require_owner()?, &signal.target_id)? {
        return Err(SignalError::VerificationRequired { target_id: signal.target_id });
    }
    Ok(signal)
}

/// Refuses an action that the signal's maturity does not allow.
pub(crate) fn ensure_allowed(signal_id: &str, signal: &Signal, action: &str) -> Result<()> {
    let maturity = open_dispute(signal_id)?.map_or(signal.maturity, |_| Maturity::Disputed);
    SIGNAL.step(signal_id, maturity, action)?;
    Ok(())
}

pub(crate) fn confirm(call: &Call, input: StatementInput) -> Result<ConfirmationView> {
    let (owner_id, signal_id) = (call.require_owner()?.to_owned(), String::from(input.signal_id));
    let signal = load_as_speaker(call, &signal_id)?;
    let reason = check_text("/reason", input.reason.as_deref())?;
    let id = pair_id(&signal_id, &owner_id);
    // A second confirmation changes nothing.
    if let Some(confirmed) = CONFIRMATIONS.get(&id)? {
        return Ok(views::confirmation(&confirmed.value));
    }
    ensure_allowed(&signal_id, &signal, "confirm")?;
    CONFIRMATIONS_A_DAY.count(call, DAYS, &owner_id, list_mine())?;
    let (confirmation_id, target_id) = (call.new_id("cnf"), signal.target_id);
    let (kind, publisher) = (StatementKind::OwnerConfirms, publisher(&target_id)?);
    let statement = Statement::new(call, kind, &signal_id, &target_id, publisher, schema_url());
    let statement = Statement { speaker: Some(owner_id.clone()), ..statement };
    let confirmed_at = call.now();
    let confirmation =
        Confirmation { confirmation_id, signal_id, target_id, owner_id, reason, confirmed_at };
    CONFIRMATIONS.put(&id, &confirmation, Expect::Absent)?;
    STATEMENTS.put(&confirmation.confirmation_id, &statement, Expect::Absent)?;
    Ok(views::confirmation(&confirmation))
}

/// Returns the publisher of a company's statement in the feeds.
pub(crate) fn publisher(target_id: &str) -> Result<String, HostError> {
    Ok(feed::name(target_id)?.unwrap_or_else(|| "The company".to_owned()))
}

/// Returns the address at which the statements are published.
pub(crate) fn schema_url() -> String {
    format!("{}/v1/capabilities/{CAPABILITY}/schema", platform::about().public_url)
}
