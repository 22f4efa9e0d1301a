//! The register of agents and the issuer of their tokens: its parts and its accessors.

use crate::{
    auth_action::AuthAction,
    documents::Documents,
    error::IdentityError,
    failed_attempts::FailedAttempts,
    keys::SigningKeys,
    operator_tokens::OperatorTokens,
    records::Records,
    redirects::RedirectHosts,
    relying_party::RelyingParty,
    settings::Settings,
    signer::Signer,
    throttle::Throttle,
    token::{TOKEN_CACHE_CAPACITY, VerifiedToken},
};
use ahash::RandomState;
use moka::sync::Cache;
use portolan_outgoing::Outgoing;
use portolan_store::{AuditRecord, StandingSignals, Store, Unit};
use portolan_vocabulary::{Clock, Keyring, Operator, Timestamp};
use serde_json::Value;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The path of the metadata of the REST API as a protected resource; for the MCP endpoint, its path is added.
pub const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";

/// The register of agents and the issuer of their tokens.
#[derive(Debug)]
pub struct Identity {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) records: Records,
    pub(crate) keys: SigningKeys,
    pub(crate) refresh_tokens: Signer,
    pub(crate) sign_ins: Signer,
    pub(crate) elicitations: Signer,
    pub(crate) claim_links: Signer,
    pub(crate) documents: Documents,
    pub(crate) failed_attempts: FailedAttempts,
    pub(crate) throttle: Throttle,
    pub(crate) operator_tokens: OperatorTokens,
    /// `None` if passkeys cannot belong to the host's address.
    pub(crate) relying_party: Option<RelyingParty>,
    pub(crate) settings: Settings,
    /// `iss` of every token, and the base of every address in the metadata.
    pub(crate) issuer: String,
    /// `aud` of a token for the REST API.
    pub(crate) audience: String,
    /// `aud` of a token for the MCP endpoint.
    pub(crate) mcp_audience: String,
    /// The verified tokens, by the token itself: a cryptographic hash of it would cost more than
    /// everything else that is done with a cached token.
    pub(crate) verified: Cache<Box<str>, Arc<VerifiedToken>, RandomState>,
    /// The number of invalidations of cached standings, by this node and by others. See `authenticate`.
    invalidations: Arc<AtomicU64>,
}

impl Identity {
    /// Opens the register in this store, and makes the first signing key if there is none.
    pub async fn open(
        store: Store,
        keys: &Keyring,
        settings: Settings,
        outgoing: Outgoing,
        clock: Clock,
    ) -> Result<Self, IdentityError> {
        let invalidations: Arc<AtomicU64> = Arc::default();
        tokio::spawn(follow_standings(store.standing_signals(), Arc::clone(&invalidations)));
        Ok(Self {
            records: Records::open(&store).await?,
            keys: SigningKeys::open(&store, &clock).await?,
            refresh_tokens: Signer::new(keys, "refresh+jwt"),
            sign_ins: Signer::new(keys, "steps+jwt"),
            elicitations: Signer::new(keys, "question+jwt"),
            claim_links: Signer::new(keys, "claim+jwt"),
            documents: Documents::new(outgoing),
            failed_attempts: FailedAttempts::default(),
            throttle: Throttle::new(),
            operator_tokens: OperatorTokens::new(store.clone()),
            relying_party: RelyingParty::of(&settings.public_url),
            issuer: settings.public_url.clone(),
            audience: settings.public_url.clone(),
            mcp_audience: format!("{}/mcp", settings.public_url),
            settings,
            store,
            clock,
            verified: Cache::builder()
                .max_capacity(TOKEN_CACHE_CAPACITY)
                .build_with_hasher(RandomState::new()),
            invalidations,
        })
    }

    /// Returns the `iss` of every token.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns the `aud` of a token for the REST API.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// Returns the `aud` of a token for the MCP endpoint.
    pub fn mcp_audience(&self) -> &str {
        &self.mcp_audience
    }

    /// Returns the path of the metadata of the resource with this audience (RFC 9728, section 3.1).
    pub(crate) fn metadata_path(&self, audience: &str) -> String {
        let resource = audience.strip_prefix(&*self.audience).unwrap_or_default();
        format!("{RESOURCE_METADATA}{resource}")
    }

    /// Returns the life of an access token, in seconds.
    pub fn access_seconds(&self) -> u64 {
        self.settings.access_seconds
    }

    /// Returns the hosts to which clients may redirect.
    pub fn redirects(&self) -> &RedirectHosts {
        &self.settings.redirects
    }

    /// Returns the approximate number of verified tokens in the cache.
    pub fn cached_tokens(&self) -> u64 {
        self.verified.run_pending_tasks();
        self.verified.entry_count()
    }

    /// Returns the public parts of the signing keys (RFC 7517).
    pub async fn public_keys(&self) -> Result<Value, IdentityError> {
        self.keys.public_key_set().await
    }

    /// Creates a signing key for an operator. Returns the ids of the keys that are valid now, the newest
    /// first, with the time of creation of each.
    pub async fn rotate_keys(
        &self,
        operator: &Operator,
    ) -> Result<Vec<(String, Timestamp)>, IdentityError> {
        let keys = self.keys.rotate().await?;
        let row =
            AuditRecord { via: vec![operator.caller()], ..self.audit_row(AuthAction::KeyRotated) };
        self.write_audit_row(row).await?;
        Ok(keys.iter().map(|key| (key.id.clone(), key.created_at())).collect())
    }

    /// Begins a unit of work that belongs to no call.
    pub(crate) fn unit(&self) -> Unit {
        Unit::new(self.store.clone(), self.clock.now())
    }

    /// Invalidates every cached standing, on this node at once and on the others as soon as they hear of it.
    pub fn invalidate_standings(&self) {
        self.invalidations.fetch_add(1, Ordering::AcqRel);
        self.store.announce_standings();
    }

    /// Returns the number of invalidations so far.
    pub(crate) fn invalidations(&self) -> u64 {
        self.invalidations.load(Ordering::Acquire)
    }
}

/// Invalidates every cached standing on this node whenever a node announces that standings have changed, until the store
/// is closed.
async fn follow_standings(mut signals: StandingSignals, invalidations: Arc<AtomicU64>) {
    while signals.changed().await {
        invalidations.fetch_add(1, Ordering::AcqRel);
    }
}
