//! Numbers that networks give to another person. A proof of a number that nobody has proved for long does not
//! lead to its person's account: it puts the number into quarantine. An agent of that person ends the quarantine
//! by confirming that they are the same; otherwise the number gets an account of its own after a week.

use crate::{bind, phone::parse, types::*};
use portolan_sdk::{prelude::*, time::seconds};

/// The time after its last proof from which a number may be another person's. Networks give a number away again
/// after 45 to 90 days (47 CFR 52.15(f)(1)(ii)).
const STALE: u64 = 90 * DAY;
/// The time in which the former person's agents can confirm a proof.
const QUARANTINE: u64 = 7 * DAY;

/// Refuses a proof of a number that may have become another person's. A person who proves it again
/// after the quarantine gets an account of their own, and the former person keeps theirs without the
/// number.
pub(crate) fn ensure_same_person(call: &Call, proved: &Bind) -> Result<()> {
    let now = call.now();
    let mut record = NUMBERS.get(&proved.number)?.ok_or_else(bind::no_pending_bind)?;
    let number = &mut record.value;
    // A number of an earlier version has no time of its last proof.
    let is_stale = number.last_proved_at.is_some_and(|at| at + STALE <= now);
    let former = if is_stale { find_owner(&number.person_key)? } else { None };
    if let Some(mut former) = former {
        let Some(since) = number.quarantined_at else {
            number.quarantined_at = Some(now);
            NUMBERS.save(&mut record)?;
            notify(&former, now)?;
            return Err(BindError::NumberInQuarantine { wait_s: seconds(QUARANTINE) });
        };
        if let Some(wait) = (since + QUARANTINE).checked_sub(now).filter(|wait| *wait > 0) {
            return Err(BindError::NumberInQuarantine { wait_s: seconds(wait) });
        }
        number.person_key = call.new_id("prs");
        (former.value.sealed, former.value.masked) = (String::new(), String::new());
        OWNERS.save(&mut former)?;
    }
    (number.last_proved_at, number.quarantined_at) = (Some(now), None);
    Ok(NUMBERS.save(&mut record)?)
}

/// Records that a new number of a person was proved, unless it belongs to another one.
pub(crate) fn record_new_number(proved: &Bind, now: u64) -> Result<()> {
    let mut record = NUMBERS.get(&proved.number)?.ok_or_else(bind::no_pending_bind)?;
    if find_owner(&record.value.person_key)?.is_none() {
        (record.value.last_proved_at, record.value.quarantined_at) = (Some(now), None);
        NUMBERS.save(&mut record)?;
    }
    Ok(())
}

/// Ends the quarantine of the number of the calling agent's person.
pub(crate) fn confirm(call: &Call, owner: &Stored<Owner>) -> Result<()> {
    if owner.value.sealed.is_empty() {
        return Err(BindError::NotInQuarantine);
    }
    let phone = parse(&bind::number(&owner.value.sealed)?);
    let phone = phone.map_err(|_unfit| BindError::NotInQuarantine)?;
    let id = bind::number_id(call, call.require_agent()?, &phone)?;
    let record = NUMBERS.get(&id)?.filter(|record| record.value.quarantined_at.is_some());
    let mut record = record.ok_or(BindError::NotInQuarantine)?;
    (record.value.last_proved_at, record.value.quarantined_at) = (Some(call.now()), None);
    Ok(NUMBERS.save(&mut record)?)
}

pub(crate) fn find_owner(person_key: &str) -> Result<Option<Stored<Owner>>> {
    let query = Query::new().filter(field("person_key").eq(person_key));
    Ok(OWNERS.find(query)?.into_documents().next())
}

fn notify(former: &Stored<Owner>, now: u64) -> Result<()> {
    let owner_id = former.id.clone();
    let (audience, subject) = (Audience::Owner(owner_id.clone()), format!("owners/{owner_id}"));
    let data = NumberProof {
        summary: "Somebody has proved your phone number, which was not proved for long.",
        owner_id,
        phone_masked: former.value.masked.clone(),
        proved_at: rfc3339(now),
        released_at: rfc3339(now + QUARANTINE),
    };
    Ok(NUMBER_PROVED.publish(audience, subject, &data)?)
}
