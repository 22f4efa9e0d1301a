//! Outputs: encounters and references as one person sees them.

use crate::{claims::Claim, documents::*, refusals::*, states::*, types::*};
use people_kit::UNTRUSTED;
use people_kit::people::Person;
use people_kit::visible::{self, PersonView};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// An encounter with somebody. It says nothing about what the other person has written.
#[output]
pub(crate) struct EncounterView {
    encounter_id: String,
    kind: Kind,
    /// The meeting, the pairing or the application.
    subject_id: String,
    pub(crate) state: EncounterState,
    /// The version of what the person has written; 0 if they have written nothing.
    version: u64,
    /// The actions that the person may take now.
    allowed_actions: Vec<&'static str>,
    with: PersonView,
    /// The person's claims about the other one that are not shown yet.
    claims: BTreeSet<Claim>,
    /// The same for the text.
    text: Option<String>,
    /// When it was last written (RFC 3339); null if there is nothing.
    #[nullable]
    written_at: Option<String>,
    /// When it was opened (RFC 3339).
    opened_at: String,
    /// When the references are shown at the latest (RFC 3339).
    closes_at: String,
}

/// The reply of the person about whom a reference is.
#[output]
pub(crate) struct ReplyView {
    text: String,
    /// When it was written (RFC 3339).
    replied_at: String,
    /// Always `untrusted_user_content`: the person wrote it.
    trust: &'static str,
}

/// A reference that is shown.
#[output]
pub(crate) struct ReferenceView {
    reference_id: String,
    state: State,
    /// The version, which increases with every change.
    version: u64,
    /// The actions that the person may take now.
    allowed_actions: Vec<&'static str>,
    role: Role,
    author: PersonView,
    about: PersonView,
    claims: BTreeSet<Claim>,
    text: Option<String>,
    reply: Option<ReplyView>,
    /// The encounter, for its two people.
    encounter_id: Option<String>,
    /// When it was shown (RFC 3339).
    shown_at: String,
    /// Always `untrusted_user_content`: people wrote the texts here.
    trust: &'static str,
}

/// A person to whom somebody shows the references about themself.
#[output]
pub(crate) struct GrantView {
    owner_id: String,
    display_name: Option<String>,
    /// Since when (RFC 3339).
    since: String,
    /// Always `untrusted_user_content`: the name was written by the person.
    trust: &'static str,
}

/// Returns an encounter as one of its people sees it, who sees the other one.
pub(crate) fn encounter(
    call: &Call,
    me: &str,
    encounter: &Stored<Encounter>,
) -> Result<EncounterView> {
    let mut views = encounters(call, me, std::slice::from_ref(encounter))?;
    views.pop().ok_or(ReferenceError::EncounterNotFound)
}

/// Returns the encounters of a person with people whom they see.
pub(crate) fn encounters(
    call: &Call,
    me: &str,
    encounters: &[Stored<Encounter>],
) -> Result<Vec<EncounterView>> {
    let others = encounters.iter().filter_map(|encounter| encounter.value.other(me));
    let seen = visible::people(me, others)?;
    let drafts = DRAFTS.get_many(encounters.iter().map(|encounter| both(&encounter.id, me)))?;
    let mut views = Vec::new();
    for (encounter, own) in encounters.iter().zip(drafts) {
        let other = encounter.value.other(me).filter(|other| seen.contains_key(*other));
        let Some(other) = other else { continue };
        let value = &encounter.value;
        let state = value.state_at(call.now());
        let mut allowed_actions = ENCOUNTER.allowed(state);
        allowed_actions.retain(|action| *action != "withdraw" || own.is_some());
        let (version, own) = own.map_or((0, None), |own| (own.revision, Some(own.value)));
        views.push(view!(value => EncounterView {
            kind, subject_id;
            encounter_id: encounter.id.clone(),
            state,
            version,
            allowed_actions,
            with: PersonView::of(other, &seen),
            written_at: own.as_ref().map(|own| rfc3339(own.written_at)),
            text: own.as_ref().and_then(|own| own.text.clone()),
            claims: own.map(|own| own.claims).unwrap_or_default(),
            opened_at: rfc3339(value.opened_at),
            closes_at: rfc3339(value.closes_at),
        }));
    }
    Ok(views)
}

/// Returns a reference as somebody in this role sees it, who sees both of its people.
pub(crate) fn reference(
    me: &str,
    reference: &Stored<Reference>,
    role: Role,
) -> Result<ReferenceView> {
    let mut views = references(me, std::slice::from_ref(reference), role)?;
    views.pop().ok_or(ReferenceError::ReferenceNotFound)
}

/// Returns those of these references of which the person sees both people, as somebody in this role sees them.
pub(crate) fn references(
    me: &str,
    references: &[Stored<Reference>],
    role: Role,
) -> Result<Vec<ReferenceView>> {
    let people = references.iter().flat_map(|reference| people_of(&reference.value));
    let seen = visible::people(me, people)?;
    let is_seen = |reference: &&Stored<Reference>| {
        people_of(&reference.value).iter().all(|id| seen.contains_key(*id))
    };
    Ok(references.iter().filter(is_seen).map(|found| shown(found, role, &seen)).collect())
}

fn people_of(reference: &Reference) -> [&str; 2] {
    [&reference.author_id, &reference.about_id].map(String::as_str)
}

fn shown(
    reference: &Stored<Reference>,
    role: Role,
    seen: &BTreeMap<String, Person>,
) -> ReferenceView {
    let value = &reference.value;
    let mut allowed_actions =
        role.name().map(|name| REFERENCE.allowed_as(name, value.state)).unwrap_or_default();
    allowed_actions.retain(|action| *action != "reply" || value.reply.is_none());
    let reply = |reply: &Reply| ReplyView {
        text: reply.text.clone(),
        replied_at: rfc3339(reply.at),
        trust: UNTRUSTED,
    };
    view!(value => ReferenceView {
        state, claims, text;
        reference_id: reference.id.clone(),
        version: reference.revision,
        allowed_actions,
        role,
        author: PersonView::of(&value.author_id, seen),
        about: PersonView::of(&value.about_id, seen),
        reply: value.reply.as_ref().map(reply),
        encounter_id: (role != Role::Viewer).then(|| value.encounter_id.clone()),
        shown_at: rfc3339(value.shown_at),
        trust: UNTRUSTED,
    })
}

pub(crate) fn grant(grant: &Stored<Grant>, viewer: &Person) -> GrantView {
    GrantView {
        owner_id: grant.value.viewer_id.clone(),
        display_name: viewer.display_name.clone(),
        since: rfc3339(grant.value.since),
        trust: UNTRUSTED,
    }
}
