//! Opens the store: connects its parts and starts its tasks.

use crate::{
    audit_log::AuditChain,
    commit::{Committer, Database, Rates, ReadValidator, Signals},
    connection::{Backend, DocumentReader, ServerSettings, Statements},
    error::DbError,
    query::Layouts,
    server_clock::ServerClock,
    store::{Inner, Store},
    url::DatabaseUrl,
};
use portolan_vocabulary::{Clock, Keyring, Quotas};
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;

impl Store {
    /// Opens the database, creating it if there is none, and brings its schema up to date.
    pub async fn open(
        url: &DatabaseUrl,
        keys: &Keyring,
        clock: Clock,
        quotas: Quotas,
    ) -> Result<Self, DbError> {
        Self::open_with(url, &ServerSettings::default(), keys, clock, quotas).await
    }

    /// The same with settings, which SQLite does not need.
    pub async fn open_with(
        url: &DatabaseUrl,
        settings: &ServerSettings,
        keys: &Keyring,
        clock: Clock,
        quotas: Quotas,
    ) -> Result<Self, DbError> {
        let backend = Arc::new(Backend::open(url, settings).await?);
        let statements = Arc::new(Statements::new(&backend));
        let layouts = Layouts::default();
        let signals = Signals::new(&backend);
        let audit_chain = Arc::new(AuditChain::default());
        let committer = Committer::start(Database {
            backend: Arc::clone(&backend),
            statements: Arc::clone(&statements),
            layouts: layouts.clone(),
            signals: signals.clone(),
            quotas: quotas.clone(),
            rates: Rates::default(),
            clock: clock.clone(),
            audit_chain: Arc::clone(&audit_chain),
        })?;
        let validator = ReadValidator::start(&backend, Arc::clone(&statements), clock.clone())?;
        signals.connect(&backend);
        let documents = DocumentReader::start(&backend, Arc::clone(&statements))?;
        let keys = keys.clone();
        let key_seal = Arc::new(keys.clone());
        let inner = Inner {
            backend,
            statements,
            committer,
            validator,
            documents,
            signals,
            layouts,
            keys,
            key_seal,
            clock,
            server_clock: ServerClock::default(),
            quotas,
            audit_chain,
            searches: Semaphore::new(1),
            erasure_list: OnceLock::new(),
        };
        let store = Self { inner: Arc::new(inner) };
        store.follow_server_clock().await?;
        store.release_leases().await?;
        Ok(store)
    }
}
