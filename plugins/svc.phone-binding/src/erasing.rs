//! The erasure of people: the message that warns of it, and what is kept of the number afterwards: its MAC with the
//! limits of its codes. It names nobody. The person's suspension, which the host keeps by the key in this record,
//! lasts no longer.

use crate::{bind, recycling, types::*};
use portolan_sdk::contract::messages::{self, Recipient};
use portolan_sdk::prelude::*;

/// The time after an erasure in which a number is remembered: as long as the host keeps a suspension.
const REMEMBERED_FOR: u64 = 90 * DAY;

/// Sends a message about an erasure to the number of the person, if the person has one, so that the
/// person notices an erasure by a stolen agent. Test mode sends no messages.
pub(crate) fn warn(call: &Call, input: &ErasureWarning) -> Result<()> {
    let owner = OWNERS.get(&input.owner_id)?.filter(|owner| !owner.value.sealed.is_empty());
    let Some(owner) = owner.filter(|_| !call.test_mode()) else { return Ok(()) };
    let at = rfc3339(input.erases_at);
    let day = at.get(..10).unwrap_or_default();
    let text = format!(
        "All your Portolan data is to be erased on {day}. If this was not you, tell your agent at once to cancel it."
    );
    if messages::send(&bind::number(&owner.value.sealed)?, &text, Recipient::Known).is_err() {
        log::warn!("the message about an erasure cannot be sent");
    }
    Ok(())
}

/// Sets the timers that forget the numbers of a person who is being erased. Their own record may be erased already.
pub(crate) fn forget_later(call: &Call, person_key: &str) -> Result<()> {
    let query = Query::new().filter(field("person_key").eq(person_key));
    for number in NUMBERS.find(query)?.into_documents() {
        let (name, at) = (format!("number/{}", number.id), call.now() + REMEMBERED_FOR);
        timers::set(&name, at, "forget_number", &NumberId { id: number.id })?;
    }
    Ok(())
}

/// Forgets a number, unless a person has it.
pub(crate) fn forget(number_id: &str) -> Result<()> {
    match NUMBERS.get(number_id)? {
        Some(number) if recycling::find_owner(&number.value.person_key)?.is_none() => {
            Ok(NUMBERS.delete(number_id, Expect::Any)?)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PhoneBinding;
    use portolan_sdk::test;

    const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn a_number_is_forgotten_though_the_record_of_its_person_is_erased_already() {
        let number = |key: &str| Number { person_key: key.to_owned(), ..Number::default() };
        let world = test::world().of::<PhoneBinding>().at(NOW).system();
        let mut world = world.document(NUMBERS, "first", &number("prs_1")).document(
            NUMBERS,
            "other",
            &number("prs_2"),
        );
        // The host calls again if it cannot tell that the first call succeeded.
        for _ in 0..2 {
            world.call("erased", &json!({ "person_key": "prs_1" })).unwrap();
        }
        let timers = world.timers();
        assert_eq!(timers.len(), 1, "{timers:?}");
        assert_eq!((&*timers[0].action, timers[0].at), ("forget_number", NOW + REMEMBERED_FOR));
        world.call("forget_number", &timers[0].input).unwrap();
        let left: Vec<_> = world.documents(NUMBERS).into_iter().map(|number| number.id).collect();
        assert_eq!(left, ["other"]);
    }

    #[test]
    fn the_number_of_a_person_is_not_forgotten() {
        let owner = Owner {
            person_key: "prs_1".to_owned(),
            sealed: String::new(),
            masked: String::new(),
            next: None,
            signed_out_at: 0,
        };
        let number = Number { person_key: "prs_1".to_owned(), ..Number::default() };
        let world = test::world().of::<PhoneBinding>().at(NOW).system();
        let mut world = world.document(NUMBERS, "first", &number).document(OWNERS, OWNER, &owner);
        world.call("forget_number", &json!({ "id": "first" })).unwrap();
        assert_eq!(world.documents(NUMBERS).len(), 1);
    }
}
