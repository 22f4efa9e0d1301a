//! `moderation`: the suspension of people, written in the call's unit of work.

use crate::{
    contract::{moderation, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_vocabulary::{Suspension, Timestamp};
use serde_json::Value;

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Moderation, |linker| {
    moderation::add_to_linker::<_, TapedState>(linker, taped)
});

const REASON_CHARACTERS: usize = 500;
const APPEAL_BYTES: usize = 4096;

impl moderation::Host for CallState {
    async fn suspend(&mut self, owner_id: String, suspension: moderation::Suspension) -> Reply<()> {
        Ok(self.suspend_person(owner_id, suspension).await)
    }

    async fn reinstate(&mut self, owner_id: String) -> Reply<bool> {
        Ok(self.change_people(move |people, unit| people.reinstate(unit, owner_id)).await)
    }
}

impl CallState {
    async fn suspend_person(
        &mut self,
        owner_id: String,
        from: moderation::Suspension,
    ) -> Answer<()> {
        let suspension = checked(from)?;
        self.change_people(move |people, unit| people.suspend(unit, owner_id, suspension)).await
    }
}

fn checked(from: moderation::Suspension) -> Answer<Suspension> {
    if !(1..=REASON_CHARACTERS).contains(&from.reason.chars().count()) {
        let text = format!("`reason` must have 1 to {REASON_CHARACTERS} characters");
        return Err(HostError::Invalid(text));
    }
    let appeal = from.appeal.map(|text| {
        let appeal = (text.len() <= APPEAL_BYTES).then(|| serde_json::from_str(&text).ok());
        match appeal.flatten() {
            Some(appeal @ Value::Object(_)) => Ok(appeal),
            _ => {
                let text =
                    format!("`appeal` must be a JSON object of at most {APPEAL_BYTES} bytes");
                Err(HostError::Invalid(text))
            }
        }
    });
    Ok(Suspension {
        reason: from.reason,
        until: from.until.map(Timestamp::from_millis),
        appeal: appeal.transpose()?,
    })
}
