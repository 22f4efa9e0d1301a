//! The rules that change a signal's maturity.

use super::{Facts, Maturity};
use crate::{
    record::SignalKind,
    timestamp::{Timestamp, days},
};
use std::time::Duration;

/// How old a board's reading may be so that it verifies a lead.
pub(super) const FRESH: Duration = days(3);
/// How long a signal may be stale before it is closed.
pub(super) const AWAY: Duration = days(14);
/// A lead without new evidence expires after this time.
pub(super) const SILENCE: Duration = days(45);

/// The maturity to which a rule leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    State(Maturity),
    /// The maturity before the objection.
    Former,
}

/// `None` if a rule does not match; otherwise the source that supports the step, if there is one.
pub(super) type Cited = Option<Option<String>>;

/// What a rule reads: the facts, and since when the signal has had its maturity.
pub(super) struct Standing<'a> {
    pub(super) facts: &'a Facts,
    pub(super) since: Timestamp,
}

pub(super) struct Rule {
    pub(super) kinds: &'static [SignalKind],
    pub(super) from: &'static [Option<Maturity>],
    pub(super) holds: fn(&Standing<'_>) -> Cited,
    pub(super) to: To,
    pub(super) reason: &'static str,
}

const BOTH: &[SignalKind] = &[SignalKind::Funding, SignalKind::Hiring];
const FUNDING: &[SignalKind] = &[SignalKind::Funding];
const HIRING: &[SignalKind] = &[SignalKind::Hiring];
const LEADS: &[Option<Maturity>] = &[Some(Maturity::Lead), Some(Maturity::Corroborated)];
/// Every maturity but disputed and retracted.
const OPEN: &[Option<Maturity>] = &[
    Some(Maturity::Unsourced),
    Some(Maturity::SourceBacked),
    Some(Maturity::Confirmed),
    Some(Maturity::Lead),
    Some(Maturity::Corroborated),
    Some(Maturity::Verified),
    Some(Maturity::Stale),
    Some(Maturity::Closed),
    Some(Maturity::Expired),
];

fn when(holds: bool) -> Cited {
    holds.then_some(None)
}

fn cited(source: Option<&String>) -> Cited {
    source.map(|id| Some(id.clone()))
}

fn fresh_role(standing: &Standing<'_>) -> Cited {
    let facts = standing.facts;
    when(facts.open_role_read_at.is_some_and(|at| facts.now.since(at) <= FRESH))
}

/// The rules, in order: the first that matches is applied.
pub(super) const TABLE: &[Rule] = &[
    Rule {
        kinds: FUNDING,
        from: &[None],
        holds: |standing| standing.facts.reported.then(|| standing.facts.source.clone()),
        to: To::State(Maturity::Lead),
        reason: "reported on the word of unnamed sources",
    },
    Rule {
        kinds: FUNDING,
        from: &[None],
        holds: |standing| cited(standing.facts.source.as_ref()),
        to: To::State(Maturity::SourceBacked),
        reason: "told by a source",
    },
    Rule {
        kinds: FUNDING,
        from: &[None],
        holds: |_| when(true),
        to: To::State(Maturity::Unsourced),
        reason: "told without a source",
    },
    Rule {
        kinds: HIRING,
        from: &[None],
        holds: |standing| Some(standing.facts.source.clone()),
        to: To::State(Maturity::Lead),
        reason: "a lead",
    },
    Rule {
        kinds: BOTH,
        from: OPEN,
        holds: |standing| cited(standing.facts.objection.as_ref()),
        to: To::State(Maturity::Disputed),
        reason: "the verified owner objects, or the source is taken back",
    },
    Rule {
        kinds: BOTH,
        from: &[Some(Maturity::Disputed)],
        holds: |standing| {
            let review = standing.facts.review.as_ref().filter(|review| review.upheld)?;
            Some(Some(review.source_id.clone()))
        },
        to: To::State(Maturity::Retracted),
        reason: "the objection was found right",
    },
    Rule {
        kinds: BOTH,
        from: &[Some(Maturity::Disputed)],
        holds: |standing| {
            let review = standing.facts.review.as_ref().filter(|review| !review.upheld)?;
            Some(Some(review.source_id.clone()))
        },
        to: To::Former,
        reason: "the objection was found wrong",
    },
    Rule {
        kinds: FUNDING,
        from: &[Some(Maturity::Unsourced)],
        holds: |standing| cited(standing.facts.source.as_ref()),
        to: To::State(Maturity::SourceBacked),
        reason: "a source was found",
    },
    Rule {
        kinds: FUNDING,
        from: &[Some(Maturity::SourceBacked)],
        holds: |standing| {
            cited(standing.facts.confirmation.as_ref())
                .or_else(|| cited(standing.facts.owner_confirms.as_ref()))
        },
        to: To::State(Maturity::Confirmed),
        reason: "a filing, both sides or the verified owner say so",
    },
    Rule {
        kinds: FUNDING,
        from: LEADS,
        holds: |standing| {
            let announced = !standing.facts.reported;
            let owner = cited(standing.facts.owner_confirms.as_ref());
            owner.or_else(|| cited(standing.facts.source.as_ref()).filter(|_| announced))
        },
        to: To::State(Maturity::SourceBacked),
        reason: "announced",
    },
    Rule {
        kinds: HIRING,
        from: LEADS,
        holds: fresh_role,
        to: To::State(Maturity::Verified),
        reason: "a matching role is open on the company's own board",
    },
    Rule {
        kinds: HIRING,
        from: LEADS,
        holds: |standing| cited(standing.facts.owner_confirms.as_ref()),
        to: To::State(Maturity::Verified),
        reason: "the verified owner says so",
    },
    Rule {
        kinds: HIRING,
        from: LEADS,
        holds: |standing| cited(standing.facts.stopped.as_ref()),
        to: To::State(Maturity::Closed),
        reason: "the company is said not to be hiring",
    },
    Rule {
        kinds: BOTH,
        from: &[Some(Maturity::Lead)],
        holds: |standing| cited(standing.facts.second_publisher.as_ref()),
        to: To::State(Maturity::Corroborated),
        reason: "a second, independent publisher",
    },
    Rule {
        kinds: BOTH,
        from: LEADS,
        holds: |standing| {
            when(standing.facts.now.since(standing.facts.last_evidence_at) >= SILENCE)
        },
        to: To::State(Maturity::Expired),
        reason: "45 days without new evidence",
    },
    Rule {
        kinds: HIRING,
        from: &[Some(Maturity::Verified)],
        holds: |standing| when(standing.facts.roles_left),
        to: To::State(Maturity::Stale),
        reason: "the roles were missing from the board twice in a row",
    },
    Rule {
        kinds: HIRING,
        from: &[Some(Maturity::Stale)],
        holds: fresh_role,
        to: To::State(Maturity::Verified),
        reason: "a role is back on the board",
    },
    Rule {
        kinds: HIRING,
        from: &[Some(Maturity::Stale)],
        holds: |standing| when(standing.facts.now.since(standing.since) >= AWAY),
        to: To::State(Maturity::Closed),
        reason: "14 days without a role on the board",
    },
];
