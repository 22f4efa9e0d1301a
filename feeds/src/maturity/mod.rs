//! Maturity: how well a signal is supported. A table of rules changes it; rules are applied until
//! none of them matches. Every step is kept with its reason.

mod table;

use crate::{record::SignalKind, timestamp::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::{Standing, TABLE, To};

/// The bound of the loop: more steps than one build can make.
const STEPS: usize = 6;

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Maturity {
    Retracted,
    Disputed,
    Unsourced,
    Closed,
    Expired,
    Stale,
    Lead,
    Corroborated,
    SourceBacked,
    Verified,
    Confirmed,
}

impl Maturity {
    /// Returns the label that people read.
    pub fn label(self) -> &'static str {
        match self {
            Self::Unsourced => "Unconfirmed",
            Self::SourceBacked => "Source-backed",
            Self::Confirmed => "Confirmed",
            Self::Lead => "Lead – not verified",
            Self::Corroborated => "Lead – not verified, two publishers",
            Self::Verified => "Verified",
            Self::Stale => "Stale – no longer on the board",
            Self::Closed => "Closed",
            Self::Expired => "Expired lead",
            Self::Disputed => "Disputed",
            Self::Retracted => "Retracted",
        }
    }

    pub fn confidence(self) -> f64 {
        match self {
            Self::Retracted => 0.0,
            Self::Disputed | Self::Closed | Self::Expired => 0.1,
            Self::Unsourced => 0.2,
            Self::Lead => 0.3,
            Self::Stale => 0.4,
            Self::Corroborated => 0.5,
            Self::SourceBacked => 0.7,
            Self::Verified => 0.9,
            Self::Confirmed => 0.95,
        }
    }

    /// Returns whether the signal has ended: later evidence begins another signal.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Closed | Self::Expired | Self::Retracted)
    }
}

/// One step of a signal's life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Maturity>,
    pub to: Maturity,
    pub at: Timestamp,
    pub reason: String,
    /// The source that supports the step, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
}

/// What is known about a signal now. Texts are identifiers of sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub now: Timestamp,
    /// The first source that has an address and names the target.
    pub source: Option<String>,
    /// A filing with a regulator, or the announcement of the second side.
    pub confirmation: Option<String>,
    /// A source under another registrable domain than the first.
    pub second_publisher: Option<String>,
    /// When the target's own board was last read, if it has a matching role.
    pub open_role_read_at: Option<Timestamp>,
    /// There were matching roles, and each was missing from two readings in a row.
    pub roles_left: bool,
    /// All sources rely on others that they do not name.
    pub reported: bool,
    /// The source of a later statement that the company is not hiring.
    pub stopped: Option<String>,
    pub owner_confirms: Option<String>,
    pub last_evidence_at: Timestamp,
    /// An objection by the verified owner, or a retracted source, that no step has answered yet.
    pub objection: Option<String>,
    /// The result of the review of an objection.
    pub review: Option<Review>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub source_id: String,
    /// Whether the review found the objection right.
    pub upheld: bool,
}

/// Applies the table to the facts, and adds each step to the history. Returns the maturity.
pub fn advance(kind: SignalKind, history: &mut Vec<Step>, facts: &Facts) -> Option<Maturity> {
    for _ in 0..STEPS {
        let last = history.last();
        let from = last.map(|step| step.to);
        let standing = Standing { facts, since: last.map_or(facts.now, |step| step.at) };
        let mut rules =
            TABLE.iter().filter(|rule| rule.kinds.contains(&kind) && rule.from.contains(&from));
        let Some((rule, source_id)) = rules.find_map(|rule| Some((rule, (rule.holds)(&standing)?)))
        else {
            break;
        };
        let to = match rule.to {
            To::State(state) => state,
            To::Former => match last.and_then(|step| step.from) {
                Some(former) => former,
                None => break,
            },
        };
        let reason = rule.reason.to_owned();
        history.push(Step { from, to, at: facts.now, reason, source_id });
    }
    history.last().map(|step| step.to)
}

#[cfg(test)]
mod tests {
    use super::{
        table::{AWAY, FRESH, SILENCE},
        *,
    };
    use crate::timestamp::days;
    use Maturity::*;
    use SignalKind::{Funding, Hiring};
    use std::time::Duration;

    const NOW: i64 = 1_795_285_800_000;

    fn facts() -> Facts {
        let now = Timestamp::from_millis(NOW);
        Facts { now, last_evidence_at: now, ..Facts::default() }
    }

    fn source(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    /// Returns the history of a signal that has had the maturity `state` for this time.
    fn history(state: Maturity, for_so_long: Duration) -> Vec<Step> {
        let at = Timestamp::from_millis(NOW).before(for_so_long);
        vec![Step { from: None, to: state, at, reason: "given".to_owned(), source_id: None }]
    }

    fn after(kind: SignalKind, state: Maturity, facts: &Facts) -> Vec<Maturity> {
        let mut history = history(state, days(1));
        advance(kind, &mut history, facts);
        history.iter().skip(1).map(|step| step.to).collect()
    }

    #[test]
    fn funding_with_a_source_is_source_backed() {
        let mut history = Vec::new();
        let facts = Facts { source: source("src_1"), ..facts() };
        assert_eq!(advance(Funding, &mut history, &facts), Some(SourceBacked));
        let [step] = history.as_slice() else { panic!("one step") };
        assert_eq!((step.from, step.source_id.as_deref()), (None, Some("src_1")));
        assert_eq!(step.at, facts.now);
    }

    #[test]
    fn funding_without_a_source_is_unsourced() {
        assert_eq!(advance(Funding, &mut Vec::new(), &facts()), Some(Unsourced));
        assert_eq!(Unsourced.label(), "Unconfirmed");
    }

    #[test]
    fn a_source_makes_unsourced_funding_source_backed() {
        assert_eq!(after(Funding, Unsourced, &facts()), []);
        let found = Facts { source: source("src_1"), ..facts() };
        assert_eq!(after(Funding, Unsourced, &found), [SourceBacked]);
    }

    #[test]
    fn a_filing_both_sides_or_the_owner_confirm_funding() {
        assert_eq!(after(Funding, SourceBacked, &facts()), []);
        let filed = Facts { confirmation: source("src_2"), ..facts() };
        assert_eq!(after(Funding, SourceBacked, &filed), [Confirmed]);
        let owner = Facts { owner_confirms: source("src_3"), ..facts() };
        assert_eq!(after(Funding, SourceBacked, &owner), [Confirmed]);
        // Funding without any source is not confirmed.
        assert_eq!(after(Funding, Unsourced, &filed), []);
    }

    #[test]
    fn hiring_begins_as_a_lead_whatever_is_told() {
        assert_eq!(advance(Hiring, &mut Vec::new(), &facts()), Some(Lead));
        let told = Facts { source: source("src_1"), ..facts() };
        let mut history = Vec::new();
        assert_eq!(advance(Hiring, &mut history, &told), Some(Lead));
        assert_eq!(history[0].source_id.as_deref(), Some("src_1"));
        assert_eq!(Lead.label(), "Lead – not verified");
    }

    #[test]
    fn a_second_publisher_corroborates_and_it_stays_a_lead() {
        let two = Facts { second_publisher: source("src_2"), ..facts() };
        assert_eq!(after(Hiring, Lead, &two), [Corroborated]);
        assert!(Corroborated.label().starts_with("Lead"));
        // A corroborated signal is not corroborated again.
        assert_eq!(after(Hiring, Corroborated, &two), []);
    }

    #[test]
    fn an_open_role_that_was_read_in_three_days_verifies() {
        let read = |ago| Facts {
            open_role_read_at: Some(Timestamp::from_millis(NOW).before(ago)),
            ..facts()
        };
        for state in [Lead, Corroborated] {
            assert_eq!(after(Hiring, state, &read(FRESH)), [Verified]);
            let late = FRESH + Duration::from_millis(1);
            assert_eq!(after(Hiring, state, &read(late)), []);
        }
    }

    #[test]
    fn the_verified_owner_verifies() {
        let owner = Facts { owner_confirms: source("src_9"), ..facts() };
        assert_eq!(after(Hiring, Lead, &owner), [Verified]);
        assert_eq!(after(Hiring, Corroborated, &owner), [Verified]);
    }

    #[test]
    fn posts_alone_never_verify() {
        let posts = Facts { source: source("src_1"), second_publisher: source("src_2"), ..facts() };
        let mut history = Vec::new();
        assert_eq!(advance(Hiring, &mut history, &posts), Some(Corroborated));
    }

    #[test]
    fn roles_that_left_make_it_stale_and_a_role_that_is_back_verifies_again() {
        let left = Facts { roles_left: true, ..facts() };
        assert_eq!(after(Hiring, Verified, &left), [Stale]);
        assert_eq!(after(Hiring, Verified, &facts()), []);
        let back = Facts { open_role_read_at: Some(facts().now), ..facts() };
        assert_eq!(after(Hiring, Stale, &back), [Verified]);
    }

    #[test]
    fn stale_for_14_days_is_closed() {
        let mut history = history(Stale, AWAY - Duration::from_millis(1));
        assert_eq!(advance(Hiring, &mut history, &facts()), Some(Stale));
        let later = Facts { now: facts().now.after(Duration::from_millis(1)), ..facts() };
        assert_eq!(advance(Hiring, &mut history, &later), Some(Closed));
    }

    #[test]
    fn a_lead_of_which_nothing_is_heard_for_45_days_expires() {
        let silent =
            |ago| Facts { last_evidence_at: Timestamp::from_millis(NOW).before(ago), ..facts() };
        for state in [Lead, Corroborated] {
            assert_eq!(after(Hiring, state, &silent(SILENCE)), [Expired]);
            assert_eq!(after(Hiring, state, &silent(SILENCE - Duration::from_millis(1))), []);
        }
        assert_eq!(after(Hiring, Verified, &silent(days(400))), []);
        assert_eq!(after(Funding, SourceBacked, &silent(days(400))), []);
    }

    #[test]
    fn an_objection_disputes_and_its_review_decides() {
        let objection = Facts { objection: source("src_7"), ..facts() };
        for (kind, state) in [
            (Funding, Unsourced),
            (Funding, SourceBacked),
            (Funding, Confirmed),
            (Hiring, Lead),
            (Hiring, Corroborated),
            (Hiring, Verified),
            (Hiring, Stale),
            (Hiring, Closed),
            (Hiring, Expired),
        ] {
            let mut history = history(state, days(1));
            assert_eq!(advance(kind, &mut history, &objection), Some(Disputed));
            let review = |upheld| Some(Review { source_id: "src_8".to_owned(), upheld });
            let mut upheld = history.clone();
            let facts_then = Facts { review: review(true), ..facts() };
            assert_eq!(advance(kind, &mut upheld, &facts_then), Some(Retracted));
            let facts_then = Facts { review: review(false), ..facts() };
            assert_eq!(advance(kind, &mut history, &facts_then), Some(state));
        }
        assert_eq!(after(Hiring, Retracted, &objection), []);
    }

    #[test]
    fn a_lead_with_everything_at_once_goes_straight_to_verified() {
        let all = Facts {
            source: source("src_1"),
            second_publisher: source("src_2"),
            open_role_read_at: Some(facts().now),
            ..facts()
        };
        let mut history = Vec::new();
        assert_eq!(advance(Hiring, &mut history, &all), Some(Verified));
        let steps: Vec<_> = history.iter().map(|step| step.to).collect();
        assert_eq!(steps, [Lead, Verified]);
    }
}
