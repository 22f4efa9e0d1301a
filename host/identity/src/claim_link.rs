//! The address of the page on which a person claims an agent without giving the agent a code. It has a signed
//! text that names the agent, is valid for ten minutes, and is used at most once. Nothing is stored until then.

use crate::{
    auth_action::AuthAction,
    consents::ATTEMPTS,
    error::IdentityError,
    failed_attempts::FailedAttempt,
    identity::Identity,
    records::{AgentRecord, RevocationRecord, commit, commit_or_conflict, read, write},
    secret,
    sessions::Session,
    signer::Expiring,
};
use portolan_store::{AuditRecord, Expectation, StateError, Unit};
use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The time for a person to claim the agent.
const LINK_LIFE_S: u64 = 600;

/// The claims of the signed text.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LinkClaims {
    agent_id: String,
    /// Makes each text another one.
    nonce: String,
    /// Seconds since the Unix epoch.
    exp: u64,
}

impl Expiring for LinkClaims {
    fn expires_at(&self) -> u64 {
        self.exp
    }
}

/// An agent that a person can claim on a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClaimRequest {
    /// The signed text in the page's address.
    pub link: String,
    pub agent_id: String,
    pub agent_name: Option<String>,
    pub asked_at: Timestamp,
}

impl Identity {
    /// Signs the text of a claim page's address for an agent.
    ///
    /// # Errors
    ///
    /// Fails if there is no key.
    pub fn sign_claim_link(&self, agent_id: &str) -> Result<String, IdentityError> {
        let exp = self.clock.now().as_secs() + LINK_LIFE_S;
        let claims = LinkClaims { agent_id: agent_id.to_owned(), nonce: secret::new(""), exp };
        self.claim_links.sign(&claims)
    }

    /// Returns whether this host signed the text for this agent and it has not expired.
    pub fn is_claim_link_of(&self, link: &str, agent_id: &str) -> bool {
        let claims = self.claim_links.verify::<LinkClaims>(link, self.clock.now());
        claims.is_some_and(|claims| claims.agent_id == agent_id)
    }

    /// Finds the agent that a claim page is about.
    ///
    /// # Errors
    ///
    /// `ClaimLinkExpired` if the text was not signed by this host, has expired or was used, or the agent is gone;
    /// `AgentClaimed` if the agent has a person already.
    pub async fn find_claim_request(&self, link: &str) -> Result<ClaimRequest, IdentityError> {
        let mut unit = self.unit();
        let (claims, agent, _) = self.load_claimable(&mut unit, link).await?;
        let LinkClaims { agent_id, exp, .. } = claims;
        let asked_at = Timestamp::from_millis(exp.saturating_sub(LINK_LIFE_S) * 1000);
        Ok(ClaimRequest { link: link.to_owned(), agent_id, agent_name: agent.name, asked_at })
    }

    /// Claims an agent for the person of a session, who has confirmed it on the page.
    ///
    /// # Errors
    ///
    /// As [`find_claim_request`](Self::find_claim_request); fails if the session has ended, if the person has too
    /// many agents, and after repeated conflicts.
    pub async fn claim_by_link(
        &self,
        request: &ClaimRequest,
        session: &Session,
    ) -> Result<(), IdentityError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (claims, agent, revision) = self.load_claimable(&mut unit, &request.link).await?;
            self.load_session_owner(&mut unit, session).await?;
            self.use_link(&mut unit, &request.link, claims.exp).await?;
            unit.record_audit(AuditRecord {
                client_id: agent.client_id.clone(),
                agent_id: Some(claims.agent_id.clone()),
                owner_id: Some(session.owner_id.clone()),
                ..self.audit_row(AuthAction::AgentClaimed)
            });
            let agent_id = (claims.agent_id.as_str(), Expectation::Revision(revision));
            self.adopt_agent(&mut unit, agent_id, agent, &session.owner_id).await?;
            if commit(unit).await? {
                self.invalidate_standings();
                return Ok(());
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Ends the address of a claim page because a person has refused there. `owner_id` is who had signed in.
    ///
    /// # Errors
    ///
    /// As [`find_claim_request`](Self::find_claim_request).
    pub async fn refuse_claim(
        &self,
        request: &ClaimRequest,
        owner_id: Option<String>,
        address: Option<IpAddr>,
    ) -> Result<(), IdentityError> {
        let mut unit = self.unit();
        let (claims, _, _) = self.load_claimable(&mut unit, &request.link).await?;
        self.use_link(&mut unit, &request.link, claims.exp).await?;
        commit_or_conflict(unit).await?;
        self.record_failure(FailedAttempt {
            agent_id: Some(claims.agent_id),
            owner_id,
            address,
            ..FailedAttempt::of(AuthAction::ClaimRefused, "access_denied")
        });
        Ok(())
    }

    /// Loads the agent that a link is about, with what the link says and the revision of the agent.
    async fn load_claimable(
        &self,
        unit: &mut Unit,
        link: &str,
    ) -> Result<(LinkClaims, AgentRecord, u64), IdentityError> {
        let claims: LinkClaims = self
            .claim_links
            .verify(link, self.clock.now())
            .ok_or(IdentityError::ClaimLinkExpired)?;
        let agent = self.find_active_agent(unit, &claims.agent_id).await?;
        // A person of live mode never gets an agent of test mode.
        let agent = agent.filter(|(agent, _)| !agent.test_mode);
        let (agent, revision) = agent.ok_or(IdentityError::ClaimLinkExpired)?;
        if agent.owner_id.is_some() {
            return Err(IdentityError::AgentClaimed);
        }
        let used = read::<RevocationRecord>(unit, &self.records.revoked, &used_id(link)).await?;
        match used {
            Some(_) => Err(IdentityError::ClaimLinkExpired),
            None => Ok((claims, agent, revision)),
        }
    }

    /// Adds to a unit that a link is used. The record is kept until the link has expired.
    async fn use_link(&self, unit: &mut Unit, link: &str, exp: u64) -> Result<(), StateError> {
        let record = RevocationRecord { expires_at: exp * 1000 };
        write(unit, &self.records.revoked, &used_id(link), &record, Expectation::Absent).await
    }
}

fn used_id(link: &str) -> String {
    secret::hash(link).hex()
}
