//! The sessions of people who have signed in with a browser, and their end.
//!
//! A session is valid while the record of its owner lists it. Every request reads both records from the store,
//! so a session that has ended is refused by every node from the commit on.

use crate::{
    auth_action::AuthAction,
    error::IdentityError,
    identity::Identity,
    records::{OwnerRecord, SessionRecord, commit, parse, read, write},
    secret,
};
use portolan_store::{AuditRecord, Expectation, StateError, TimerChange, TimerKey, Unit};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};

/// The life of a session.
const SESSION_S: u64 = 12 * 3600;
/// The maximum number of sessions of a person. Another sign-in ends the oldest one.
const SESSIONS: usize = 20;
/// The minimum time between two updates of a session's stored time of use.
const USE_INTERVAL_MS: u64 = 3_600_000;
/// The maximum number of attempts to commit an end while the person's records change.
pub(crate) const ATTEMPTS: u32 = 20;

/// The session of a person who has signed in.
#[derive(Debug, Clone)]
pub struct Session {
    /// The hash of the cookie, which tells nothing about the cookie.
    pub id: String,
    pub owner_id: String,
    /// The credential that the person signed in with: the phone number with most digits hidden, such as
    /// `+1•••••0123`, or the name of a passkey.
    pub proof: String,
    /// The family of the browser, such as `Firefox`, if it is known.
    pub browser: Option<String>,
    pub started_at: Timestamp,
    /// Accurate to about an hour.
    pub last_used_at: Timestamp,
}

/// A session to start: its person and browser.
#[derive(Debug)]
pub struct NewSession {
    pub owner_id: String,
    /// The credential that the person signed in with, as the pages show it.
    pub proof: String,
    /// The family of the browser, if it is known.
    pub browser: Option<&'static str>,
}

/// The proof with which a person signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The person has the phone of their number.
    Number,
    /// The person has one of their passkeys.
    Passkey,
}

impl Identity {
    /// Starts a session. Returns its cookie. For a person who has passkeys, the proof of the number alone is
    /// refused.
    pub async fn start_session(
        &self,
        new: &NewSession,
        proof: Proof,
    ) -> Result<String, IdentityError> {
        let cookie = secret::new("");
        let id = secret::hash(&cookie).hex();
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (owner, _) = self.load_owner(&mut unit, &new.owner_id).await?;
            if proof == Proof::Number && self.needs_passkey(&owner) {
                return Err(IdentityError::PasskeyRequired);
            }
            unit.record_audit(AuditRecord {
                owner_id: Some(new.owner_id.clone()),
                ..self.audit_row(AuthAction::SignedIn)
            });
            let now = unit.now().as_millis();
            let record = SessionRecord {
                owner_id: new.owner_id.clone(),
                proof: new.proof.clone(),
                browser: new.browser.map(str::to_owned),
                started_at: now,
                last_used_at: now,
                expires_at: now + SESSION_S * 1000,
            };
            write(&mut unit, &self.records.sessions, &id, &record, Expectation::Absent).await?;
            let test_mode = self.list_session(&mut unit, &new.owner_id, &id).await?;
            let input = json!({ "owner_id": new.owner_id, "browser": new.browser, "at": now });
            self.run_phone_verification(&mut unit, "signed_in", (&id, ""), test_mode, &input);
            if commit(unit).await? {
                return Ok(cookie);
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Adds a session to the list of its owner, without those that have expired. If there are too many, the
    /// oldest one ends. Returns whether the owner is one of test mode.
    async fn list_session(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        id: &str,
    ) -> Result<bool, StateError> {
        let (mut owner, revision) = self.load_owner(unit, owner_id).await?;
        let valid = self.valid_sessions(unit, &owner).await?;
        owner.sessions = valid.into_iter().map(|session| session.id).collect();
        let excess = (owner.sessions.len() + 1).saturating_sub(SESSIONS);
        for ended in owner.sessions.drain(..excess) {
            unit.delete(&self.records.sessions, &ended, Expectation::Any).await?;
        }
        owner.sessions.push(id.to_owned());
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await?;
        Ok(owner.is_of_test_mode())
    }

    /// Finds the session with this cookie.
    pub async fn find_session_by_cookie(
        &self,
        cookie: &str,
    ) -> Result<Option<Session>, IdentityError> {
        let mut unit = self.unit();
        let now = unit.now().as_millis();
        let id = secret::hash(cookie).hex();
        let session = read::<SessionRecord>(&mut unit, &self.records.sessions, &id).await?;
        let Some((mut record, revision)) = session else { return Ok(None) };
        let owner = read::<OwnerRecord>(&mut unit, &self.records.owners, &record.owner_id).await?;
        let is_listed = owner.is_some_and(|(owner, _)| owner.sessions.contains(&id));
        if !is_listed || record.expires_at <= now {
            return Ok(None);
        }
        if record.last_used_at + USE_INTERVAL_MS <= now {
            record.last_used_at = now;
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.sessions, &id, &record, expect).await?;
            // After a conflict, the session may have ended.
            if !commit(unit).await? {
                return Ok(None);
            }
        }
        Ok(Some(record.session(id)))
    }

    /// Lists the sessions of a person, the oldest first.
    pub async fn list_sessions(&self, owner_id: &str) -> Result<Vec<Session>, IdentityError> {
        let mut unit = self.unit();
        let (owner, _) = self.load_owner(&mut unit, owner_id).await?;
        Ok(self.valid_sessions(&mut unit, &owner).await?)
    }

    async fn valid_sessions(
        &self,
        unit: &mut Unit,
        owner: &OwnerRecord,
    ) -> Result<Vec<Session>, StateError> {
        let now = unit.now().as_millis();
        let ids: Vec<&str> = owner.sessions.iter().map(String::as_str).collect();
        let documents = unit.get_many(&self.records.sessions, &ids).await?;
        let mut sessions = Vec::new();
        for document in documents.into_iter().flatten() {
            let record: SessionRecord = parse(&document)?;
            if record.expires_at > now {
                sessions.push(record.session(document.id));
            }
        }
        Ok(sessions)
    }

    /// Ends a session of a person. One that has ended, or is another person's, is ignored.
    pub async fn end_session(&self, owner_id: &str, id: &str) -> Result<(), IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (mut owner, revision) = self.load_owner(&mut unit, owner_id).await?;
            let Some(place) = owner.sessions.iter().position(|session| session == id) else {
                return Ok(());
            };
            owner.sessions.remove(place);
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.owners, owner_id, &owner, expect).await?;
            unit.delete(&self.records.sessions, id, Expectation::Any).await?;
            unit.record_audit(AuditRecord {
                owner_id: Some(owner_id.to_owned()),
                ..self.audit_row(AuthAction::SessionEnded)
            });
            if commit(unit).await? {
                return Ok(());
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Ends all access of a person: revokes every agent, and signs them out.
    pub async fn end_all_access(&self, owner_id: &str) -> Result<(), IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (owner, _) = self.load_owner(&mut unit, owner_id).await?;
            for agent_id in &owner.agents {
                self.revoke_agent(&mut unit, agent_id).await?;
            }
            self.sign_out_owner(&mut unit, owner_id).await?;
            if commit(unit).await? {
                self.invalidate_standings();
                return Ok(());
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Signs a person out: ends their sessions, the authorization codes that no client has redeemed, and by a
    /// timer for the capability that verifies phones, the codes, links and approvals that are pending. Passkeys of
    /// the last day are removed. Every end of a person's access passes here.
    pub(crate) async fn sign_out_owner(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<(), StateError> {
        let (mut owner, revision) = self.load_owner(unit, owner_id).await?;
        for session in owner.sessions.drain(..) {
            unit.delete(&self.records.sessions, &session, Expectation::Any).await?;
        }
        owner.sign_outs += 1;
        self.remove_young_passkeys(unit, owner_id, &mut owner);
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await?;
        unit.record_audit(AuditRecord {
            owner_id: Some(owner_id.to_owned()),
            ..self.audit_row(AuthAction::SignedOut)
        });
        let input = json!({ "owner_id": owner_id, "at": unit.now().as_millis() });
        let (count, test_mode) = (owner.sign_outs.to_string(), owner.is_of_test_mode());
        self.run_phone_verification(unit, "signed_out", (owner_id, &count), test_mode, &input);
        Ok(())
    }

    /// Sets a timer that is due at once for an action of the capability that verifies phones, if there is one.
    /// `about` is what the action is about, and the number of this time if it can be set several times.
    pub(crate) fn run_phone_verification(
        &self,
        unit: &mut Unit,
        action: &str,
        (about, time): (&str, &str),
        test_mode: bool,
        input: &Value,
    ) {
        let Some(capability) = self.settings.phone_verification.clone() else { return };
        let name = format!("{action}/{about}");
        let (setting, at) = (format!("{name}/{time}"), unit.now());
        let (action, input) = (action.to_owned(), input.to_string());
        let key = TimerKey { capability, name, test_mode };
        unit.change_timer(key, TimerChange::Set { setting, at, action, input });
    }
}

impl SessionRecord {
    fn session(self, id: String) -> Session {
        Session {
            id,
            owner_id: self.owner_id,
            proof: self.proof,
            browser: self.browser,
            started_at: Timestamp::from_millis(self.started_at),
            last_used_at: Timestamp::from_millis(self.last_used_at),
        }
    }
}
