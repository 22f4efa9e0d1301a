//! The suspension of people, in the unit of work of the call that decides it.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{OwnerRecord, SuspensionRecord, read, write},
};
use portolan_store::{Expectation, StateError, Unit};
use portolan_vocabulary::{Suspension, Timestamp};
use std::sync::Arc;

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
