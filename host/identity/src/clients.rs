//! Clients: who they are, and how they prove it (RFC 6749, section 2.3; RFC 7523; RFC 7591; RFC 7592).

use crate::{
    Identity, IdentityError, OAuthError,
    metadata::ClientMetadata,
    records::{ClientRecord, EndedRecord, commit, commit_new, read, unit, write},
    register::Registration,
    secret,
};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, jwk::JwkSet};
use portolan_store::Expectation;
use portolan_vocabulary::{Digest, Timestamp, new_identifier};
use serde::Deserialize;

/// Algorithms of client assertions.
pub const ASSERTION_ALGORITHMS: [(&str, Algorithm); 5] = [
    ("EdDSA", Algorithm::EdDSA),
    ("ES256", Algorithm::ES256),
    ("ES384", Algorithm::ES384),
    ("RS256", Algorithm::RS256),
    ("PS256", Algorithm::PS256),
];
/// How far ahead an assertion may expire: it is remembered as long, so that it counts once.
const ASSERTION_LIFE_S: u64 = 3600;
/// How far clocks may be apart.
const SKEW_S: u64 = 30;

/// How a client says who it is.
pub enum Credentials {
    /// Its secret or its client key.
    Secret { client_id: String, secret: String },
    /// A JSON Web Token that it signed.
    Assertion { client_id: Option<String>, assertion: String },
    /// Not at all.
    Public { client_id: String },
}

/// A client whose registration or document was found.
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) id: String,
    pub(super) agent_id: Option<String>,
    hashes: Vec<String>,
    pub(super) metadata: ClientMetadata,
}

/// A new client. The secrets are in no other place: they cannot be shown again.
pub struct RegisteredClient {
    pub client_id: String,
    pub client_secret: Option<String>,
    pub registration_access_token: String,
    pub issued_at: Timestamp,
    pub metadata: ClientMetadata,
}

/// RFC 7523, section 3.
#[derive(Debug, Clone, Deserialize)]
struct Assertion {
    iss: String,
    sub: String,
    exp: u64,
    jti: String,
}

impl Client {
    pub(super) fn of_document(id: &str, metadata: ClientMetadata) -> Self {
        Self { id: id.to_owned(), agent_id: None, hashes: Vec::new(), metadata }
    }

    /// What people are shown.
    pub fn name(&self) -> &str {
        self.metadata.client_name.as_deref().unwrap_or(&self.id)
    }

    pub(super) fn is_public(&self) -> bool {
        self.metadata.token_endpoint_auth_method == "none"
    }

    pub(super) fn check_grant(&self, grant: &'static str) -> Result<(), OAuthError> {
        match self.metadata.has_grant(grant) {
            true => Ok(()),
            false => Err(OAuthError::new(
                "unauthorized_client",
                format!("this client has no grant {grant}"),
            )),
        }
    }
}

fn invalid() -> IdentityError {
    OAuthError::new("invalid_client", "the client is unknown, or its secret is wrong").into()
}

impl Credentials {
    /// Whose they say they are; none if they contradict themselves.
    pub fn client_id(&self) -> Option<String> {
        match self {
            Self::Secret { client_id, .. } | Self::Public { client_id } => Some(client_id.clone()),
            Self::Assertion { client_id, assertion } => {
                let subject = unverified_subject(assertion)?;
                client_id.as_ref().is_none_or(|id| *id == subject).then_some(subject)
            }
        }
    }
}

impl Identity {
    /// Whether a document has to be read from somewhere, to know this client.
    pub fn is_unread(&self, client_id: &str) -> bool {
        self.documents.is_unread(client_id)
    }

    /// A registered client, or one that is known by the address of its document.
    pub async fn client(&self, id: &str) -> Result<Option<Client>, IdentityError> {
        if id.starts_with("https://") {
            return self.documents.client(id, &self.settings.redirects).await.map(Some);
        }
        let client = read::<ClientRecord>(&mut unit(&self.store), &self.records.clients, id).await;
        let client = match client {
            // What cannot be an id is nobody's.
            Err(portolan_store::StateError::Invalid(_)) => None,
            other => other?,
        };
        Ok(client.map(|(record, _)| Client {
            id: id.to_owned(),
            agent_id: record.agent_id,
            hashes: [record.secret_hash, record.key_hash].into_iter().flatten().collect(),
            metadata: record.metadata.unwrap_or_else(ClientMetadata::of_agent),
        }))
    }

    /// The client that proves to be the one it says, in the way it registered for.
    pub async fn authenticate_client(
        &self,
        credentials: &Credentials,
    ) -> Result<Client, IdentityError> {
        let id = credentials.client_id().ok_or_else(invalid)?;
        let kind = match credentials {
            Credentials::Secret { .. } => "client_secret",
            Credentials::Public { .. } => "none",
            Credentials::Assertion { .. } => "private_key_jwt",
        };
        let client = self.client(&id).await?.ok_or_else(invalid)?;
        // Of the two ways to send a secret, either will do.
        if !client.metadata.token_endpoint_auth_method.starts_with(kind) {
            return Err(invalid());
        }
        match credentials {
            Credentials::Public { .. } => Ok(client),
            Credentials::Secret { secret, .. } => {
                let right = |hash: &String| secret::matches(secret, hash);
                // Each is looked at, so that it takes the same time whichever it is.
                let matches = client.hashes.iter().map(right).fold(false, |one, other| one | other);
                if matches { Ok(client) } else { Err(invalid()) }
            }
            Credentials::Assertion { assertion, .. } => {
                self.check_assertion(&client, assertion).await?;
                Ok(client)
            }
        }
    }

    /// RFC 7523, section 3: each assertion counts once.
    async fn check_assertion(&self, client: &Client, text: &str) -> Result<(), IdentityError> {
        let metadata = &client.metadata;
        let keys = match (&metadata.jwks, &metadata.jwks_uri) {
            (Some(keys), _) => keys.clone(),
            (None, Some(uri)) => self.documents.keys(uri).await?,
            (None, None) => return Err(invalid()),
        };
        let assertion =
            verify_assertion(text, &keys, &self.assertion_audiences()).ok_or_else(invalid)?;
        let now = Timestamp::now().as_secs();
        let own = assertion.iss == client.id && assertion.sub == client.id;
        if !own {
            return Err(invalid());
        }
        if assertion.exp > now + ASSERTION_LIFE_S + SKEW_S {
            let text = format!("an assertion is good for {ASSERTION_LIFE_S} seconds at most");
            return Err(OAuthError::new("invalid_client", text).into());
        }
        let used = format!("assertion {} {}", client.id, assertion.jti);
        let used = Digest::of(used.as_bytes()).hex();
        let mut unit = unit(&self.store);
        let record = EndedRecord { expires_at: (assertion.exp + SKEW_S) * 1000 };
        let fresh =
            write(&mut unit, &self.records.ended, &used, &record, Expectation::Absent).await;
        match fresh {
            Err(portolan_store::StateError::Conflict) => return Err(invalid()),
            other => other?,
        }
        if commit(unit).await? { Ok(()) } else { Err(invalid()) }
    }

    /// The issuer, and the token endpoint that clients named before (RFC 7523, section 3).
    fn assertion_audiences(&self) -> [String; 2] {
        [self.issuer.clone(), format!("{}/oauth/token", self.issuer)]
    }

    /// RFC 7591.
    pub async fn register_client(
        &self,
        metadata: ClientMetadata,
    ) -> Result<RegisteredClient, IdentityError> {
        let mut unit = unit(&self.store);
        let now = unit.now();
        let client_id = new_identifier("cli", now, secret::random()?);
        let by_secret = metadata.token_endpoint_auth_method.starts_with("client_secret");
        let client_secret = by_secret.then(|| secret::new("")).transpose()?;
        let registration_access_token = secret::new("svc_rat_")?;
        let mut agent_id = None;
        if metadata.has_grant("client_credentials") {
            let id = new_identifier("agt", now, secret::random()?);
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
        let record = ClientRecord {
            agent_id,
            secret_hash: client_secret.as_deref().map(|secret| secret::hash(secret).hex()),
            key_hash: None,
            metadata: Some(metadata.clone()),
            registration_token_hash: Some(secret::hash(&registration_access_token).hex()),
        };
        write(&mut unit, &self.records.clients, &client_id, &record, Expectation::Absent).await?;
        commit_new(unit).await?;
        Ok(RegisteredClient {
            client_id,
            client_secret,
            registration_access_token,
            issued_at: now,
            metadata,
        })
    }

    /// The registration that this token manages (RFC 7592).
    pub async fn registered_client(
        &self,
        client_id: &str,
        token: &str,
    ) -> Result<ClientMetadata, IdentityError> {
        let record = self.managed(client_id, token).await?.0;
        Ok(record.metadata.unwrap_or_default())
    }

    /// RFC 7592, section 2.2. How it authenticates stays as it is, and so does whom it is by itself.
    pub async fn update_client(
        &self,
        client_id: &str,
        token: &str,
        metadata: ClientMetadata,
    ) -> Result<(), IdentityError> {
        let (mut record, revision) = self.managed(client_id, token).await?;
        let kept = record.metadata.take().unwrap_or_default();
        let same = kept.token_endpoint_auth_method == metadata.token_endpoint_auth_method
            && kept.has_grant("client_credentials") == metadata.has_grant("client_credentials");
        if !same {
            let text = "register again to change token_endpoint_auth_method or the grant client_credentials";
            return Err(OAuthError::new("invalid_client_metadata", text).into());
        }
        record.metadata = Some(metadata);
        let mut unit = unit(&self.store);
        let expect = Expectation::Revision(revision);
        write(&mut unit, &self.records.clients, client_id, &record, expect).await?;
        commit_new(unit).await
    }

    /// RFC 7592, section 2.3: with the client end its tokens and what it was granted.
    pub async fn delete_client(&self, client_id: &str, token: &str) -> Result<(), IdentityError> {
        let (_, revision) = self.managed(client_id, token).await?;
        let mut unit = unit(&self.store);
        unit.delete(&self.records.clients, client_id, Expectation::Revision(revision)).await?;
        self.end(&mut unit, client_id).await?;
        commit_new(unit).await?;
        self.look_again();
        Ok(())
    }

    async fn managed(
        &self,
        client_id: &str,
        token: &str,
    ) -> Result<(ClientRecord, u64), IdentityError> {
        let mut unit = unit(&self.store);
        let client = read::<ClientRecord>(&mut unit, &self.records.clients, client_id).await?;
        let right = |(record, _): &(ClientRecord, u64)| {
            record.registration_token_hash.as_ref().is_some_and(|kept| secret::matches(token, kept))
        };
        client.filter(right).ok_or(IdentityError::TokenInvalid)
    }
}

/// Whom an assertion speaks of, before anything of it is believed.
fn unverified_subject(assertion: &str) -> Option<String> {
    let token = jsonwebtoken::dangerous::insecure_decode::<Assertion>(assertion).ok()?;
    Some(token.claims.sub)
}

fn verify_assertion(text: &str, keys: &JwkSet, audiences: &[String]) -> Option<Assertion> {
    let header = jsonwebtoken::decode_header(text).ok()?;
    ASSERTION_ALGORITHMS.iter().find(|(_, algorithm)| *algorithm == header.alg)?;
    let mut validation = Validation::new(header.alg);
    validation.leeway = SKEW_S;
    validation.validate_nbf = true;
    validation.set_audience(audiences);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let named = |key: &&jsonwebtoken::jwk::Jwk| {
        header.kid.is_none() || key.common.key_id.is_none() || key.common.key_id == header.kid
    };
    keys.keys.iter().filter(named).find_map(|key| {
        let key = DecodingKey::from_jwk(key).ok()?;
        jsonwebtoken::decode::<Assertion>(text, &key, &validation).ok().map(|token| token.claims)
    })
}
