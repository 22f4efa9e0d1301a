//! What people with a say about a signal said: its target's verified owner, and whoever reviews.

use crate::{
    identifier::{sha256, stable},
    maturity::{Facts, Review},
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
    /// The objection that a review decides; whichever there is, if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// Somebody else publishes the same, and a review found that it is so: one publisher more. It
    /// confirms nothing by itself.
    Supports,
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

impl Knowledge {
    /// What counts of a signal, in the order it was said: by whoever is entitled to say it, and only what
    /// can be cited.
    pub(super) fn about(&self, signal: &Signal) -> Vec<&Evidence> {
        let counts = |it: &&Evidence| {
            it.signal_id == signal.id && self.entitles(it, signal) && it.address().is_some()
        };
        let mut statements: Vec<&Evidence> = self.evidence.iter().filter(counts).collect();
        statements.sort_by_key(|it| (it.at, &it.id));
        statements
    }

    /// Only a verified owner's word is an owner's.
    fn entitles(&self, evidence: &Evidence, signal: &Signal) -> bool {
        match evidence.kind {
            EvidenceKind::OwnerConfirms | EvidenceKind::OwnerObjects => {
                self.verified_owners.contains(&signal.target_id)
            }
            EvidenceKind::Supports
            | EvidenceKind::SourceRetracted
            | EvidenceKind::ObjectionUpheld
            | EvidenceKind::ObjectionRejected => true,
        }
    }
}

fn source_id(evidence_id: &str) -> String {
    stable("src", &["evidence", evidence_id])
}

impl Evidence {
    pub(super) fn source_id(&self) -> String {
        source_id(&self.id)
    }

    fn address(&self) -> Option<String> {
        crate::text::link(&self.url)
    }

    /// Makes it one of the signal's sources.
    pub(super) fn cite(&self, signal: &mut Signal, now: Timestamp) {
        let id = self.source_id();
        if !signal.sources.iter().any(|it| it.id == id) {
            signal.sources.extend(self.source(&signal.headline, now));
        }
    }

    fn source(&self, headline: &str, now: Timestamp) -> Option<Source> {
        let (kind, is_dated) = match self.kind {
            EvidenceKind::OwnerConfirms | EvidenceKind::OwnerObjects => (SourceType::Owner, true),
            // When it was published is not known, only when it was found.
            EvidenceKind::Supports => (SourceType::Other, false),
            EvidenceKind::SourceRetracted
            | EvidenceKind::ObjectionUpheld
            | EvidenceKind::ObjectionRejected => (SourceType::Other, true),
        };
        // Whoever said it has a clock of their own.
        let at = self.at.min(now);
        let publisher = crate::text::some_line(Some(&self.publisher), 120);
        Some(Source {
            id: self.source_id(),
            kind,
            publisher: publisher.unwrap_or_else(|| "Unnamed".to_owned()),
            url: self.address()?,
            title: headline.to_owned(),
            published_at: is_dated.then_some(at),
            retrieved_at: at,
            excerpt: String::new(),
            sha256: sha256(self.id.as_bytes()),
        })
    }

    /// Whether a step has answered it.
    pub(super) fn is_answered(&self, signal: &Signal) -> bool {
        let id = self.source_id();
        signal.maturity_history.iter().any(|step| step.source_id.as_ref() == Some(&id))
    }

    /// How things stand with this statement among them.
    pub(super) fn among(&self, facts: &Facts, signal: &Signal) -> Facts {
        let (id, mut facts) = (self.source_id(), facts.clone());
        match self.kind {
            EvidenceKind::Supports => {}
            EvidenceKind::OwnerConfirms => facts.owner_confirms = Some(id),
            EvidenceKind::OwnerObjects | EvidenceKind::SourceRetracted => {
                facts.objection = Some(id);
            }
            EvidenceKind::ObjectionUpheld | EvidenceKind::ObjectionRejected => {
                let upheld = self.kind == EvidenceKind::ObjectionUpheld;
                facts.review = self.decides(signal).then_some(Review { source_id: id, upheld });
            }
        }
        facts
    }

    /// Whether a review is about the objection that the signal is disputed by now.
    fn decides(&self, signal: &Signal) -> bool {
        let last = signal.maturity_history.last().and_then(|step| step.source_id.as_ref());
        self.answers.as_ref().is_none_or(|objection| last == Some(&source_id(objection)))
    }
}
