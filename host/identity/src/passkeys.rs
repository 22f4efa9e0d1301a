//! The passkeys of a person (WebAuthn Level 3), and what changes them.

use crate::{
    auth_action::AuthAction,
    ceremonies::{CeremonyAnswer, CeremonyState},
    error::IdentityError,
    identity::Identity,
    records::{OwnerRecord, PasskeyRecord, commit, read, write},
    sessions::{ATTEMPTS, Session},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_store::{AuditRecord, Expectation, StateError, Unit};
use portolan_vocabulary::Timestamp;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use ulid::Ulid;
use webauthn_rs::prelude::{RegisterPublicKeyCredential, Uuid, Webauthn, WebauthnError};

/// The maximum number of passkeys of a person.
const PASSKEYS: usize = 10;
/// The age up to which a session may change passkeys: a stolen cookie must not become a way in that lasts.
const FRESH_MS: u64 = 10 * 60 * 1000;
/// The age up to which a passkey is removed when its person is signed out everywhere.
const YOUNG_MS: u64 = 24 * 3600 * 1000;
const NAME_CHARACTERS: usize = 60;
const OWNER_PREFIX: &str = "own_";

/// A passkey of a person.
#[derive(Debug, Clone)]
pub struct PasskeyView {
    /// The credential's id, in base64url.
    pub id: String,
    /// The name that the person has given it.
    pub name: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

impl Identity {
    /// Returns whether this host can have passkeys: its address has the name of a host, and not a number.
    pub fn has_passkeys(&self) -> bool {
        self.relying_party.is_some()
    }

    /// Returns whether a person has a passkey for the address of this host.
    pub(crate) fn needs_passkey(&self, owner: &OwnerRecord) -> bool {
        self.valid_passkeys(owner).next().is_some()
    }

    /// Returns the passkeys for the address of this host. Those of an earlier address do not work.
    pub(crate) fn valid_passkeys<'a>(
        &self,
        owner: &'a OwnerRecord,
    ) -> impl Iterator<Item = &'a PasskeyRecord> {
        let id = self.relying_party.as_ref().map(|party| party.id.clone());
        owner.passkeys.iter().filter(move |passkey| id.as_ref() == Some(&passkey.relying_party))
    }

    /// Lists the passkeys of a person, the oldest first.
    pub async fn list_passkeys(&self, owner_id: &str) -> Result<Vec<PasskeyView>, IdentityError> {
        let (owner, _) = self.load_owner(&mut self.unit(), owner_id).await?;
        Ok(self.valid_passkeys(&owner).map(PasskeyView::from).collect())
    }

    /// Starts the ceremony that adds a passkey to the person of this session. Returns its id, as each start does.
    pub async fn start_adding_passkey(
        &self,
        session: &Session,
        browser: &str,
    ) -> Result<String, IdentityError> {
        self.ensure_fresh(session)?;
        let mut unit = self.unit();
        let (owner, _) = self.load_owner(&mut unit, &session.owner_id).await?;
        if self.valid_passkeys(&owner).count() >= PASSKEYS {
            return Err(IdentityError::TooManyPasskeys { maximum: PASSKEYS });
        }
        let known = self.valid_passkeys(&owner).map(|passkey| passkey.key.cred_id().clone());
        let user = user_handle(&session.owner_id)?;
        let (options, state) = self.webauthn()?.start_passkey_registration(
            user,
            &session.proof,
            &session.proof,
            Some(known.collect()),
        )?;
        let mut options = to_json(&options)?;
        // Without a resident key, the passkey could not be used when the number is lost.
        if let Some(selection) = options.pointer_mut("/publicKey/authenticatorSelection") {
            insert(selection, "residentKey", json!("required"));
            insert(selection, "requireResidentKey", json!(true));
        }
        let state = CeremonyState::Adding(state);
        self.store_ceremony(unit, state, options, Some(&session.owner_id), (browser, "")).await
    }

    /// Adds the passkey that a browser has made to the person of this session.
    pub async fn finish_adding_passkey(
        &self,
        session: &Session,
        answer: CeremonyAnswer<'_>,
        name: &str,
    ) -> Result<(), IdentityError> {
        let ceremony = self.take_ceremony(&answer).await?;
        let CeremonyState::Adding(state) = ceremony.state else {
            return Err(IdentityError::PasskeyExpired);
        };
        if ceremony.owner_id.as_deref() != Some(&session.owner_id) {
            return Err(IdentityError::PasskeyExpired);
        }
        let credential: RegisterPublicKeyCredential = parse_credential(answer.credential)?;
        let party = self.relying_party.as_ref().ok_or(IdentityError::NoPasskeys)?;
        let key = party.webauthn.finish_passkey_registration(&credential, &state)?;
        let id = encode_id(key.cred_id());
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (mut owner, revision) = self.load_listed(&mut unit, session).await?;
            // Passkeys for an earlier address of this host do not work.
            owner.passkeys.retain(|passkey| passkey.relying_party == party.id);
            if owner.passkeys.len() >= PASSKEYS {
                return Err(IdentityError::TooManyPasskeys { maximum: PASSKEYS });
            }
            if owner.passkeys.is_empty() {
                self.end_other_sessions(&mut unit, &mut owner, &session.id).await?;
            }
            owner.passkeys.retain(|passkey| passkey.id() != id);
            owner.passkeys.push(PasskeyRecord {
                name: display_name(name),
                relying_party: party.id.clone(),
                key: key.clone(),
                created_at: unit.now().as_millis(),
                last_used_at: None,
            });
            let change = (AuthAction::PasskeyAdded, "added", &*id);
            self.write_passkeys(&mut unit, &session.owner_id, (owner, revision), change).await?;
            if commit(unit).await? {
                return Ok(());
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Removes a passkey of the person of this session. One that does not exist is ignored.
    pub async fn remove_passkey(&self, session: &Session, id: &str) -> Result<(), IdentityError> {
        self.ensure_fresh(session)?;
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (mut owner, revision) = self.load_listed(&mut unit, session).await?;
            let Some(place) = owner.passkeys.iter().position(|passkey| passkey.id() == id) else {
                return Ok(());
            };
            owner.passkeys.remove(place);
            let change = (AuthAction::PasskeyRemoved, "removed", id);
            self.write_passkeys(&mut unit, &session.owner_id, (owner, revision), change).await?;
            if commit(unit).await? {
                return Ok(());
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Removes all passkeys of a person, whose devices are lost, so that the number is enough again. Returns how
    /// many there were.
    pub async fn remove_passkeys(&self, owner_id: &str) -> Result<usize, IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let found = read::<OwnerRecord>(&mut unit, &self.records.owners, owner_id).await?;
            let Some((mut owner, revision)) = found else { return Ok(0) };
            let count = std::mem::take(&mut owner.passkeys).len();
            if count == 0 {
                return Ok(0);
            }
            let change = (AuthAction::PasskeyRemoved, "removed", owner_id);
            self.write_passkeys(&mut unit, owner_id, (owner, revision), change).await?;
            // A thief of the devices may have a session.
            self.sign_out_owner(&mut unit, owner_id).await?;
            if commit(unit).await? {
                return Ok(count);
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Loads the owner of a session that has not ended.
    async fn load_listed(
        &self,
        unit: &mut Unit,
        session: &Session,
    ) -> Result<(OwnerRecord, u64), IdentityError> {
        let (owner, revision) = self.load_owner(unit, &session.owner_id).await?;
        match owner.sessions.contains(&session.id) {
            true => Ok((owner, revision)),
            false => Err(IdentityError::SessionEnded),
        }
    }

    /// Ends what was reached by the number alone before there was a passkey: the other sessions, and the
    /// authorization codes that no client has redeemed.
    async fn end_other_sessions(
        &self,
        unit: &mut Unit,
        owner: &mut OwnerRecord,
        kept: &str,
    ) -> Result<(), StateError> {
        for session in owner.sessions.extract_if(.., |session| session != kept) {
            unit.delete(&self.records.sessions, &session, Expectation::Any).await?;
        }
        owner.sign_outs += 1;
        Ok(())
    }

    /// Writes the changed passkeys of an owner, and records the change.
    async fn write_passkeys(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        (owner, revision): (OwnerRecord, u64),
        (action, change, id): (AuthAction, &str, &str),
    ) -> Result<(), StateError> {
        let expect = Expectation::Revision(revision);
        write(unit, &self.records.owners, owner_id, &owner, expect).await?;
        self.record_change(unit, owner_id, owner.is_of_test_mode(), (action, change, id));
        Ok(())
    }

    /// Removes the passkeys of a person that are younger than a day: a person who had the number for a moment
    /// must not keep access. Older ones are the person's.
    pub(crate) fn remove_young_passkeys(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        owner: &mut OwnerRecord,
    ) {
        let now = unit.now().as_millis();
        let before = owner.passkeys.len();
        owner.passkeys.retain(|passkey| passkey.created_at + YOUNG_MS <= now);
        if owner.passkeys.len() < before {
            let change = (AuthAction::PasskeyRemoved, "removed", owner_id);
            self.record_change(unit, owner_id, owner.is_of_test_mode(), change);
        }
    }

    /// Records a change of passkeys in the audit log, and sets a timer for the capability that verifies phones,
    /// which notifies the person's agents.
    fn record_change(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        test_mode: bool,
        (action, change, id): (AuthAction, &str, &str),
    ) {
        unit.record_audit(AuditRecord {
            owner_id: Some(owner_id.to_owned()),
            ..self.audit_row(action)
        });
        let input = json!({ "owner_id": owner_id, "change": change, "at": unit.now().as_millis() });
        self.run_phone_verification(unit, "passkeys_changed", (id, change), test_mode, &input);
    }

    fn ensure_fresh(&self, session: &Session) -> Result<(), IdentityError> {
        let age = self.clock.now().as_millis().saturating_sub(session.started_at.as_millis());
        if age < FRESH_MS { Ok(()) } else { Err(IdentityError::SignInTooOld) }
    }

    pub(crate) fn webauthn(&self) -> Result<&Webauthn, IdentityError> {
        self.relying_party.as_ref().map(|party| &party.webauthn).ok_or(IdentityError::NoPasskeys)
    }
}

impl PasskeyRecord {
    fn id(&self) -> String {
        encode_id(self.key.cred_id())
    }
}

impl From<&PasskeyRecord> for PasskeyView {
    fn from(record: &PasskeyRecord) -> Self {
        Self {
            id: record.id(),
            name: record.name.clone(),
            created_at: Timestamp::from_millis(record.created_at),
            last_used_at: record.last_used_at.map(Timestamp::from_millis),
        }
    }
}

impl From<WebauthnError> for IdentityError {
    fn from(error: WebauthnError) -> Self {
        Self::PasskeyRefused(error.to_string())
    }
}

/// Returns the person's handle in their passkeys: the 16 bytes of the ULID in the owner's id.
fn user_handle(owner_id: &str) -> Result<Uuid, IdentityError> {
    let ulid = owner_id.strip_prefix(OWNER_PREFIX).and_then(|ulid| ulid.parse::<Ulid>().ok());
    let ulid =
        ulid.ok_or_else(|| StateError::Invalid(format!("{owner_id} is not an owner's id")))?;
    Ok(Uuid::from_u128(ulid.0))
}

/// Returns the owner's id of a handle.
pub(crate) fn handle_owner(handle: Uuid) -> String {
    format!("{OWNER_PREFIX}{}", Ulid(handle.as_u128()))
}

fn insert(object: &mut Value, name: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

fn encode_id(id: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(id)
}

/// Returns the name that a person gives to a passkey, on one line.
fn display_name(name: &str) -> String {
    let name: String = name.trim().chars().filter(|letter| !letter.is_control()).collect();
    match name.is_empty() {
        true => "Passkey".to_owned(),
        false => name.chars().take(NAME_CHARACTERS).collect(),
    }
}

pub(crate) fn to_json(options: &impl Serialize) -> Result<Value, IdentityError> {
    serde_json::to_value(options).map_err(|error| IdentityError::PasskeyRefused(error.to_string()))
}

pub(crate) fn parse_credential<T: DeserializeOwned>(text: &str) -> Result<T, IdentityError> {
    serde_json::from_str(text).map_err(|error| IdentityError::PasskeyRefused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_leads_back_to_its_owner() {
        let owner_id = "own_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let handle = user_handle(owner_id).unwrap();
        assert_eq!(handle_owner(handle), owner_id);
        assert!(user_handle("agt_01ARZ3NDEKTSV4RRFFQ69G5FAV").is_err());
    }

    #[test]
    fn a_name_is_one_short_line() {
        assert_eq!(display_name(" Ada's\nphone "), "Ada'sphone");
        assert_eq!(display_name("\u{7}"), "Passkey");
        assert_eq!(display_name(&"x".repeat(100)).len(), NAME_CHARACTERS);
    }
}
