//! Verifications: started, read, revoked.

use crate::{limits::*, refusals::*, states::*, types::*, views::*};
use portolan_sdk::{
    migration::{Migrated, Migration},
    prelude::*,
};
use std::collections::BTreeMap;

pub(crate) fn start(call: &Call, input: Start) -> Result<VerificationView> {
    let me = call.require_owner()?.to_owned();
    let (of, subject_id) =
        SubjectRef::parse(input.target_id.map(Into::into), input.org_id.map(Into::into))?;
    let domain = of.domain_to_prove()?;
    let mine = field("owner_id").eq(&me).and(field("subject_id").eq(&subject_id));
    let before = VERIFICATIONS.find(Query::new().filter(mine).limit(1))?.into_documents().next();
    let Some(mut before) = before else {
        CHALLENGES_A_DAY.count(call, DAYS, &me, status())?;
        let verification = Verification {
            owner_id: me,
            subject_id,
            of,
            domain,
            method: input.method,
            state: State::ChallengeIssued,
            challenge: 1,
            issued_at: call.now(),
            changed_at: call.now(),
            checked_at: None,
            lookup_id: None,
            in_vain: 0,
            reason: None,
            verified_at: None,
            stale_since: None,
        };
        let started = VERIFICATIONS.add(call.new_id("ver"), verification, call.now())?;
        await_proof(call, &started)?;
        return Ok(view(&started)?);
    };
    let is_same_domain = before.value.domain == domain;
    let is_pending =
        before.value.state == State::ChallengeIssued && before.value.method == input.method;
    if is_same_domain && is_pending {
        return Ok(view(&before)?);
    }
    if is_same_domain && before.value.state.is_proved() {
        // A subscriber may have discarded the verification while the record had another domain.
        notify(&before, record_proof(&before)?)?;
        return Ok(view(&before)?);
    }
    CHALLENGES_A_DAY.count(call, DAYS, &me, status())?;
    let verification = &mut before.value;
    verification.domain = domain;
    verification.method = input.method;
    verification.challenge += 1;
    verification.issued_at = call.now();
    (
        verification.in_vain,
        verification.lookup_id,
        verification.verified_at,
        verification.stale_since,
    ) = (0, None, None, None);
    enter(call, &mut before, "start", State::ChallengeIssued, None)?;
    await_proof(call, &before)?;
    Ok(view(&before)?)
}

fn await_proof(call: &Call, stored: &Stored<Verification>) -> Result<(), HostError> {
    timers::cancel(&timer("recheck", stored))?;
    set_timer(stored, "expire", call.now() + CHALLENGE_FOR)
}

pub(crate) fn timer(action: &str, stored: &Stored<Verification>) -> String {
    format!("{action}/{}", stored.id)
}

/// Sets the timer that runs an action about this challenge.
pub(crate) fn set_timer(
    stored: &Stored<Verification>,
    action: &str,
    at: u64,
) -> Result<(), HostError> {
    timers::set(&timer(action, stored), at, action, &About::of(&stored.id, &stored.value))
}

/// Returns the verification if `about` names its current challenge and `is_expected` returns true;
/// otherwise `None`.
pub(crate) fn find_current(
    about: &About,
    is_expected: impl Fn(&Verification) -> bool,
) -> Result<Option<Stored<Verification>>, HostError> {
    let found = VERIFICATIONS.get(&about.verification_id)?;
    Ok(found.filter(|found| found.value.challenge == about.challenge && is_expected(&found.value)))
}

/// Applies a transition, saves the verification, and publishes the event if the state has changed.
pub(crate) fn enter(
    call: &Call,
    stored: &mut Stored<Verification>,
    action: &str,
    to: State,
    reason: Option<String>,
) -> Result<()> {
    let before = stored.value.state;
    stored.step_to(&VERIFICATION, action, to)?;
    let verification = &mut stored.value;
    verification.reason = reason;
    if before != to {
        verification.changed_at = call.now();
    }
    stored.save()?;
    let anybody_verified = record_proof(stored)?;
    if before != to {
        notify(stored, anybody_verified)?;
    }
    Ok(())
}

/// Publishes the event. Events about one record are ordered, so that several people's changes are
/// not mixed up.
fn notify(stored: &Stored<Verification>, anybody_verified: bool) -> Result<(), HostError> {
    let verification = &stored.value;
    let more = view!(verification => Updated { owner_id, of, domain; anybody_verified });
    let data = Data::by_owner(
        &verification.owner_id,
        stored.resource(),
        summary(verification.state),
        more,
    );
    let data = data.next(status_of(&stored.id));
    UPDATED.publish(
        Audience::Owner(verification.owner_id.clone()),
        verification.of.subject(),
        &data,
    )
}

fn summary(state: State) -> &'static str {
    match state {
        State::ChallengeIssued => "A domain is to be proved again.",
        State::Verified => "You speak for a company: its domain is proved.",
        State::Stale => "A domain must be proved again: the text was not found at the last check.",
        State::Failed => "A domain was not proved: the text was not found.",
        State::Expired => "A domain was not proved in time.",
        State::Revoked => "You no longer speak for a company.",
    }
}

/// Records in one document who has proved the record's domain, so that two concurrent changes
/// conflict. Returns whether anybody has proved this domain.
fn record_proof(stored: &Stored<Verification>) -> Result<bool, HostError> {
    let verification = &stored.value;
    let mut subject = SUBJECTS.get_or_default(&verification.subject_id)?;
    let proof = verification.state.is_proved().then(|| Proof {
        domain: verification.domain.clone(),
        owner_id: verification.owner_id.clone(),
    });
    let before = match proof.clone() {
        Some(proof) => subject.value.proved.insert(stored.id.clone(), proof),
        None => subject.value.proved.remove(&stored.id),
    };
    if before != proof {
        SUBJECTS.save(&mut subject)?;
    }
    Ok(subject.value.proved.values().any(|proof| proof.domain == verification.domain))
}

#[derive(Deserialize)]
struct OldSubject {
    proved: BTreeMap<String, String>,
}

/// Gives the proofs of version 1 the form of version 2. Their people are added at the next check.
pub(crate) fn migrate(input: Migration) -> Migrated {
    input.each(|old: OldSubject| {
        let proofs = old.proved.into_iter().map(|(verification_id, domain)| {
            (verification_id, Proof { domain, owner_id: String::new() })
        });
        Ok(Subject { proved: proofs.collect() })
    })
}

/// Returns one of the caller's own verifications. Refuses if the caller expects another version.
pub(crate) fn load_own(call: &Call, input: &OwnInput) -> Result<Stored<Verification>> {
    let stored = Verification::load_own(call, &input.verification_id)?;
    let current = view(&stored)?;
    stored.ensure_version(input.expected_version, || current, status_of(&stored.id))?;
    Ok(stored)
}

pub(crate) fn revoke(call: &Call, input: &OwnInput) -> Result<VerificationView> {
    let mut stored = load_own(call, input)?;
    end(call, &mut stored, "revoke", "The person has given it up.".to_owned())?;
    Ok(view(&stored)?)
}

pub(crate) fn withdraw(call: &Call, input: Withdraw) -> Result<VerificationView> {
    let mut stored = Verification::load(&input.verification_id)?;
    end(call, &mut stored, "withdraw", input.reason.into())?;
    Ok(view(&stored)?)
}

pub(crate) fn end(
    call: &Call,
    stored: &mut Stored<Verification>,
    action: &str,
    reason: String,
) -> Result<()> {
    stored.value.lookup_id = None;
    enter(call, stored, action, State::Revoked, Some(reason))?;
    timers::cancel(&timer("expire", stored))?;
    timers::cancel(&timer("recheck", stored))?;
    Ok(())
}

pub(crate) fn expire(call: &Call, input: &About) -> Result<()> {
    let is_pending = |value: &Verification| value.state == State::ChallengeIssued;
    let Some(mut stored) = find_current(input, is_pending)? else { return Ok(()) };
    stored.value.lookup_id = None;
    let reason = "The text was not found in time.".to_owned();
    enter(call, &mut stored, "expire", State::Expired, Some(reason))
}

pub(crate) fn status_for(me: &str, input: Status) -> Result<Items<VerificationView>> {
    if let Some(id) = &input.verification_id {
        let found = VERIFICATIONS.get(id)?.filter(|found| found.value.is_visible_to(me));
        let items = vec![view(&found.ok_or_else(VerificationError::unknown)?)?];
        return Ok(Items { items, next_cursor: None });
    }
    let page = VERIFICATIONS.find(input.page.last_changed(field("owner_id").eq(me)))?;
    Items::try_of(page, |verification| Ok(view(&verification)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::test;

    const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

    fn verification(state: State) -> Stored<Verification> {
        let value = json!({
            "owner_id": OWNER, "subject_id": "tgt_1", "target_id": "tgt_1", "org_id": null,
            "domain": "copperleaf.example", "method": "dns_txt", "state": state, "challenge": 1,
            "issued_at": 1, "changed_at": 1, "checked_at": null, "lookup_id": null,
            "reason": null, "verified_at": 1, "stale_since": null,
        });
        Stored::new("ver_1", serde_json::from_value(value).unwrap(), 1)
    }

    #[test]
    fn a_proof_names_its_person_so_that_their_erasure_removes_it() {
        let mut world = test::world();
        let verified = verification(State::Verified);
        assert!(world.run(|_| record_proof(&verified).map_err(Refusal::from)).unwrap());
        let subject = world.get(SUBJECTS, "tgt_1").unwrap().value;
        assert_eq!(subject.proved["ver_1"].owner_id, OWNER);
        let people = SUBJECTS.declaration().people.unwrap();
        let paths: Vec<_> = people.iter().map(|person| person.path.as_str()).collect();
        assert_eq!(paths, ["proved{}.owner_id"]);
        let revoked = verification(State::Revoked);
        assert!(!world.run(|_| record_proof(&revoked).map_err(Refusal::from)).unwrap());
        assert!(world.get(SUBJECTS, "tgt_1").unwrap().value.proved.is_empty());
    }

    #[test]
    fn a_proof_of_an_earlier_form_gets_its_person_at_the_next_check() {
        let migration = json!({
            "collection": "subjects", "from": 1, "to": 2,
            "documents": [{ "id": "tgt_1", "document": { "proved": { "ver_1": "copperleaf.example" } } }],
        });
        let migration: Migration = serde_json::from_value(migration).unwrap();
        let migrated = migrate(migration).documents.remove(0).document.unwrap();
        let old: Subject = serde_json::from_value(migrated).unwrap();
        assert_eq!(old.proved["ver_1"].owner_id, "");
        let mut world = test::world().document(SUBJECTS, "tgt_1", &old);
        let verified = verification(State::Verified);
        world.run(|_| record_proof(&verified).map_err(Refusal::from)).unwrap();
        let subject = world.get(SUBJECTS, "tgt_1").unwrap().value;
        assert_eq!(subject.proved["ver_1"].owner_id, OWNER);
    }
}
