//! Ceremonies (WebAuthn Level 3): what a browser is asked to do with a passkey. The state of a ceremony stays in
//! the store, is valid in one browser for some minutes, and is deleted by the first answer.

use crate::{
    error::IdentityError,
    identity::Identity,
    records::{commit, commit_or_conflict, read, write},
    secret,
};
use portolan_store::{Expectation, Unit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use webauthn_rs::prelude::{
    DiscoverableAuthentication, PasskeyAuthentication, PasskeyRegistration,
};

/// The time for a person to use a passkey.
const CEREMONY_MS: u64 = 5 * 60 * 1000;

/// The purpose of a ceremony.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CeremonyPurpose {
    AddPasskey,
    SignIn,
    /// The person has proved their number before.
    SecondFactor,
}

/// A ceremony: a request to a browser to use a passkey.
#[derive(Debug)]
pub struct Ceremony {
    pub purpose: CeremonyPurpose,
    /// The options for `navigator.credentials`, as JSON with base64url for bytes.
    pub options: String,
}

/// The answer of a browser to a ceremony.
#[derive(Debug, Clone, Copy)]
pub struct CeremonyAnswer<'a> {
    pub id: &'a str,
    /// The credential of `navigator.credentials`, as JSON with base64url for bytes.
    pub credential: &'a str,
    /// The cookie of the browser.
    pub browser: &'a str,
}

/// The record of a ceremony, keyed by the hash of its id.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CeremonyRecord {
    pub state: CeremonyState,
    /// The options for the browser, as JSON.
    pub options: String,
    /// The person, if they are known.
    pub owner_id: Option<String>,
    /// Hash of the cookie of the browser in which it began.
    pub browser: String,
    /// The path of the page where a sign-in goes on.
    pub next: String,
    pub expires_at: u64,
}

/// The challenge of a ceremony, and what the answer must fit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CeremonyState {
    Adding(PasskeyRegistration),
    SecondFactor {
        authentication: PasskeyAuthentication,
        /// The number that the person has proved, with most digits hidden.
        proof: String,
    },
    SigningIn(DiscoverableAuthentication),
}

impl Identity {
    /// Commits a new ceremony for the browser with this cookie, and returns its id. A sign-in goes on at the path
    /// `next`.
    pub(crate) async fn store_ceremony(
        &self,
        mut unit: Unit,
        state: CeremonyState,
        options: Value,
        owner_id: Option<&str>,
        (browser, next): (&str, &str),
    ) -> Result<String, IdentityError> {
        let id = secret::new("");
        let record = CeremonyRecord {
            state,
            owner_id: owner_id.map(str::to_owned),
            options: options.to_string(),
            browser: secret::hash(browser).hex(),
            next: next.to_owned(),
            expires_at: unit.now().as_millis() + CEREMONY_MS,
        };
        let key = secret::hash(&id).hex();
        write(&mut unit, &self.records.ceremonies, &key, &record, Expectation::Absent).await?;
        commit_or_conflict(unit).await?;
        Ok(id)
    }

    /// Returns a ceremony that the browser with this cookie has started.
    pub async fn find_ceremony(&self, id: &str, browser: &str) -> Result<Ceremony, IdentityError> {
        let (_, _, ceremony) = self.load_ceremony(&mut self.unit(), id, browser).await?;
        let purpose = match ceremony.state {
            CeremonyState::Adding(_) => CeremonyPurpose::AddPasskey,
            CeremonyState::SigningIn(_) => CeremonyPurpose::SignIn,
            CeremonyState::SecondFactor { .. } => CeremonyPurpose::SecondFactor,
        };
        Ok(Ceremony { purpose, options: ceremony.options })
    }

    /// Loads a ceremony with its key and its revision. A ceremony of another browser, or an expired one, is refused.
    async fn load_ceremony(
        &self,
        unit: &mut Unit,
        id: &str,
        browser: &str,
    ) -> Result<(String, u64, CeremonyRecord), IdentityError> {
        let key = secret::hash(id).hex();
        let found = read::<CeremonyRecord>(unit, &self.records.ceremonies, &key).await?;
        let (ceremony, revision) = found.ok_or(IdentityError::PasskeyExpired)?;
        let is_own = secret::matches(browser, &ceremony.browser);
        match is_own && ceremony.expires_at > unit.now().as_millis() {
            true => Ok((key, revision, ceremony)),
            false => Err(IdentityError::PasskeyExpired),
        }
    }

    /// Takes out a ceremony, so that it is answered at most once.
    pub(crate) async fn take_ceremony(
        &self,
        answer: &CeremonyAnswer<'_>,
    ) -> Result<CeremonyRecord, IdentityError> {
        let mut unit = self.unit();
        let (key, revision, ceremony) =
            self.load_ceremony(&mut unit, answer.id, answer.browser).await?;
        let expect = Expectation::Revision(revision);
        unit.delete(&self.records.ceremonies, &key, expect).await?;
        match commit(unit).await? {
            true => Ok(ceremony),
            false => Err(IdentityError::PasskeyExpired),
        }
    }
}
