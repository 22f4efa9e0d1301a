//! The record of a company, and its current domain.

use crate::{domain, refusals::*, types::*};
use people_kit::organisations::{self, OfOrg};
use portolan_sdk::{feeds::Feed, prelude::*};

const TARGETS: Feed<Target> = Feed::new("targets");

#[derive(Debug, Deserialize)]
struct Target {
    properties: Properties,
}

#[derive(Debug, Deserialize)]
struct Properties {
    #[serde(default)]
    website: Option<String>,
}

/// The part of an organisation that is read.
#[derive(Debug, Deserialize)]
pub(crate) struct Org {
    domain: Option<String>,
    state: String,
    membership: Option<Membership>,
}

#[derive(Debug, Deserialize)]
struct Membership {
    role: String,
    state: String,
}

impl SubjectRef {
    /// Returns the record that the input names, and its id. Refuses unless exactly one of the two
    /// ids is given.
    pub(crate) fn parse(
        target_id: Option<String>,
        org_id: Option<String>,
    ) -> Result<(Self, String)> {
        let ((Some(id), None) | (None, Some(id))) = (&target_id, &org_id) else {
            let expected = "either a target of the map or an organisation";
            return Err(Refusal::validation("/target_id", "one_of", expected).into());
        };
        let subject_id = id.clone();
        Ok((Self { target_id, org_id }, subject_id))
    }

    /// Returns the subject of events about the record.
    pub(crate) fn subject(&self) -> String {
        match (&self.target_id, &self.org_id) {
            (Some(target_id), _) => format!("targets/{target_id}"),
            (None, org_id) => format!("orgs/{}", org_id.as_deref().unwrap_or_default()),
        }
    }

    /// Returns the domain that the caller may prove. Refuses if there is no such record, if it has
    /// no domain, or if the caller is no admin of an organisation that still has one.
    pub(crate) fn domain_to_prove(&self) -> Result<String> {
        if let Some(org_id) = &self.org_id {
            let org = org(org_id)?.ok_or_else(no_org)?;
            let query = OfOrg { org_id: org_id.clone() };
            let is_admin = |own: &Membership| {
                own.state == "member" && ["owner", "admin"].contains(&own.role.as_str())
            };
            if !org.membership.as_ref().is_some_and(is_admin)
                && !organisations::VACANT.call(&query)?.vacant
            {
                return Err(not_permitted(org_id).into());
            }
            return of_org(&org).ok_or_else(|| VerificationError::no_domain_of_org(org_id));
        }
        let target_id = self.target_id.as_deref().unwrap_or_default();
        let target = TARGETS.get(target_id)?.ok_or_else(no_target)?;
        of_target(&target.value).ok_or_else(|| VerificationError::no_domain_of_target(target_id))
    }

    /// Returns the current domain; `None` if the record or its domain no longer exists.
    pub(crate) fn domain_now(&self) -> Result<Option<String>> {
        if let Some(org_id) = &self.org_id {
            return Ok(org(org_id)?.as_ref().and_then(of_org));
        }
        let target = TARGETS.get(self.target_id.as_deref().unwrap_or_default())?;
        Ok(target.and_then(|target| of_target(&target.value)))
    }
}

fn of_target(target: &Target) -> Option<String> {
    domain::of_website(target.properties.website.as_deref()?)
}

/// Returns the domain of an organisation; `None` if the organisation is not active. Its members
/// chose the domain, so it counts only if it is itself a registrable domain.
fn of_org(org: &Org) -> Option<String> {
    let domain = org.domain.as_ref().filter(|_| org.state == "active")?;
    domain::registered(domain).filter(|registered| registered == domain)
}

/// `social_org get`
pub(crate) const ORG: Invocation<Value, Org> = Invocation::new("social_org", "get");

fn org(org_id: &str) -> Result<Option<Org>, Refusal> {
    match ORG.call(&json!({ "org_id": org_id })) {
        Ok(org) => Ok(Some(org)),
        Err(refusal) if refusal.code == "org_not_found" => Ok(None),
        Err(refusal) => Err(refusal),
    }
}
