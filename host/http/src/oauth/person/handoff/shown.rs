//! The page of a handoff: what it is about, what would happen, and the form of the call.

use super::{
    address::{path, sign_in_path},
    draft::Drafted,
    resolve::{About, Found, PREVIEW, Preview, REDEEM},
};
use crate::{
    App,
    city::City,
    oauth::{
        forms::PageForm,
        person::{
            forms::{FormView, InputView},
            glance::publisher,
            refused::Refused,
            things::{Thing, Things, label, words},
        },
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{http::StatusCode, response::Response};
use portolan_catalog::Snapshot;
use portolan_identity::Session;
use portolan_publication::{page_folder, record_feeds};
use portolan_vocabulary::{Role, Zone};
use serde_json::{Value, json};
use std::sync::Arc;

/// The data that an address carries and the data that it never does, in words.
const CARRIED: [(&str, &str); 9] = [
    ("target_id", "which company it is about"),
    ("role_id", "which role it is about"),
    ("person_id", "which person it is about"),
    ("signal_id", "which signal it is about"),
    ("intent", "what you mean to do"),
    ("phone", "your phone number"),
    ("email", "your e-mail address"),
    ("exact_location", "where you are"),
    ("free_text", "anything that you have written"),
];
/// The name of the form field with the digest of the draft that the page shows.
pub(super) const SHOWN: &str = "shown";
/// The maximum number of records that the page names.
const ABOUT: usize = 8;

/// The person who looks at the page.
pub(super) struct Person<'a> {
    pub(super) session: &'a Session,
    pub(super) zone: &'a Zone,
    pub(super) test_mode: bool,
    pub(super) form_token: &'a str,
}

/// The outcome of the form.
pub(super) enum Outcome {
    Nothing,
    /// The address had expired, and another one was made. Nothing was sent.
    Renewed,
    /// The draft differs from the one that the person has seen. Nothing was sent.
    Changed,
    /// The call would succeed; the answer is what it would make.
    Tried(Things),
    /// The things that an action that reads has found.
    Found(Things),
    /// The call was made.
    Sent {
        /// The id of the thing that was made.
        made: String,
    },
    Refused(Refused),
}

/// Everything that the page shows except the form's outcome.
pub(super) struct Handoff<'a> {
    snapshot: Arc<Snapshot>,
    app: &'a App,
    token: &'a str,
    found: &'a Found,
    about: Vec<AboutLine>,
    person: Option<Person<'a>>,
}

/// A record that the handoff is about.
struct AboutLine {
    label: String,
    name: String,
    href: Option<String>,
}

#[derive(Template)]
#[template(path = "person/handoff.html")]
struct HandoffPage<'a> {
    preview: &'a Preview,
    about: &'a [AboutLine],
    carries: String,
    never_carries: String,
    path: String,
    sign_in_path: String,
    person: Option<&'a Person<'a>>,
    zone: Zone,
    /// The action's form and all that belongs to it; `None` if only an agent can make the call.
    drafted: Option<DraftedView<'a>>,
    form: Option<FormView>,
    outcome: &'a Outcome,
    for_agents: ForAgents,
}

struct DraftedView<'a> {
    title: &'a str,
    note: Option<&'a str>,
    /// The price, if it is not free.
    price: Option<String>,
    writes: bool,
    /// The digest of the draft.
    digest: String,
    /// The publisher of its component, if it is not this host.
    publisher: Option<String>,
}

/// The data with which an agent takes the handoff up.
struct ForAgents {
    /// Field and value of the draft, as text.
    fields: Vec<(String, String)>,
    /// The call that returns the draft: it redeems the handoff, or shows it if no claim is required.
    redeem: String,
    /// The capability with which the agent redeems the handoff, and the one that verifies phone numbers.
    handoffs: String,
    phone_verification: String,
}

impl<'a> Handoff<'a> {
    pub(super) async fn of(
        app: &'a Arc<App>,
        token: &'a str,
        found: &'a Found,
        person: Option<Person<'a>>,
    ) -> Self {
        let mut about = Vec::new();
        for one in found.preview.about.iter().take(ABOUT) {
            about.push(AboutLine::of(app, one).await);
        }
        Self { snapshot: app.host.catalog.snapshot(), app, token, found, about, person }
    }

    /// Answers with the page, after `form` was sent, if one was.
    pub(super) fn respond(
        &self,
        status: StatusCode,
        outcome: &Outcome,
        form: Option<&PageForm>,
    ) -> Response {
        let preview = &self.found.preview;
        let drafted = Drafted::find(self.app, &self.snapshot, &preview.draft);
        let refused = match outcome {
            Outcome::Refused(refused) => Some(refused),
            _ => None,
        };
        // A person cannot use a handoff of the other mode.
        let can_send =
            self.person.as_ref().is_some_and(|person| person.test_mode == self.found.test_mode);
        let shown = HandoffPage {
            preview,
            about: &self.about,
            carries: carried(&preview.carries),
            never_carries: carried(&preview.never_carries),
            path: path(self.token),
            sign_in_path: sign_in_path(self.token),
            person: self.person.as_ref(),
            zone: self.person.as_ref().map(|person| person.zone.clone()).unwrap_or_default(),
            form: drafted
                .as_ref()
                .filter(|_| can_send)
                .and_then(|drafted| drafted.form(&preview.draft, form.map(|form| (form, refused)))),
            drafted: drafted.as_ref().map(|drafted| DraftedView {
                title: drafted.title(),
                note: drafted.page.note.as_deref(),
                price: price(drafted.action.descriptor.cost_credits),
                writes: drafted.page.writes,
                digest: drafted.digest(&preview.draft),
                publisher: publisher(drafted.capability),
            }),
            outcome,
            for_agents: self.for_agents(),
        };
        page(status, &shown, FormTargets::ThisHostWithScript)
    }

    fn for_agents(&self) -> ForAgents {
        let roles = self.app.host.catalog.roles();
        let assigned = |role| roles.assigned(role).unwrap_or_default().to_owned();
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let preview = &self.found.preview;
        let fields = preview.draft.input.iter().map(|(name, value)| (name.clone(), text(value)));
        let action = if preview.requires.claimed { REDEEM } else { PREVIEW };
        ForAgents {
            fields: fields.collect(),
            redeem: json!({ "action": action, "token": self.token }).to_string(),
            handoffs: assigned(Role::Handoffs),
            phone_verification: assigned(Role::PhoneVerification),
        }
    }
}

impl HandoffPage<'_> {
    /// Returns what the call would make, or what it has found.
    fn things(&self) -> &[Thing] {
        match self.outcome {
            Outcome::Tried(things) | Outcome::Found(things) => &things.things,
            _ => &[],
        }
    }
}

impl AboutLine {
    /// Links to the page of the record, which only the first city's records have: handoffs know no others.
    async fn of(app: &Arc<App>, about: &About) -> Self {
        let folder = record_feeds().find(|feed| feed.id == about.feed).and_then(page_folder);
        let city = City::all(app).next();
        let mut href = None;
        if let Some(((folder, city), publication)) =
            folder.zip(city.as_ref()).zip(city.as_ref().and_then(|city| city.feeds.current()))
            && let Ok(Some(_)) = publication.records.record(&about.feed, &about.id).await
        {
            href = Some(city.roads().page(&format!("{folder}{}", about.id)));
        }
        Self { label: label(&about.kind), name: about.name.clone(), href }
    }
}

/// Returns a number of credits in words.
fn price(credits: u32) -> Option<String> {
    match credits {
        0 => None,
        1 => Some("1 credit".to_owned()),
        more => Some(format!("{more} credits")),
    }
}

/// Returns names of data in words.
fn carried(names: &[String]) -> String {
    let told = names.iter().map(|name| {
        let known = CARRIED.iter().find(|(known, _)| known == name);
        known.map_or_else(|| words(name), |(_, text)| (*text).to_owned())
    });
    told.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_carries_is_told_in_words() {
        let names = ["role_id", "phone", "shoe_size"].map(str::to_owned);
        assert_eq!(carried(&names), "which role it is about; your phone number; shoe size");
    }
}
