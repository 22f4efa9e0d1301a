//! The suspension of people, in the unit of work of the call that decides it, and what is left of it after their
//! erasure: it is kept for the number, and holds for the person who has the number next.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{
        KeptSuspensionRecord, OwnerRecord, PersonRecord, SuspensionRecord, TEST_PREFIX, commit,
        read, write,
    },
    secret,
    sessions::ATTEMPTS,
};
use portolan_store::{Expectation, StateError, Unit};
use portolan_vocabulary::{ApprovalPolicy, Suspension, Timestamp};
use serde_json::json;
use std::sync::Arc;

/// The longest time for which the suspension of an erased person is kept. Afterwards, the number may be another
/// person's.
const KEPT_MS: u64 = 90 * 24 * 3600 * 1000;

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
        if owner.is_erasing {
            self.keep_suspension(unit, owner_id, &owner).await?;
        }
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
        if owner.is_erasing {
            self.keep_suspension(unit, owner_id, &owner).await?;
        }
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await?;
        Ok(Suspension::from(record).is_in_force(unit.now()))
    }

    /// Begins the erasure of a person: from now on, a suspension in force is kept for the number, apart from the
    /// person. Sets a timer for the action `erased` of the capability that verifies phones, which forgets the
    /// number later; the timer names the person's key, which outlasts the erasure. Returns whether the person is one of
    /// test mode.
    pub async fn begin_erasure(&self, owner_id: &str) -> Result<bool, IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let found = read::<OwnerRecord>(&mut unit, &self.records.owners, owner_id).await?;
            let Some((mut owner, revision)) = found else { return Ok(false) };
            owner.is_erasing = true;
            self.keep_suspension(&mut unit, owner_id, &owner).await?;
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.owners, owner_id, &owner, expect).await?;
            let about = secret::hash(&owner.person_key).hex();
            let key = owner.person_key.strip_prefix(TEST_PREFIX).unwrap_or(&owner.person_key);
            let (about, input) = ((&*about, ""), json!({ "person_key": key }));
            let test_mode = owner.is_of_test_mode();
            self.run_phone_verification(&mut unit, "erased", about, test_mode, &input);
            if commit(unit).await? {
                return Ok(test_mode);
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Keeps the suspension in force of a person who is being erased under the hash of their key, or removes what
    /// was kept if there is none. Somebody else may have the number already: then it holds for them at once.
    async fn keep_suspension(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        erased: &OwnerRecord,
    ) -> Result<(), StateError> {
        let (now, key) = (unit.now(), &erased.person_key);
        let kept_until = erased.suspension_in_force(owner_id, now).map(|suspension| {
            let latest = now.as_millis() + KEPT_MS;
            suspension.until.map_or(latest, |until| until.as_millis().min(latest))
        });
        let next = read::<PersonRecord>(unit, &self.records.persons, key).await?;
        if let Some((next, _)) = next.filter(|(next, _)| next.owner_id != owner_id) {
            let (mut owner, revision) = self.load_owner(unit, &next.owner_id).await?;
            owner.keep_suspension_until(kept_until);
            let expect = Expectation::Revision(revision);
            return write(unit, &self.records.owners, &next.owner_id, &owner, expect).await;
        }
        let (id, kept_suspensions) = (secret::hash(key).hex(), &self.records.kept_suspensions);
        match kept_until {
            Some(expires_at) => {
                let kept = KeptSuspensionRecord { expires_at };
                write(unit, kept_suspensions, &id, &kept, Expectation::Any).await
            }
            None => unit.delete(kept_suspensions, &id, Expectation::Any).await.map(drop),
        }
    }

    /// Removes the suspension that is kept for a person's key, and returns its end.
    pub(crate) async fn take_kept_suspension(
        &self,
        unit: &mut Unit,
        person_key: &str,
    ) -> Result<Option<u64>, StateError> {
        let now = unit.now().as_millis();
        let id = secret::hash(person_key).hex();
        let kept_suspensions = &self.records.kept_suspensions;
        let Some((kept, _)) = read::<KeptSuspensionRecord>(unit, kept_suspensions, &id).await?
        else {
            return Ok(None);
        };
        unit.delete(kept_suspensions, &id, Expectation::Any).await?;
        Ok(Some(kept.expires_at).filter(|expires_at| *expires_at > now))
    }

    /// Ends the suspension that a person has taken over with their number. Returns whether there was one.
    pub async fn lift_kept_suspension(&self, owner_id: &str) -> Result<bool, IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let now = unit.now().as_millis();
            let found = read::<OwnerRecord>(&mut unit, &self.records.owners, owner_id).await?;
            let Some((mut owner, revision)) = found else { return Ok(false) };
            let Some(until) = owner.kept_suspension_until.take() else { return Ok(false) };
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.owners, owner_id, &owner, expect).await?;
            if commit(unit).await? {
                self.invalidate_standings();
                return Ok(until > now);
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Returns the suspension of an owner that is in force, and what their agents may do alone, if that is limited.
    pub(crate) async fn find_limits(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<(Option<Arc<Suspension>>, Option<Arc<ApprovalPolicy>>), IdentityError> {
        let now = unit.now();
        let owner = read::<OwnerRecord>(unit, &self.records.owners, owner_id).await?;
        let Some((owner, _)) = owner else { return Ok((None, None)) };
        let suspension = owner.suspension_in_force(owner_id, now).map(Arc::new);
        Ok((suspension, owner.policy.map(Arc::new)))
    }
}

impl OwnerRecord {
    /// Takes over a suspension that was kept for the person's number, unless a later one was taken over before.
    pub(crate) fn keep_suspension_until(&mut self, until: Option<u64>) {
        self.kept_suspension_until = self.kept_suspension_until.max(until);
    }

    /// Returns the suspension in force that ends last.
    fn suspension_in_force(&self, owner_id: &str, now: Timestamp) -> Option<Suspension> {
        let decided = self.suspension.clone().map(Suspension::from);
        let kept = self.kept_suspension_until.map(|until| kept_suspension(owner_id, until));
        let in_force =
            [decided, kept].into_iter().flatten().filter(|suspension| suspension.is_in_force(now));
        in_force.max_by_key(|suspension| suspension.until.map_or(u64::MAX, Timestamp::as_millis))
    }
}

/// Returns the suspension of a person who has the number of an erased one. The reason of the first suspension was
/// erased. It cannot be appealed in a call, because no report leads to it.
fn kept_suspension(owner_id: &str, until: u64) -> Suspension {
    let until = Timestamp::from_millis(until);
    let time = until.to_string();
    let day = time.get(..10).unwrap_or_default();
    let reason = format!(
        "Somebody with your phone number was suspended and then had their data erased, so the number stays suspended until {day}. If this was not you, or to have it reviewed, write to the provider of this service and name your id {owner_id}: the provider can end it."
    );
    Suspension { reason, until: Some(until), appeal: None }
}

impl From<SuspensionRecord> for Suspension {
    fn from(record: SuspensionRecord) -> Self {
        let SuspensionRecord { reason, until, appeal } = record;
        Self { reason, until: until.map(Timestamp::from_millis), appeal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    const NOW: u64 = 1_800_000_000_000;

    fn owner(decided: Option<Option<u64>>, kept: Option<u64>) -> OwnerRecord {
        let decided = decided.map(|until| json!({ "reason": "Spam.", "until": until }));
        serde_json::from_value(json!({
            "person_key": "prs", "agents": [], "suspension": decided, "kept_suspension_until": kept,
        }))
        .unwrap()
    }

    fn in_force(owner: &OwnerRecord) -> Option<Suspension> {
        owner.suspension_in_force(OWNER, Timestamp::from_millis(NOW))
    }

    #[test]
    fn the_suspension_that_ends_last_is_in_force() {
        let (past, soon, later) = (Some(NOW - 1), Some(NOW + 1), Some(NOW + 2));
        let until = |decided, kept| {
            let suspension = in_force(&owner(decided, kept))?;
            Some((suspension.until.map(Timestamp::as_millis), suspension.reason == "Spam."))
        };
        assert_eq!(until(None, None), None);
        assert_eq!(until(Some(past), past), None);
        assert_eq!(until(Some(soon), None), Some((soon, true)));
        assert_eq!(until(Some(soon), later), Some((later, false)));
        assert_eq!(until(Some(later), soon), Some((later, true)));
        assert_eq!(until(Some(None), later), Some((None, true)));
    }

    #[test]
    fn a_kept_suspension_says_until_when_and_whom_to_ask() {
        let kept = in_force(&owner(None, Some(NOW + KEPT_MS))).unwrap();
        for part in ["until 2027-04-15", "provider", OWNER] {
            assert!(kept.reason.contains(part), "{part}: {}", kept.reason);
        }
    }

    #[test]
    fn a_shorter_kept_suspension_does_not_replace_a_longer_one() {
        let mut owner = owner(None, Some(NOW + 2));
        for (taken_over, expected) in [(None, 2), (Some(NOW + 1), 2), (Some(NOW + 3), 3)] {
            owner.keep_suspension_until(taken_over);
            assert_eq!(owner.kept_suspension_until, Some(NOW + expected));
        }
    }
}
