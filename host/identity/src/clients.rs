//! The registrations of clients (RFC 7591, RFC 7592).

use crate::{
    auth_action::AuthAction,
    authenticate::is_record_id,
    client::Client,
    error::IdentityError,
    identity::Identity,
    metadata::ClientMetadata,
    oauth::OAuthError,
    records::{ClientRecord, commit_or_conflict, read, unused_expiry, write},
    register::Registration,
    secret,
};
use portolan_store::{AuditRecord, Expectation, StateError, Unit};
use portolan_vocabulary::{Timestamp, new_identifier};

/// The minimum time between two extensions of a client's expiry.
const EXTENSION_INTERVAL_MS: u64 = 24 * 3600 * 1000;

/// A new client with its secrets. Only their hashes are stored, so they cannot be shown again.
pub struct RegisteredClient {
    pub client_id: String,
    pub client_secret: Option<String>,
    pub registration_access_token: String,
    pub issued_at: Timestamp,
    pub metadata: ClientMetadata,
}

impl Identity {
    /// Returns whether a metadata document must be fetched before this client is known.
    pub fn needs_document(&self, client_id: &str) -> bool {
        self.documents.is_missing(client_id)
    }

    /// Looks up a client by its id: that of a registration, or the address of a metadata document.
    /// Returns `None` if there is no such registration, and fails if the document cannot be used.
    pub async fn lookup_client(&self, id: &str) -> Result<Option<Client>, IdentityError> {
        if id.starts_with("https://") {
            let (redirects, now) = (&self.settings.redirects, self.clock.now());
            return self.documents.client(id, redirects, now).await.map(Some);
        }
        let client = read::<ClientRecord>(&mut self.unit(), &self.records.clients, id).await;
        let client = match client {
            // The text cannot be the id of a record, so there is no such client.
            Err(StateError::Invalid(_)) => None,
            other => other?,
        };
        Ok(client.map(|(record, _)| Client {
            id: id.to_owned(),
            agent_id: record.agent_id,
            secret_hashes: [record.secret_hash, record.key_hash].into_iter().flatten().collect(),
            metadata: record.metadata.unwrap_or_else(ClientMetadata::of_agent),
        }))
    }

    /// Registers a client (RFC 7591).
    pub async fn register_client(
        &self,
        metadata: ClientMetadata,
    ) -> Result<RegisteredClient, IdentityError> {
        let mut unit = self.unit();
        let now = unit.now();
        let client_id = new_identifier("cli", now, secret::random());
        let by_secret = metadata.token_endpoint_auth_method.starts_with("client_secret");
        let client_secret = by_secret.then(|| secret::new(""));
        let registration_access_token = secret::new("svc_rat_");
        let mut agent_id = None;
        if metadata.has_grant("client_credentials") {
            let id = new_identifier("agt", now, secret::random());
            let agent = Registration {
                identity_type: "client",
                agent_name: metadata.client_name.clone(),
                software_id: metadata.software_id.clone(),
                software_version: metadata.software_version.clone(),
                ..Registration::default()
            };
            let agent = agent.record(now, Some(client_id.clone()));
            write(&mut unit, &self.records.agents, &id, &agent, Expectation::Absent).await?;
            agent_id = Some(id);
        }
        unit.record_audit(AuditRecord {
            client_id: Some(client_id.clone()),
            agent_id: agent_id.clone(),
            ..self.audit_row(AuthAction::ClientRegistered)
        });
        let record = ClientRecord {
            expires_at: agent_id.is_none().then(|| unused_expiry(now)),
            agent_id,
            secret_hash: client_secret.as_deref().map(|secret| secret::hash(secret).hex()),
            key_hash: None,
            metadata: Some(metadata.clone()),
            registration_token_hash: Some(secret::hash(&registration_access_token).hex()),
        };
        write(&mut unit, &self.records.clients, &client_id, &record, Expectation::Absent).await?;
        commit_or_conflict(unit).await?;
        Ok(RegisteredClient {
            client_id,
            client_secret,
            registration_access_token,
            issued_at: now,
            metadata,
        })
    }

    /// Returns the metadata of a client, if this is the token that manages its registration (RFC
    /// 7592).
    pub async fn find_client_by_registration_token(
        &self,
        client_id: &str,
        token: &str,
    ) -> Result<ClientMetadata, IdentityError> {
        let record = self.lookup_registration(client_id, token).await?.0;
        Ok(record.metadata.unwrap_or_default())
    }

    /// Replaces the metadata of a client (RFC 7592, section 2.2). The authentication method cannot be
    /// changed, and the grant `client_credentials` can be neither added nor removed.
    pub async fn update_client(
        &self,
        client_id: &str,
        token: &str,
        metadata: ClientMetadata,
    ) -> Result<(), IdentityError> {
        let (mut record, revision) = self.lookup_registration(client_id, token).await?;
        let before = record.metadata.take().unwrap_or_default();
        let same = before.token_endpoint_auth_method == metadata.token_endpoint_auth_method
            && before.has_grant("client_credentials") == metadata.has_grant("client_credentials");
        if !same {
            let text = "register again to change token_endpoint_auth_method or the grant client_credentials";
            return Err(OAuthError::new("invalid_client_metadata", text).into());
        }
        record.metadata = Some(metadata);
        let mut unit = self.unit();
        let expect = Expectation::Revision(revision);
        write(&mut unit, &self.records.clients, client_id, &record, expect).await?;
        unit.record_audit(AuditRecord {
            client_id: Some(client_id.to_owned()),
            agent_id: record.agent_id,
            ..self.audit_row(AuthAction::ClientUpdated)
        });
        commit_or_conflict(unit).await
    }

    /// Deletes a client, and revokes its tokens and grants (RFC 7592, section 2.3).
    pub async fn delete_client(&self, client_id: &str, token: &str) -> Result<(), IdentityError> {
        let (record, revision) = self.lookup_registration(client_id, token).await?;
        let mut unit = self.unit();
        unit.delete(&self.records.clients, client_id, Expectation::Revision(revision)).await?;
        self.record_revocation(&mut unit, client_id).await?;
        unit.record_audit(AuditRecord {
            client_id: Some(client_id.to_owned()),
            agent_id: record.agent_id,
            ..self.audit_row(AuthAction::ClientDeleted)
        });
        commit_or_conflict(unit).await?;
        self.invalidate_standings();
        Ok(())
    }

    /// Extends the expiry of a client that is used, at most once a day. A client that is known by its document
    /// has no record.
    pub(crate) async fn extend_client(&self, unit: &mut Unit, id: &str) -> Result<(), StateError> {
        if !is_record_id(id) {
            return Ok(());
        }
        let client = read::<ClientRecord>(unit, &self.records.clients, id).await?;
        let Some((mut client, revision)) = client else { return Ok(()) };
        let expiry = unused_expiry(unit.now());
        if client.expires_at.is_some_and(|expires_at| expires_at + EXTENSION_INTERVAL_MS < expiry) {
            client.expires_at = Some(expiry);
            let expect = Expectation::Revision(revision);
            write(unit, &self.records.clients, id, &client, expect).await?;
        }
        Ok(())
    }

    /// Looks up the record of a client. Any other token than the one that manages the registration
    /// is refused.
    async fn lookup_registration(
        &self,
        client_id: &str,
        token: &str,
    ) -> Result<(ClientRecord, u64), IdentityError> {
        let mut unit = self.unit();
        let client = read::<ClientRecord>(&mut unit, &self.records.clients, client_id).await?;
        let is_match = |(record, _): &(ClientRecord, u64)| {
            record.registration_token_hash.as_ref().is_some_and(|hash| secret::matches(token, hash))
        };
        client.filter(is_match).ok_or(IdentityError::TokenInvalid)
    }
}
