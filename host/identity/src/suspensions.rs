//! The suspension of people, in the unit of work of the call that decides it, and what is left of it after their
//! erasure.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{
        KeptSuspensionRecord, OwnerRecord, SuspensionRecord, commit_or_conflict, read, write,
    },
    secret,
};
use portolan_store::{Expectation, StateError, Unit};
use portolan_vocabulary::{Suspension, Timestamp};
use std::sync::Arc;

/// The time for which the suspension of an erased person is kept. Afterwards, the number may be another person's.
const KEPT_MS: u64 = 90 * 24 * 3600 * 1000;
/// The reason that the person reads who claims an agent again. The first one was erased with them.
const KEPT_REASON: &str = "You were suspended when your data was erased, and the suspension goes on. Ask the provider of this service to review it.";

impl Identity {
    pub(crate) async fn suspend_owner(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        suspension: Suspension,
    ) -> Result<(), StateError> {
        let (mut owner, revision) = self.load_owner(unit, owner_id).await?;
        let Suspension { reason, until, appeal } = suspension;
        let until = until.map(Timestamp::as_millis);
        owner.suspension = Some(SuspensionRecord { reason, until, appeal });
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await
    }

    pub(crate) async fn reinstate_owner(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<bool, StateError> {
        let (mut owner, revision) = self.load_owner(unit, owner_id).await?;
        let Some(record) = owner.suspension.take() else { return Ok(false) };
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await?;
        Ok(Suspension::from(record).is_in_force(unit.now()))
    }

    /// Keeps the suspension of a person who is to be erased, under the hash of their key. Returns the mode of the
    /// person; `None` if there is no such person.
    pub async fn keep_suspension(&self, owner_id: &str) -> Result<Option<bool>, IdentityError> {
        let mut unit = self.unit();
        let now = unit.now();
        let owner = read::<OwnerRecord>(&mut unit, &self.records.owners, owner_id).await?;
        let Some((owner, _)) = owner else { return Ok(None) };
        let test_mode = owner.is_of_test_mode();
        let suspension = owner.suspension.map(Suspension::from);
        let Some(Suspension { until, .. }) = suspension.filter(|kept| kept.is_in_force(now)) else {
            return Ok(Some(test_mode));
        };
        let until = until.map(Timestamp::as_millis);
        let expires_at = now.as_millis() + KEPT_MS;
        let expires_at = until.map_or(expires_at, |until| until.min(expires_at));
        let kept = KeptSuspensionRecord { until, expires_at };
        let id = secret::hash(&owner.person_key).hex();
        write(&mut unit, &self.records.kept_suspensions, &id, &kept, Expectation::Any).await?;
        commit_or_conflict(unit).await?;
        Ok(Some(test_mode))
    }

    /// Removes and returns the suspension with which a new person with this key begins: that of an erased person
    /// with the same key.
    pub(crate) async fn take_kept_suspension(
        &self,
        unit: &mut Unit,
        person_key: &str,
    ) -> Result<Option<SuspensionRecord>, StateError> {
        let now = unit.now().as_millis();
        let id = secret::hash(person_key).hex();
        let kept_suspensions = &self.records.kept_suspensions;
        let Some((kept, _)) = read::<KeptSuspensionRecord>(unit, kept_suspensions, &id).await?
        else {
            return Ok(None);
        };
        unit.delete(kept_suspensions, &id, Expectation::Any).await?;
        let kept = Some(kept).filter(|kept| kept.expires_at > now);
        let reason = KEPT_REASON.to_owned();
        Ok(kept.map(|kept| SuspensionRecord { reason, until: kept.until, appeal: None }))
    }

    /// Returns the suspension of an owner that is in force.
    pub(crate) async fn find_suspension(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<Option<Arc<Suspension>>, IdentityError> {
        let now = unit.now();
        let owner = read::<OwnerRecord>(unit, &self.records.owners, owner_id).await?;
        let suspension = owner.and_then(|(owner, _)| owner.suspension).map(Suspension::from);
        Ok(suspension.filter(|suspension| suspension.is_in_force(now)).map(Arc::new))
    }
}

impl From<SuspensionRecord> for Suspension {
    fn from(record: SuspensionRecord) -> Self {
        let SuspensionRecord { reason, until, appeal } = record;
        Self { reason, until: until.map(Timestamp::from_millis), appeal }
    }
}
