//! The table itself.

use super::{Facts, Maturity};
use crate::{
    record::SignalKind,
    timestamp::{Timestamp, days},
};
use std::time::Duration;

/// How old the reading of a board may be that makes a lead a fact.
pub(super) const FRESH: Duration = days(3);
/// How long a role may be away before hiring is over.
pub(super) const AWAY: Duration = days(14);
/// How long a lead lives on what was last heard of it.
pub(super) const SILENCE: Duration = days(45);
/// Where a step leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    State(Maturity),
    /// Where it was before the objection.
    Former,
}

/// What holds, and which source it rests on.
pub(super) type Cited = Option<Option<String>>;

/// How things stand: the facts, and since when the state has been what it is.
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
/// Everything but what is disputed already, or over by a review.
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

/// Read from the top; the first that holds is taken.
pub(super) const TABLE: &[Rule] = &[
    Rule {
        kinds: FUNDING,
        from: &[None],
        holds: |it| cited(it.facts.source.as_ref()),
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
        holds: |it| Some(it.facts.source.clone()),
        to: To::State(Maturity::Lead),
        reason: "a lead",
    },
    Rule {
        kinds: BOTH,
        from: OPEN,
        holds: |it| cited(it.facts.objection.as_ref()),
        to: To::State(Maturity::Disputed),
        reason: "the verified owner objects, or the source is taken back",
    },
    Rule {
        kinds: BOTH,
        from: &[Some(Maturity::Disputed)],
        holds: |it| {
            let review = it.facts.review.as_ref().filter(|review| review.upheld)?;
            Some(Some(review.source_id.clone()))
        },
        to: To::State(Maturity::Retracted),
        reason: "the objection was found right",
    },
    Rule {
        kinds: BOTH,
        from: &[Some(Maturity::Disputed)],
        holds: |it| {
            let review = it.facts.review.as_ref().filter(|review| !review.upheld)?;
            Some(Some(review.source_id.clone()))
        },
        to: To::Former,
        reason: "the objection was found wrong",
    },
    Rule {
        kinds: FUNDING,
        from: &[Some(Maturity::Unsourced)],
        holds: |it| cited(it.facts.source.as_ref()),
        to: To::State(Maturity::SourceBacked),
        reason: "a source was found",
    },
    Rule {
        kinds: FUNDING,
        from: &[Some(Maturity::SourceBacked)],
        holds: |it| {
            cited(it.facts.confirmation.as_ref())
                .or_else(|| cited(it.facts.owner_confirms.as_ref()))
        },
        to: To::State(Maturity::Confirmed),
        reason: "a filing, both sides or the verified owner say so",
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
        holds: |it| cited(it.facts.owner_confirms.as_ref()),
        to: To::State(Maturity::Verified),
        reason: "the verified owner says so",
    },
    Rule {
        kinds: HIRING,
        from: &[Some(Maturity::Lead)],
        holds: |it| cited(it.facts.second_publisher.as_ref()),
        to: To::State(Maturity::Corroborated),
        reason: "a second, independent publisher",
    },
    Rule {
        kinds: HIRING,
        from: LEADS,
        holds: |it| when(it.facts.now.since(it.facts.last_evidence_at) >= SILENCE),
        to: To::State(Maturity::Expired),
        reason: "45 days without new evidence",
    },
    Rule {
        kinds: HIRING,
        from: &[Some(Maturity::Verified)],
        holds: |it| when(it.facts.roles_left),
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
        holds: |it| when(it.facts.now.since(it.since) >= AWAY),
        to: To::State(Maturity::Closed),
        reason: "14 days without a role on the board",
    },
];
