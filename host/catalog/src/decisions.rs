//! The operator's decisions about components: what is permitted, and to which publisher an id belongs.

use crate::{
    candidate::{Candidate, Waiting},
    catalog::Catalog,
    permission::Grants,
};
use portolan_store::{Attachments, AuditRecord, DbError, InstalledId, Unit};
use portolan_vocabulary::{Digest, Operator};
use std::collections::BTreeMap;

/// The reasons why a decision cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error(
        "no file of the catalog folder with the id {0} waits for this decision; see `portolan catalog`"
    )]
    NothingToDecide(String),
    #[error("several files with the id {0} wait: remove all but one")]
    Ambiguous(String),
    #[error(
        "the component with the id {id} is another one now, with the digest {digest}; see `portolan catalog`"
    )]
    Changed { id: String, digest: Digest },
    #[error(transparent)]
    Store(#[from] DbError),
}

/// The decisions in the database: the publisher of each id, and the permissions of each id.
pub(super) type RecordedDecisions = (BTreeMap<String, InstalledId>, Vec<(String, String)>);

impl Catalog {
    /// Grants the permissions that the component with this id waits for, and returns them. An id that
    /// belongs to no publisher becomes the component's publisher's. Fails with `Changed` if the component
    /// does not have the digest, which is that of the component that the operator has seen.
    pub async fn approve(
        &self,
        id: &str,
        digest: Option<&str>,
        operator: &Operator,
    ) -> Result<Vec<String>, DecisionError> {
        let Waiting { candidate, missing } =
            self.find_waiting((id, digest), |waiting| !waiting.missing.is_empty())?;
        let (publisher, now) = (candidate.publisher.to_string(), self.options.clock.now());
        self.store.claim_id(id, &publisher, now).await?;
        let permissions: Vec<_> = missing.iter().map(ToString::to_string).collect();
        self.store.grant(id, &publisher, &permissions, now).await?;
        tracing::info!(
            id,
            publisher,
            permissions = permissions.join(" "),
            "permissions are granted"
        );
        self.record_decision(id, &publisher, "operator:approve", Some(operator)).await?;
        self.decided.notify_one();
        Ok(permissions)
    }

    /// Gives an id to the publisher of the refused component with this id, and returns the publisher.
    /// Fails with `Changed` if the component does not have the digest, which is that of the component that
    /// the operator has seen.
    pub async fn adopt(
        &self,
        id: &str,
        digest: Option<&str>,
        operator: &Operator,
    ) -> Result<String, DecisionError> {
        let Waiting { candidate, .. } =
            self.find_waiting((id, digest), |waiting| waiting.missing.is_empty())?;
        let Candidate { publisher, namespaces, .. } = candidate;
        let publisher = publisher.to_string();
        self.store.adopt(id, &namespaces, &publisher, self.options.clock.now()).await?;
        self.record_decision(id, &publisher, "operator:adopt", Some(operator)).await?;
        self.decided.notify_one();
        Ok(publisher)
    }

    /// Permits an older version of a signed component, which waits in the catalog folder, to serve next.
    pub(super) async fn permit_older(
        &self,
        id: &str,
        operator: Option<&Operator>,
    ) -> Result<(), DbError> {
        let mut installed = self.store.installed_ids().await?;
        if let Some(InstalledId { publisher, highest_version }) = installed.remove(id) {
            self.store.put_highest_version(id, highest_version.as_deref(), None).await?;
            self.record_decision(id, &publisher, "operator:rollback", operator).await?;
            self.decided.notify_one();
        }
        Ok(())
    }

    /// Records a decision of an operator, or of a publisher if there is none, in the audit log, with the
    /// publisher in place of a version.
    pub(super) async fn record_decision(
        &self,
        id: &str,
        publisher: &str,
        decision: &str,
        operator: Option<&Operator>,
    ) -> Result<(), DbError> {
        self.audit(id, (publisher, String::new()), (decision, "ok"), operator).await
    }

    /// Records a decision about a version in the audit log: of an operator, or of the host if there is none.
    pub(super) async fn record_version_decision(
        &self,
        (id, version, digest): (&str, &str, &str),
        decision: &str,
        operator: Option<&Operator>,
    ) -> Result<(), DbError> {
        let digest = digest.trim_start_matches("sha256:").to_owned();
        self.audit(id, (version, digest), (decision, "ok"), operator).await
    }

    /// Records in the audit log that the host has aborted the release of a version. The outcome has the figures.
    pub(super) async fn record_abort(
        &self,
        (id, version, digest): (&str, &str, &str),
        outcome: &str,
    ) -> Result<(), DbError> {
        let digest = digest.trim_start_matches("sha256:").to_owned();
        self.audit(id, (version, digest), ("release:aborted", outcome), None).await
    }

    async fn audit(
        &self,
        id: &str,
        (version, digest): (&str, String),
        (decision, outcome): (&str, &str),
        operator: Option<&Operator>,
    ) -> Result<(), DbError> {
        tracing::info!(id, version, decision, "a decision about a component is recorded");
        let now = self.options.clock.now();
        let audit = AuditRecord {
            via: operator.map(Operator::caller).into_iter().collect(),
            capability: id.to_owned(),
            version: version.to_owned(),
            digest,
            ..AuditRecord::of_host(decision, outcome, now)
        };
        let attachments = Attachments { audit: Some(audit), ..Attachments::default() };
        let committed = Unit::new(self.store.clone(), now).commit(attachments).await;
        committed.map(drop).map_err(DbError::Shared)
    }

    fn find_waiting(
        &self,
        (id, digest): (&str, Option<&str>),
        is_candidate: impl Fn(&Waiting) -> bool,
    ) -> Result<Waiting, DecisionError> {
        let waiting = self.waiting().into_iter();
        let mut waiting =
            waiting.filter(|component| component.candidate.id == id && is_candidate(component));
        match (waiting.next(), waiting.next()) {
            (Some(component), None) => match digest {
                Some(seen) if seen != component.candidate.digest.to_string() => {
                    let digest = component.candidate.digest;
                    Err(DecisionError::Changed { id: id.to_owned(), digest })
                }
                _ => Ok(component),
            },
            (None, _) => Err(DecisionError::NothingToDecide(id.to_owned())),
            _ => Err(DecisionError::Ambiguous(id.to_owned())),
        }
    }

    pub(super) async fn recorded_decisions(&self) -> Result<RecordedDecisions, DbError> {
        Ok((self.store.installed_ids().await?, self.store.granted().await?))
    }

    /// Returns the configured grants with the recorded ones. A recorded permission that cannot be parsed is
    /// left out.
    pub(super) fn merge_grants(&self, granted: &[(String, String)]) -> Grants {
        let known = granted.iter().filter_map(|(id, text)| Some((id.clone(), text.parse().ok()?)));
        self.options.grants.with(known)
    }
}
