//! Evidence: statements about a signal by its target's verified owner, by people who submit sources, and
//! by reviewers.

use crate::{
    identifier::{sha256, stable},
    maturity::{Facts, Review},
    record::{Signal, Source, SourceType},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is known from outside of the sources: from the capability `signal_verification`, and from the
/// verification of owners.
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
    /// Where the statement can be read.
    pub url: String,
    /// The id of the objection that a review decides. If it is absent, the review decides the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A review found that another publisher reports the same. This is one publisher more; it does not
    /// confirm or verify the signal by itself.
    Supports,
    /// The verified owner confirms the signal.
    OwnerConfirms,
    /// The verified owner says that the signal is wrong.
    OwnerObjects,
    /// The publisher has retracted the source.
    SourceRetracted,
    /// A review found the objection right.
    ObjectionUpheld,
    /// A review found the objection wrong.
    ObjectionRejected,
}

impl Knowledge {
    /// Returns the statements about a signal that count, in their order of time. A statement counts if its
    /// author is entitled to make it, and if its URL can be cited.
    pub(super) fn about(&self, signal: &Signal) -> Vec<&Evidence> {
        let counts = |evidence: &&Evidence| {
            evidence.signal_id == signal.id
                && self.entitles(evidence, signal)
                && evidence.address().is_some()
        };
        let mut statements: Vec<&Evidence> = self.evidence.iter().filter(counts).collect();
        statements.sort_by_key(|evidence| (evidence.at, &evidence.id));
        statements
    }

    /// Returns whether the author may make such a statement: an owner only if verified.
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

    /// Adds the statement to the signal's sources.
    pub(super) fn cite(&self, signal: &mut Signal, now: Timestamp) {
        let id = self.source_id();
        if !signal.sources.iter().any(|source| source.id == id) {
            signal.sources.extend(self.source(&signal.headline, now));
        }
    }

    fn source(&self, headline: &str, now: Timestamp) -> Option<Source> {
        let (kind, is_dated) = match self.kind {
            EvidenceKind::OwnerConfirms | EvidenceKind::OwnerObjects => (SourceType::Owner, true),
            // It is not known when the page was published, only when it was found.
            EvidenceKind::Supports => (SourceType::Other, false),
            EvidenceKind::SourceRetracted
            | EvidenceKind::ObjectionUpheld
            | EvidenceKind::ObjectionRejected => (SourceType::Other, true),
        };
        // The author's clock may be ahead of this one.
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
            license: None,
            attribution: None,
        })
    }

    /// Returns whether a step of the signal has already answered the statement.
    pub(super) fn is_answered(&self, signal: &Signal) -> bool {
        let id = self.source_id();
        signal.maturity_history.iter().any(|step| step.source_id.as_ref() == Some(&id))
    }

    /// Returns the facts with this statement added to them.
    pub(super) fn added_to(&self, facts: &Facts, signal: &Signal) -> Facts {
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

    /// Returns whether a review decides the objection by which the signal is disputed now.
    fn decides(&self, signal: &Signal) -> bool {
        let last = signal.maturity_history.last().and_then(|step| step.source_id.as_ref());
        self.answers.as_ref().is_none_or(|objection| last == Some(&source_id(objection)))
    }
}
