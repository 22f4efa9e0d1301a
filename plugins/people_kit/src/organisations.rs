//! Who acts for a company: calls of `social_org` and `owner_verification`.

use portolan_sdk::prelude::*;

/// The maximum number of people who are named as acting for a company.
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
    /// Its members with the role owner, admin or recruiter, the highest roles first, at most 50.
    pub owner_ids: Vec<String>,
}

/// The input of `social_org acting_for` and of `owner_verification speaks_for`.
#[message]
pub struct OfPerson {
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
}

/// The output of `social_org acting_for`: the organisations for which a person acts, at most 50.
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
pub const SPEAKERS: Invocation<OfTarget, Speakers> =
    Invocation::new("owner_verification", "speakers");
pub const SPEAKS_FOR: Invocation<OfPerson, SpeaksFor> =
    Invocation::new("owner_verification", "speaks_for");

/// Returns the people who act for an organisation.
pub fn acting_members(org_id: &str) -> Result<Vec<String>, Refusal> {
    let query = ActingQuery { org_id: Some(org_id.to_owned()), target_id: None };
    Ok(ACTING_MEMBERS.call(&query)?.owner_ids)
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
