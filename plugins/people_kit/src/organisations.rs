//! The people that act for an organisation or a company: calls of `social_org` and `owner_verification`.

use crate::{listings::Profile, people, relations};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// The maximum number of members of one organisation who are notified, or take part in one
/// conversation. All others who act in its name can read and answer.
pub const MOST_TOLD: usize = 20;
/// The maximum number of people who receive what goes to a target, or who have proved its domain.
pub const MOST_ACTING: usize = 50;
/// The roles in an organisation whose members act for it.
pub const ACTING_ROLES: [&str; 3] = ["owner", "admin", "recruiter"];

/// The input of `social_org acting_members`: an organisation, or the target to which one is linked.
#[message(Default)]
pub struct ActingQuery {
    #[schemars(length(min = 1, max = 40))]
    pub org_id: Option<String>,
    #[schemars(length(min = 1, max = 64))]
    pub target_id: Option<String>,
}

/// The output of `social_org acting_members`.
#[message(Default)]
pub struct ActingMembers {
    /// The organisation; null if there is none, or it is archived.
    pub org_id: Option<String>,
    /// Its members with the role owner, admin or recruiter, the highest roles first.
    pub owner_ids: Vec<String>,
}

/// The input of `social_org acting_for` and of `owner_verification speaks_for`.
#[message]
pub struct OfPerson {
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
}

/// The output of `social_org acting_for`: the organisations for which a person acts.
#[message(Default)]
pub struct ActingFor {
    pub orgs: Vec<ActingOrg>,
}

/// An organisation for which a person acts.
#[message]
pub struct ActingOrg {
    pub org_id: String,
    /// The linked target of the map.
    pub target_id: Option<String>,
}

/// The input of `social_org vacant`.
#[message]
pub struct OfOrg {
    #[schemars(length(min = 1, max = 40))]
    pub org_id: String,
}

/// The output of `social_org vacant`.
#[message]
pub struct Vacancy {
    /// Whether no owner and no admin of the organisation is there any more.
    pub vacant: bool,
}

/// The input of `owner_verification speakers`.
#[message]
pub struct OfTarget {
    #[schemars(length(min = 1, max = 64))]
    pub target_id: String,
}

/// The output of `owner_verification speakers`: the people who have proved the domain of a target,
/// at most 50.
#[message(Default)]
pub struct Speakers {
    pub owner_ids: Vec<String>,
}

/// The output of `owner_verification speaks_for`: the targets whose domain a person has proved, at
/// most 50.
#[message(Default)]
pub struct SpeaksFor {
    pub target_ids: Vec<String>,
}

pub const ACTING_MEMBERS: Invocation<ActingQuery, ActingMembers> =
    Invocation::new("social_org", "acting_members");
pub const ACTING_FOR: Invocation<OfPerson, ActingFor> = Invocation::new("social_org", "acting_for");
pub const VACANT: Invocation<OfOrg, Vacancy> = Invocation::new("social_org", "vacant");
pub const SPEAKERS: Invocation<OfTarget, Speakers> =
    Invocation::new("owner_verification", "speakers");
pub const SPEAKS_FOR: Invocation<OfPerson, SpeaksFor> =
    Invocation::new("owner_verification", "speaks_for");

/// The maximum number of people in one query.
const CHUNK: usize = 100;

/// Returns the people who act for an organisation: owners first, then admins, then recruiters. An
/// organisation that is archived or does not exist has none.
pub fn acting_members(org_id: &str) -> Result<Vec<String>, Refusal> {
    let query = ActingQuery { org_id: Some(org_id.to_owned()), target_id: None };
    Ok(ACTING_MEMBERS.call(&query)?.owner_ids)
}

/// Returns the organisations for which a person acts.
pub fn acting_orgs(owner_id: &str) -> Result<BTreeSet<String>, Refusal> {
    let orgs = ACTING_FOR.call(&OfPerson { owner_id: owner_id.to_owned() })?.orgs;
    Ok(orgs.into_iter().map(|org| org.org_id).collect())
}

/// Returns the people who act for a target of the map: those of the linked organisation, and those
/// who have proved the target's domain themselves. Nobody has claimed the target if it is empty.
pub fn acting_for_target(target_id: &str) -> Result<Vec<String>, Refusal> {
    let query = ActingQuery { org_id: None, target_id: Some(target_id.to_owned()) };
    let mut owner_ids = ACTING_MEMBERS.call(&query)?.owner_ids;
    let speakers = SPEAKERS.call(&OfTarget { target_id: target_id.to_owned() })?.owner_ids;
    for speaker in speakers {
        if !owner_ids.contains(&speaker) {
            owner_ids.push(speaker);
        }
    }
    owner_ids.truncate(MOST_ACTING);
    Ok(owner_ids)
}

/// Returns the members who may act in the name of an organisation and whom these people may see: a
/// member is left out if one of the people and the member are blocked, or if they are the same.
pub fn members_visible_to<'a>(
    org_id: &str,
    people: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<String>, Refusal> {
    let mut members = acting_members(org_id)?;
    for person in people {
        members.retain(|member| member != person);
        let mut hidden = BTreeSet::new();
        for chunk in members.chunks(CHUNK) {
            hidden.extend(relations::hidden(Some(person), chunk.iter().map(String::as_str))?);
        }
        members.retain(|member| !hidden.contains(member));
    }
    Ok(members)
}

/// Returns the member to whom work for an organisation passes when the person who did it is gone:
/// the first of its acting members who is active and whom these people may see.
pub fn successor<'a>(
    org_id: &str,
    gone: &str,
    people: impl IntoIterator<Item = &'a str>,
) -> Result<Option<String>, Refusal> {
    Ok(successors(org_id, gone, people)?.into_iter().next())
}

/// Returns the person who stands for a listing towards a viewer: its owner or, if the owner is `hidden` from
/// the viewer by a block, another acting member of its organisation. A block is between two people, so it
/// does not hide what belongs to an organisation; with nobody who could answer the viewer, it returns `None`.
pub fn stands_towards(
    viewer_id: &str,
    (owner_id, org_id): (&str, Option<&str>),
    hidden: &BTreeSet<String>,
) -> Result<Option<String>, Refusal> {
    match org_id {
        _ if !hidden.contains(owner_id) => Ok(Some(owner_id.to_owned())),
        Some(org_id) => successor(org_id, owner_id, [viewer_id]),
        None => Ok(None),
    }
}

/// Returns whether others than the owner answer a viewer for a listing, because it is an organisation's.
pub fn is_answered_by_others(
    viewer_id: &str,
    (owner_id, org_id): (&str, Option<&str>),
) -> Result<bool, Refusal> {
    match org_id {
        Some(org_id) => Ok(successor(org_id, owner_id, [viewer_id])?.is_some()),
        None => Ok(false),
    }
}

/// Leaves only the listings that no block hides from a viewer, each with the person who stands for it
/// towards them.
pub fn retain_visible(viewer_id: &str, profiles: Vec<Profile>) -> Result<Vec<Profile>, Refusal> {
    let owners = profiles.iter().map(|profile| profile.owner_id.as_str());
    let hidden = relations::hidden(Some(viewer_id), owners)?;
    let mut visible = Vec::with_capacity(profiles.len());
    for profile in profiles {
        let of = (profile.owner_id.as_str(), profile.org_id.as_deref());
        if let Some(owner_id) = stands_towards(viewer_id, of, &hidden)? {
            visible.push(Profile { owner_id, ..profile });
        }
    }
    Ok(visible)
}

/// Returns all members to whom work for an organisation can pass, in the order of [`acting_members`].
pub fn successors<'a>(
    org_id: &str,
    gone: &str,
    people: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<String>, Refusal> {
    let mut members = members_visible_to(org_id, people)?;
    members.retain(|member| member != gone);
    let mut active = BTreeSet::new();
    for chunk in members.chunks(CHUNK) {
        let known = people::people(chunk.iter().map(String::as_str))?;
        active.extend(
            known.into_values().filter(|person| person.active).map(|person| person.owner_id),
        );
    }
    members.retain(|member| active.contains(member));
    Ok(members)
}
