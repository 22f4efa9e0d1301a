//! `people`: the export and the erasure of people's data, which the host runs after the call's commit. An agent
//! can ask for its own person only.

use crate::{
    contract::{people, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_store::{TimerChange, TimerKey};
use portolan_vocabulary::{PEOPLE_OF, PeopleRequest, new_identifier, person_ids};
use rand::RngExt as _;
use serde_json::{Value, json};

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::People, |linker| {
    people::add_to_linker::<_, TapedState>(linker, taped)
});

const ABOUT_BYTES: usize = 4096;

impl people::Host for CallState {
    async fn request_export(&mut self, action: String, about: String) -> Reply<String> {
        Ok(self.export_person(action, &about))
    }

    async fn request_erasure(&mut self) -> Reply<()> {
        Ok(self.calling_owner().and_then(|owner_id| self.erase_person(owner_id)))
    }

    async fn request_erasure_of(&mut self, owner_id: String) -> Reply<()> {
        Ok(self.named_owner(owner_id).and_then(|owner_id| self.erase_person(owner_id)))
    }
}

impl CallState {
    fn export_person(&mut self, action: String, about: &str) -> Answer<String> {
        let owner_id = self.calling_owner()?;
        let about = (about.len() <= ABOUT_BYTES).then(|| serde_json::from_str(about).ok());
        let Some(about @ Value::Object(_)) = about.flatten() else {
            let text = format!("`about` must be a JSON object of at most {ABOUT_BYTES} bytes");
            return Err(HostError::Invalid(text));
        };
        let export_id = new_identifier("exp", self.context.now, self.random.host().random());
        // The action must accept each part of the export as its input.
        let part = json!({
            "export_id": export_id, "about": about, "part": 1, "last": true, "items": [],
        });
        let checked = self.work()?.services.check_timer(&action, part.to_string());
        checked.map_err(HostError::Invalid)?;
        let request = PeopleRequest::Export { export_id: export_id.clone(), owner_id, about };
        self.request(&request, action)?;
        Ok(export_id)
    }

    fn erase_person(&mut self, owner_id: String) -> Answer<()> {
        self.request(&PeopleRequest::Erase { owner_id }, String::new())
    }

    /// Returns the id of a person whom the component names. An agent may name nobody.
    fn named_owner(&self, owner_id: String) -> Answer<String> {
        if self.context.agent().is_some() {
            let text = "an agent can erase its own person only".to_owned();
            return Err(HostError::Invalid(text));
        }
        let is_id = owner_id.starts_with("own_") && person_ids(&owner_id).eq([owner_id.as_str()]);
        is_id
            .then_some(owner_id)
            .ok_or_else(|| HostError::Invalid("it is no owner's id".to_owned()))
    }

    /// Returns the person of the calling agent; `invalid` if there is none.
    pub(super) fn calling_owner(&self) -> Answer<String> {
        let owner_id = self.context.agent().and_then(|agent| agent.owner_id.as_deref());
        let missing = || HostError::Invalid("nobody has claimed the calling agent".to_owned());
        owner_id.map(str::to_owned).ok_or_else(missing)
    }

    /// Adds the request to the unit of work, as a timer that is due at once.
    fn request(&mut self, request: &PeopleRequest, action: String) -> Answer<()> {
        let (now, test_mode) = (self.context.now, self.context.caller.test_mode());
        let capability = format!("{PEOPLE_OF}{}", self.capability);
        let key = TimerKey { capability, name: request.name(), test_mode };
        let setting = new_identifier("set", now, self.random.host().random());
        let input = json!(request).to_string();
        let set = TimerChange::Set { setting, at: now, action, input };
        self.writable_work()?.unit.change_timer(key, set);
        Ok(())
    }
}
