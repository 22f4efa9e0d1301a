//! `lookups`: look-ups of TXT records, public pages and files, which are made after the call has committed.

use crate::{
    contract::{lookups, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_outgoing::lookups::{
    FileLookup, FileRequest, LookupRequest, is_file_address, is_host_name, is_page,
};
use portolan_store::{TimerChange, TimerKey};
use portolan_vocabulary::{LOOKUPS_OF, new_identifier};
use rand::RngExt as _;
use serde_json::{Value, json};

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Lookups, |linker| {
    lookups::add_to_linker::<_, TapedState>(linker, taped)
});

/// The maximum number of waiting look-ups of a capability, in each mode.
const WAITING: u64 = 256;
/// The maximum number of look-ups of one call.
const LOOKUPS: usize = 8;
const ADDRESS_BYTES: usize = 512;
const ABOUT_BYTES: usize = 4096;

/// A requested look-up.
enum Requested {
    Open(LookupRequest),
    /// A look-up whose address is stored sealed.
    File(FileRequest),
}

impl Requested {
    /// Returns an answer with every field that the action can get.
    fn possible_answer(&self, lookup_id: &str, about: &Value) -> Value {
        match self {
            Self::Open(_) => json!({ "lookup_id": lookup_id, "about": about, "found": [] }),
            Self::File(_) => json!({
                "lookup_id": lookup_id, "about": about, "text": "", "unchanged": true, "etag": "",
                "last_modified": "", "moved_to": "", "error": "", "status": 503, "retry_after_s": 0,
            }),
        }
    }
}

impl lookups::Host for CallState {
    async fn txt(&mut self, name: String, action: String, about: String) -> Reply<String> {
        let fault = (!is_host_name(&name)).then_some("this is not the name of a host");
        let request = Requested::Open(LookupRequest::Txt(name));
        Ok(self.look_up(request, fault, action, &about).await)
    }

    async fn page(&mut self, url: String, action: String, about: String) -> Reply<String> {
        let is_valid = url.len() <= ADDRESS_BYTES && is_page(&url);
        let fault = (!is_valid).then_some("this is not the https address of a page");
        let request = Requested::Open(LookupRequest::Page(url));
        Ok(self.look_up(request, fault, action, &about).await)
    }

    async fn file(
        &mut self,
        url: String,
        media_types: Vec<String>,
        etag: Option<String>,
        last_modified: Option<String>,
        action: String,
        about: String,
    ) -> Reply<String> {
        let is_valid = is_file_address(&url);
        let request = FileRequest { url, media_types, etag, last_modified };
        let fault = match is_valid {
            true => request.fault(),
            false => Some("this is not the https address of a file"),
        };
        Ok(self.look_up(Requested::File(request), fault, action, &about).await)
    }
}

impl CallState {
    /// Adds the look-up to the unit of work, as a timer that is due at once, and returns its id. `fault` is
    /// the reason why the request is invalid, if it is.
    async fn look_up(
        &mut self,
        request: Requested,
        fault: Option<&str>,
        action: String,
        about: &str,
    ) -> Answer<String> {
        let lookup_id = new_identifier("lkp", self.context.now, self.random.host().random());
        let random = self.random.host().random();
        let capability = format!("{LOOKUPS_OF}{}", self.capability);
        let (now, test_mode) = (self.context.now, self.context.caller.test_mode());
        let work = self.writable_work()?;
        if let Some(fault) = fault {
            return Err(HostError::Invalid(fault.to_owned()));
        }
        let about = (about.len() <= ABOUT_BYTES).then(|| serde_json::from_str(about).ok());
        let Some(about @ Value::Object(_)) = about.flatten() else {
            let text = format!("`about` must be a JSON object of at most {ABOUT_BYTES} bytes");
            return Err(HostError::Invalid(text));
        };
        // The action must accept the result as its input.
        let answer = request.possible_answer(&lookup_id, &about);
        let checked = work.services.check_timer(&action, answer.to_string());
        checked.map_err(HostError::Invalid)?;
        if work.unit.timers_set_for(&capability) >= LOOKUPS {
            return Err(HostError::Limit(format!("a call can request at most {LOOKUPS} look-ups")));
        }
        let waiting = work.unit.count_timers(&capability, test_mode).await;
        if self.answer(waiting)? >= WAITING {
            return Err(HostError::Limit(format!(
                "at most {WAITING} look-ups of a capability may wait"
            )));
        }
        let key = TimerKey { capability, name: lookup_id.clone(), test_mode };
        let setting = lookup_id.clone();
        let unit = &mut self.writable_work()?.unit;
        let input = match request {
            Requested::Open(request) => {
                json!({ "lookup_id": lookup_id, "question": request, "about": about }).to_string()
            }
            Requested::File(file) => {
                let sealed = FileLookup { file, about }.seal(&lookup_id, unit.keys(), random);
                let text = "the address cannot be sealed";
                sealed.ok_or_else(|| HostError::Unavailable(text.to_owned()))?
            }
        };
        unit.change_timer(key, TimerChange::Set { setting, at: now, action, input });
        Ok(lookup_id)
    }
}
