//! Whether a loaded component may serve: its id and its namespaces of events belong to its publisher, and
//! what it needs is permitted.

use crate::{
    candidate::{Candidate, namespaces},
    capability::Capability,
    catalog::Catalog,
    permission::Permission,
    reach::{ensure_own_families, needed_permissions},
    refusal::LoadError,
    roles,
};
use portolan_store::{InstalledId, VersionRecord};
use portolan_vocabulary::{FINDER_TOOLS, Publisher};
use std::collections::{BTreeMap, BTreeSet};

/// Ids that begin with this, and a separator, are the host publisher's.
const RESERVED: &str = "svc";

impl Catalog {
    /// Ensures that a capability may serve next to others. Nothing is recorded, because the capability may
    /// still be refused. A version that is older than one that served is refused unless `permits_older`.
    pub(super) async fn ensure_admissible(
        &self,
        candidate: &Capability,
        permits_older: bool,
        others: impl Iterator<Item = &Capability> + Clone,
    ) -> Result<(), LoadError> {
        let installed = self.store.installed_ids().await?;
        ensure_own_id(candidate, &installed, &self.options.trust.reserved_ids)?;
        if !permits_older {
            ensure_not_older(candidate, &installed)?;
        }
        let missing = self.missing(candidate, others);
        if !missing.is_empty() {
            let candidate = Box::new(Candidate::new(candidate));
            return Err(LoadError::PendingApproval { candidate, missing });
        }
        ensure_own_families(candidate).map_err(LoadError::Descriptor)?;
        let owners = self.store.namespaces().await?;
        let (publisher, host) = (candidate.publisher.to_string(), Publisher::Host.to_string());
        for namespace in namespaces(candidate) {
            let is_reserved =
                self.options.trust.reserved_namespaces.iter().any(|reserved| reserved == namespace);
            let owner = match owners.get(namespace) {
                None if is_reserved => &host,
                owner => owner.unwrap_or(&publisher),
            };
            ensure_own_namespace(candidate, namespace, owner)?;
        }
        Ok(())
    }

    /// Records that a capability's id and namespaces are its publisher's. Fails if another node has recorded
    /// another publisher in the meantime. If the id belongs to a key that the publisher's key succeeds, the
    /// id and its permissions become the publisher's; the namespaces stay with both keys, because other
    /// capabilities of the publisher may still be signed with the old key.
    pub(super) async fn claim_names(&self, candidate: &Capability) -> Result<(), LoadError> {
        let (now, publisher) = (self.options.clock.now(), candidate.publisher.to_string());
        let owner = self.store.claim_id(&candidate.id, &publisher, now).await?;
        ensure_owner(candidate, &owner)?;
        if owner.publisher != publisher {
            self.store.transfer_to_successor(&candidate.id, &owner.publisher, &publisher).await?;
            self.record_decision(&candidate.id, &publisher, "publisher:succeed", None).await?;
        }
        for namespace in namespaces(candidate) {
            let owner = self.store.claim_namespace(namespace, &publisher).await?;
            ensure_own_namespace(candidate, namespace, &owner)?;
        }
        Ok(())
    }

    /// Records the version of a signed capability that is about to serve, if it is the highest so far.
    pub(super) async fn record_version(&self, candidate: &Capability) -> Result<(), LoadError> {
        let installed = self.store.installed_ids().await?;
        let highest = installed.get(&*candidate.id).and_then(|owner| owner.highest_version.clone());
        let version = candidate.descriptor.version.as_str();
        let is_newer = highest.as_ref().is_none_or(|highest| is_older(highest, version));
        if candidate.publisher.is_key() && is_newer {
            let (id, highest) = (&candidate.id, highest.as_deref());
            self.store.put_highest_version(id, highest, Some(version)).await?;
        }
        Ok(())
    }

    /// Records the version that the operator rolls back to as the highest one, although a higher one served.
    pub(super) async fn lower_version(&self, record: &VersionRecord) -> Result<(), LoadError> {
        let installed = self.store.installed_ids().await?;
        let highest = installed.get(&record.capability_id);
        if let Some(highest) = highest.and_then(|owner| owner.highest_version.as_deref()) {
            let (id, version) = (&record.capability_id, record.version.as_str());
            self.store.put_highest_version(id, Some(highest), Some(version)).await?;
        }
        Ok(())
    }

    /// Returns the permissions that a capability needs and does not have.
    pub(super) fn missing<'a>(
        &self,
        capability: &Capability,
        others: impl Iterator<Item = &'a Capability> + Clone,
    ) -> Vec<Permission> {
        let grants = self.grants();
        let mut needed: BTreeSet<_> = needed_permissions(capability, others);
        needed.extend(roles::needed_permissions(capability, &self.options.roles));
        needed.into_iter().filter(|needed| !grants.permit(&capability.id, needed)).collect()
    }
}

/// The callers in the audit log that are no capability.
const CALLERS: [&str; 3] = ["operator", "system", "host"];

fn ensure_own_id(
    candidate: &Capability,
    installed: &BTreeMap<String, InstalledId>,
    reserved: &[String],
) -> Result<(), LoadError> {
    let id = &*candidate.id;
    let is_host = candidate.publisher == Publisher::Host;
    let after = id.strip_prefix(RESERVED);
    if !is_host && after.is_some_and(|rest| rest.starts_with(['.', '_', '-'])) {
        return Err(LoadError::ReservedId { id: id.to_owned() });
    }
    let is_reserved =
        |own: &str| FINDER_TOOLS.iter().chain(&CALLERS).any(|name| skeleton(name) == skeleton(own));
    if is_reserved(id) || candidate.tool_names().any(|name| is_reserved(&name)) {
        return Err(LoadError::ReservedId { id: id.to_owned() });
    }
    if let Some(owner) = installed.get(id) {
        return ensure_owner(candidate, owner);
    }
    let mut others = installed.iter().filter(|(_, owner)| !is_own(candidate, &owner.publisher));
    if let Some((other, _)) = others.find(|(other, _)| skeleton(other) == skeleton(id)) {
        return Err(LoadError::LooksAlike { id: id.to_owned(), other: other.clone() });
    }
    match !is_host && reserved.iter().any(|other| skeleton(other) == skeleton(id)) {
        true => Err(LoadError::ReservedId { id: id.to_owned() }),
        false => Ok(()),
    }
}

fn ensure_owner(candidate: &Capability, owner: &InstalledId) -> Result<(), LoadError> {
    if is_own(candidate, &owner.publisher) {
        return Ok(());
    }
    let owner = owner.publisher.clone();
    Err(LoadError::PublisherMismatch { candidate: Box::new(Candidate::new(candidate)), owner })
}

/// Returns whether this owner is the capability's publisher, or a key that the publisher's key succeeds.
fn is_own(candidate: &Capability, owner: &str) -> bool {
    let mut keys = std::iter::once(&candidate.publisher).chain(&candidate.predecessors);
    keys.any(|publisher| publisher.to_string() == owner)
}

fn ensure_own_namespace(
    candidate: &Capability,
    namespace: &str,
    owner: &str,
) -> Result<(), LoadError> {
    if is_own(candidate, owner) {
        return Ok(());
    }
    Err(LoadError::NamespaceTaken {
        candidate: Box::new(Candidate::new(candidate)),
        namespace: namespace.to_owned(),
        owner: owner.to_owned(),
    })
}

fn ensure_not_older(
    candidate: &Capability,
    installed: &BTreeMap<String, InstalledId>,
) -> Result<(), LoadError> {
    let highest = installed.get(&*candidate.id).and_then(|owner| owner.highest_version.clone());
    match highest {
        Some(highest) if is_older(&candidate.descriptor.version, &highest) => {
            Err(LoadError::Downgrade {
                id: candidate.id.to_string(),
                version: candidate.descriptor.version.clone(),
                highest,
            })
        }
        _ => Ok(()),
    }
}

/// Returns whether a version precedes another one by Semantic Versioning; `false` if one cannot be parsed.
fn is_older(version: &str, other: &str) -> bool {
    let parse = |text: &str| semver::Version::parse(text).ok();
    match (parse(version), parse(other)) {
        (Some(version), Some(other)) => version.cmp_precedence(&other).is_lt(),
        _ => false,
    }
}

/// Returns the skeleton of an id. Ids that differ only in separators, or in characters that look alike, have
/// the same skeleton.
fn skeleton(id: &str) -> String {
    let alike = |character: char| match character {
        '.' | '-' | '_' => None,
        '1' | 'i' | 'l' => Some('l'),
        '0' | 'o' => Some('o'),
        '5' | 's' => Some('s'),
        other => Some(other),
    };
    id.chars().filter_map(alike).collect::<String>().replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_look_alike_have_one_skeleton() {
        for (one, other) in [
            ("city.map-search", "city.map_search"),
            ("orders", "0rders"),
            ("agent_credits", "agentcredits"),
            ("agent_credits", "agent__credits_"),
            ("planner", "p1anner"),
            ("modern", "rnodem"),
            ("window", "vvindovv"),
            ("tasks", "ta5k5"),
        ] {
            assert_eq!(skeleton(one), skeleton(other));
        }
        assert_ne!(skeleton("orders"), skeleton("order"));
        assert_ne!(skeleton("window"), skeleton("widow"));
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_older("1.9.0", "1.10.0"));
        assert!(is_older("2.0.0-rc.1", "2.0.0"));
        assert!(!is_older("2.0.0", "2.0.0"));
        // Build metadata makes no other version.
        assert!(!is_older("2.0.0+a", "2.0.0+b"));
    }
}
