//! The consent of a person to a client: the client gets an agent of theirs.

use crate::{
    auth_action::AuthAction,
    error::IdentityError,
    identity::Identity,
    records::{AgentRecord, ClientAgentRecord, Consent, OwnerRecord, read, write},
    register::Registration,
    secret,
    sessions::Session,
};
use portolan_store::{AuditRecord, Expectation, Unit};
use portolan_vocabulary::{Digest, new_identifier};

/// The maximum number of attempts to commit a decision while the person's agents change.
pub(crate) const ATTEMPTS: u32 = 5;

/// The terms that a client asks a person to consent to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConsentTerms<'a> {
    pub client_id: &'a str,
    pub client_name: &'a str,
    /// Space-separated.
    pub scope: &'a str,
}

/// A consent as codes remember it.
pub(crate) struct RecordedConsent {
    pub agent_id: String,
    /// The person's number of sign-outs when they consented.
    pub sign_outs: u64,
}

impl Identity {
    /// Loads the owner of a session. Fails if the session has ended.
    pub(crate) async fn load_session_owner(
        &self,
        unit: &mut Unit,
        session: &Session,
    ) -> Result<OwnerRecord, IdentityError> {
        let (owner, _) = self.load_owner(unit, &session.owner_id).await?;
        match owner.sessions.contains(&session.id) {
            true => Ok(owner),
            false => Err(IdentityError::SessionEnded),
        }
    }

    /// Adds a person's consent to a unit. The client gets the same agent of the person each time, and a new
    /// one only if that agent is revoked, expired or no longer the person's. Fails if the session has ended.
    pub(crate) async fn record_consent(
        &self,
        unit: &mut Unit,
        terms: ConsentTerms<'_>,
        session: &Session,
    ) -> Result<RecordedConsent, IdentityError> {
        let owner_id = session.owner_id.as_str();
        let now = unit.now();
        let owner = self.load_session_owner(unit, session).await?;
        let client_agent = format!("{} {owner_id}", terms.client_id);
        let client_agent = Digest::of(client_agent.as_bytes()).hex();
        let known =
            read::<ClientAgentRecord>(unit, &self.records.client_agents, &client_agent).await?;
        let existing = match known {
            Some((known, _)) => {
                let agent = self.find_active_agent(unit, &known.agent_id).await?;
                let agent = agent.filter(|(agent, _)| agent.owner_id.as_deref() == Some(owner_id));
                agent.map(|(agent, revision)| (known.agent_id, agent, revision))
            }
            None => None,
        };
        let client_id = terms.client_id.to_owned();
        let consent = Some(Consent { client_id, scope: terms.scope.to_owned() });
        let agent_id = match existing {
            Some((agent_id, agent, revision)) => {
                let agent = AgentRecord { consent, ..agent };
                let expect = Expectation::Revision(revision);
                write(unit, &self.records.agents, &agent_id, &agent, expect).await?;
                agent_id
            }
            None => {
                let agent_id = new_identifier("agt", now, secret::random());
                let agent = Registration {
                    identity_type: "client",
                    agent_name: Some(terms.client_name.to_owned()),
                    ..Registration::default()
                };
                let agent = AgentRecord { consent, ..agent.record(now, None) };
                let absent = Expectation::Absent;
                self.adopt_agent(unit, (&agent_id, absent), agent, owner_id).await?;
                let record = ClientAgentRecord { agent_id: agent_id.clone() };
                let client_agents = &self.records.client_agents;
                write(unit, client_agents, &client_agent, &record, Expectation::Any).await?;
                agent_id
            }
        };
        unit.record_audit(AuditRecord {
            client_id: Some(terms.client_id.to_owned()),
            agent_id: Some(agent_id.clone()),
            owner_id: Some(owner_id.to_owned()),
            ..self.audit_row(AuthAction::ConsentGiven)
        });
        Ok(RecordedConsent { agent_id, sign_outs: owner.sign_outs })
    }
}
