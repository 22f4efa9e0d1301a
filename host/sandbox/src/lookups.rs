//! What a component with the operator's grant may ask of the public: noted in its call's unit of work,
//! asked when that has committed.

use crate::{
    contract::{lookups, types::HostError},
    state::CallState,
    work::Reply,
};
use portolan_outgoing::lookups::{LookupRequest, is_host_name, is_page};
use portolan_store::{TimerChange, TimerKey};
use portolan_vocabulary::{LOOKUPS_OF, new_identifier};
use rand::RngExt as _;
use serde_json::{Value, json};

/// Questions of one capability that wait, in each mode, and those of one call.
const WAITING: u64 = 256;
const OF_A_CALL: usize = 8;
const ADDRESS_BYTES: usize = 512;
const ABOUT_BYTES: usize = 4096;

impl lookups::Host for CallState {
    async fn txt(&mut self, name: String, action: String, about: String) -> Reply<String> {
        let wrong = (!is_host_name(&name)).then_some("this is not the name of a host");
        Ok(self.ask_public(LookupRequest::Txt(name), wrong, action, &about).await)
    }

    async fn page(&mut self, url: String, action: String, about: String) -> Reply<String> {
        let fits = url.len() <= ADDRESS_BYTES && is_page(&url);
        let wrong = (!fits).then_some("this is not the https address of a page");
        Ok(self.ask_public(LookupRequest::Page(url), wrong, action, &about).await)
    }
}

impl CallState {
    async fn ask_public(
        &mut self,
        question: LookupRequest,
        wrong: Option<&str>,
        action: String,
        about: &str,
    ) -> Result<String, HostError> {
        let lookup_id = new_identifier("lkp", self.context.now, self.chance.generator().random());
        let capability = format!("{LOOKUPS_OF}{}", self.capability);
        let (now, test_mode) = (self.context.now, self.context.caller.test_mode());
        let work = self.changing()?;
        if let Some(wrong) = wrong {
            return Err(HostError::Invalid(wrong.to_owned()));
        }
        let about = (about.len() <= ABOUT_BYTES).then(|| serde_json::from_str(about).ok());
        let Some(about @ Value::Object(_)) = about.flatten() else {
            let text = format!("`about` is a JSON object of at most {ABOUT_BYTES} bytes");
            return Err(HostError::Invalid(text));
        };
        let answer = json!({ "lookup_id": lookup_id, "about": about, "found": [] });
        let checked = work.surroundings.check_timer(&action, &answer.to_string());
        checked.map_err(HostError::Invalid)?;
        if work.unit.timers_set_for(&capability) >= OF_A_CALL {
            return Err(HostError::Limit(format!("a call asks at most {OF_A_CALL} questions")));
        }
        let waiting = work.unit.count_timers(&capability, test_mode).await;
        if waiting.map_err(|error| self.refusal(error))? >= WAITING {
            return Err(HostError::Limit(format!("at most {WAITING} questions wait")));
        }
        let key = TimerKey { capability, name: lookup_id.clone(), test_mode };
        let asked = json!({ "lookup_id": lookup_id, "question": question, "about": about });
        let setting = lookup_id.clone();
        let set = TimerChange::Set { setting, at: now, action, input: asked.to_string() };
        self.changing()?.unit.change_timer(key, set);
        Ok(lookup_id)
    }
}
