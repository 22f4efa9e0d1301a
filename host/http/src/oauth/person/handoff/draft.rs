//! The action that a draft calls, as its capability declares it for the pages of handoffs.

use super::resolve::Draft;
use crate::{
    App,
    oauth::{
        forms::PageForm,
        person::{
            forms::{FormView, Sent, fixed_input, is_sent},
            refused::Refused,
            things::{Thing, Things},
        },
    },
};
use portolan_catalog::{Action, Capability, PersonPage, Snapshot};
use portolan_vocabulary::Digest;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// An action with its form.
pub(super) struct Drafted<'a> {
    pub(super) capability: &'a Arc<Capability>,
    pub(super) page: &'a PersonPage,
    pub(super) action: &'a Action,
}

impl<'a> Drafted<'a> {
    /// Finds the action of a draft; `None` if its capability declares no form of it.
    pub(super) fn find(app: &App, snapshot: &'a Snapshot, draft: &Draft) -> Option<Self> {
        let capability = snapshot.find(&draft.capability, app.host.clock.now()).ok()?;
        let named = draft.input.get("action").and_then(Value::as_str);
        Self::of(capability, named.or(capability.descriptor.default_action.as_deref())?)
    }

    /// Returns an action of a capability with its form.
    pub(super) fn of(capability: &'a Arc<Capability>, name: &str) -> Option<Self> {
        let page = capability.drafted.iter().find(|page| page.action == name)?;
        Some(Self { capability, page, action: capability.action(name)? })
    }

    /// Returns whether a form is the one of this action.
    pub(super) fn is_sent(&self, form: &PageForm) -> bool {
        is_sent(self.page, form)
    }

    /// Returns the digest of all that the call sends except what the person fills in. A form has that of the draft which
    /// its page has shown.
    pub(super) fn digest(&self, draft: &Draft) -> String {
        let fixed = fixed_input(self.page, fields(draft));
        let shown = json!([&*self.capability.id, &*self.page.action, fixed]);
        Digest::of(shown.to_string().as_bytes()).hex()
    }

    pub(super) fn title(&self) -> &'a str {
        self.page.title.as_ref().unwrap_or(&self.action.descriptor.title)
    }

    /// Returns the path of what the person has with the capability.
    pub(super) fn account_path(&self) -> String {
        format!("/account/{}", self.capability.id)
    }

    /// Returns the form, filled from the draft, or from what was sent.
    pub(super) fn form(
        &self,
        draft: &Draft,
        sent: Option<(&PageForm, Option<&Refused>)>,
    ) -> Option<FormView> {
        let thing = Thing::of_value(fields(draft));
        let sent = sent.map(|(form, refused)| Sent { form, refused });
        let mut form =
            FormView::new(self.page, self.action, Some(&thing), "draft".to_owned(), sent)?;
        // If an object is missing, its first field is the one that cannot be left empty.
        for name in &draft.missing {
            if let Some(field) = form.fields.iter_mut().find(|field| field.is_within(name)) {
                field.is_required = true;
            }
        }
        Some(form)
    }

    /// Returns the part of the capability's own page that shows what the action makes.
    pub(super) fn view(&self) -> Option<&'a PersonPage> {
        let mut pages = self.capability.person_pages.iter();
        pages.find(|page| page.is_view() && page.section == self.page.section)
    }

    /// Returns what the action has answered, as the capability's own page shows such things.
    pub(super) fn things(&self, output: &Value) -> Things {
        let page = match self.view().filter(|_| self.page.writes) {
            Some(view) => PersonPage { things: Vec::new(), ..view.clone() },
            None => self.page.clone(),
        };
        Things::of(&page, self.action.schemas.output.document(), output)
    }
}

/// Returns the fields of a draft without the name of its action.
pub(super) fn fields(draft: &Draft) -> Map<String, Value> {
    let mut fields = draft.input.clone();
    fields.remove("action");
    fields
}
