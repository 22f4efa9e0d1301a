//! People who have signed in with a browser, and the steps of the page on which they do.

use crate::{
    Asked, Identity, IdentityError,
    records::{SessionRecord, commit, read, unit, write},
    secret,
};
use portolan_store::Expectation;
use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};

/// How long a browser stays signed in.
const SESSION_S: u64 = 12 * 3600;
/// How long a person may take for one request.
const STEPS_S: u64 = 15 * 60;

/// A person who has signed in.
#[derive(Debug, Clone)]
pub struct Session {
    pub owner_id: String,
    /// Such as `+1•••••0123`.
    pub phone_masked: String,
}

/// How far a person has come with a client's request. It travels with the browser, signed, and is
/// good in that browser alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Progress {
    pub asked: Asked,
    /// Hash of the cookie of the browser it began in.
    pub browser: String,
    /// The agent in whose name codes are sent.
    pub agent_id: Option<String>,
    /// The number that a code was sent to.
    pub phone_masked: Option<String>,
    /// Error code of the last refusal, to be told on the page.
    pub problem: Option<String>,
    /// Seconds since the Unix epoch.
    pub exp: u64,
}

impl Progress {
    /// The beginning, in the browser that has this cookie.
    pub fn new(asked: Asked, browser: &str) -> Self {
        Self {
            asked,
            browser: secret::hash(browser).hex(),
            agent_id: None,
            phone_masked: None,
            problem: None,
            exp: Timestamp::now().as_secs() + STEPS_S,
        }
    }
}

impl Identity {
    /// A new name for a browser.
    pub fn new_browser(&self) -> Result<String, IdentityError> {
        secret::new("")
    }

    pub fn seal(&self, progress: &Progress) -> Result<String, IdentityError> {
        self.steps.sign(progress)
    }

    /// What the page of the browser that has this cookie carries; of another one, nothing.
    pub fn unseal(&self, text: &str, browser: Option<&str>) -> Option<Progress> {
        let progress: Progress = self.steps.read(text)?;
        browser.filter(|browser| secret::matches(browser, &progress.browser)).map(|_| progress)
    }

    /// Signs a person in: the cookie for it.
    pub async fn begin_session(&self, session: Session) -> Result<String, IdentityError> {
        let cookie = secret::new("")?;
        let mut unit = unit(&self.store);
        let record = SessionRecord {
            owner_id: session.owner_id,
            phone_masked: session.phone_masked,
            expires_at: unit.now().as_millis() + SESSION_S * 1000,
        };
        let id = secret::hash(&cookie).hex();
        write(&mut unit, &self.records.sessions, &id, &record, Expectation::Absent).await?;
        commit(unit).await?;
        Ok(cookie)
    }

    /// Who has signed in with this cookie.
    pub async fn session(&self, cookie: &str) -> Result<Option<Session>, IdentityError> {
        let mut unit = unit(&self.store);
        let now = unit.now().as_millis();
        let id = secret::hash(cookie).hex();
        let session = read::<SessionRecord>(&mut unit, &self.records.sessions, &id).await?;
        let session = session.map(|(session, _)| session).filter(|it| it.expires_at > now);
        Ok(session.map(|it| Session { owner_id: it.owner_id, phone_masked: it.phone_masked }))
    }

    pub async fn end_session(&self, cookie: &str) -> Result<(), IdentityError> {
        let mut unit = unit(&self.store);
        let id = secret::hash(cookie).hex();
        unit.delete(&self.records.sessions, &id, Expectation::Any).await?;
        commit(unit).await?;
        Ok(())
    }
}
