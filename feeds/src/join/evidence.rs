//! What people with a say about a signal said: its target's verified owner, and whoever reviews.

use crate::{
    identifier::{sha256, stable},
    record::{Signal, Source, SourceType},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What comes from outside of the sources: from the capability `signal_verification`, and from whoever
/// verifies owners.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Knowledge {
    /// Targets whose owner is verified.
    pub verified_owners: BTreeSet<String>,
    pub evidence: Vec<Evidence>,
}

/// One statement about a signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub id: String,
    pub signal_id: String,
    pub kind: EvidenceKind,
    pub at: Timestamp,
    pub publisher: String,
    /// Where it can be read.
    pub url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// The verified owner says that it is so.
    OwnerConfirms,
    /// The verified owner says that it is not so.
    OwnerObjects,
    /// Whoever published it took it back.
    SourceRetracted,
    /// A review found the objection right.
    ObjectionUpheld,
    /// A review found the objection wrong.
    ObjectionRejected,
}

impl Evidence {
    pub(super) fn source_id(&self) -> String {
        stable("src", &["evidence", &self.id])
    }

    pub(super) fn source(&self, headline: &str) -> Option<Source> {
        let kind = match self.kind {
            EvidenceKind::OwnerConfirms | EvidenceKind::OwnerObjects => SourceType::Owner,
            EvidenceKind::SourceRetracted
            | EvidenceKind::ObjectionUpheld
            | EvidenceKind::ObjectionRejected => SourceType::Other,
        };
        Some(Source {
            id: self.source_id(),
            kind,
            publisher: crate::text::line(&self.publisher, 120),
            url: crate::text::link(&self.url)?,
            title: headline.to_owned(),
            published_at: Some(self.at),
            retrieved_at: self.at,
            excerpt: String::new(),
            sha256: sha256(self.id.as_bytes()),
        })
    }

    /// Whether a step has answered it.
    pub(super) fn is_answered(&self, signal: &Signal) -> bool {
        let id = self.source_id();
        signal.maturity_history.iter().any(|step| step.source_id.as_ref() == Some(&id))
    }
}
