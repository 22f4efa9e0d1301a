//! The score of two listings.
//!
//! Each listing is compared with the other one by the rules of `listing_answers`, in both
//! directions; the criteria of a listing are further rules. The score of one side is the weighted
//! mean of its lines: how well the other meets what it asks for, what the texts have in common, and
//! how new the other is. A line whose value is unknown does not count. The common score is the
//! harmonic mean of the two (RECON, Pizzato et al. 2010): it is low if one of the two is. The score
//! follows from the lines and nothing else: sentences to check (`wishes`) have no weight.

use crate::compare::met;
use listing_answers::{Line, Lines, lines, words_in_common};
use people_kit::{
    listings::Profile,
    taxonomy::{Criteria, Criterion},
};
use portolan_sdk::prelude::*;
use serde_json::Value;

const DEFAULT_WEIGHT: f64 = 1.0;
const TEXT_WEIGHT: f64 = 1.5;
const FRESHNESS_WEIGHT: f64 = 0.25;
/// The number of common words from which two texts count as alike. It is not divided by their lengths,
/// because somebody who says more has no less in common.
const ALIKE: f64 = 20.0;
/// The age at which freshness has fallen to 1/e.
const FRESH_MS: f64 = 30.0 * DAY as f64;
/// The factor for the weight of a criterion if only a text states the value.
const OF_TEXT: f64 = 0.5;
/// The share from which a line counts as a fit; for the line `text` it is `TEXT_MET`.
const MET: f64 = 0.999;
const TEXT_MET: f64 = 0.25;

/// The side that asks for something.
#[choice]
pub(crate) enum Side {
    Mine,
    Theirs,
}

/// A line, identified by its field and the side that asks.
#[input(Clone, PartialEq, Eq)]
pub(crate) struct Point {
    /// The field: an attribute, one of the category's criteria, or `text`, `place`, `compensation`
    /// or `freshness`, which every listing has.
    pub(crate) field: String,
    /// The side that has this criterion.
    pub(crate) asked_by: Side,
}

/// One condition that a side asks for, and how far the other side meets it.
#[input(Clone, PartialEq)]
pub(crate) struct Compared {
    #[serde(flatten)]
    pub(crate) point: Point,
    /// How much it counts in the score of its side; an unknown does not count.
    #[serde(default)]
    pub(crate) weight: f64,
    /// How far it is met, from 0 to 1; null if it is unknown.
    #[serde(default)]
    pub(crate) share: Option<f64>,
    /// Asked value, if it may be shown.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) asked: Value,
    /// The other side's value, if it may be shown.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) found: Value,
    /// Whether one of the values is only in a text, which counts half.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) from_text: bool,
}

/// The fit of two listings, from one side.
#[document(PartialEq)]
pub(crate) struct Fit {
    /// The common score, from 0 to 1 like the others; it is the same from either side.
    pub(crate) score: f64,
    pub(crate) mine: f64,
    pub(crate) theirs: f64,
    /// Lines met.
    #[serde(default)]
    pub(crate) fits: Vec<Compared>,
    /// Lines not met, or not fully.
    #[serde(default)]
    pub(crate) gaps: Vec<Compared>,
    /// Lines of one side on which the other is silent.
    #[serde(default)]
    pub(crate) unknown: Vec<Compared>,
}

/// Computes the fit; returns `None` if the two cannot be matched: one is not active, they are not
/// counterparts or belong to the same person, nobody can reach the owner of `other`, they
/// contradict each other, or one does not meet a required criterion.
pub(crate) fn fit(mine: &Profile, asks: &Criteria, other: &Profile, now: u64) -> Option<Fit> {
    let excluded = mine.owner_id == other.owner_id || !mine.is_active() || !other.is_active();
    if excluded || other.unreachable || !mine.is_counterpart_of(other) {
        return None;
    }
    let holds = |one: &Profile, asks: &Criteria, other: &Profile| {
        let holds = |criterion| met(one, criterion, other).is_some_and(|(share, _)| share >= 1.0);
        asks.must.iter().all(holds)
    };
    if !holds(mine, asks, other) || !holds(other, &other.criteria, mine) {
        return None;
    }
    let (to_them, to_me) = (lines(mine, other), lines(other, mine));
    let both = to_them.contradicted.iter().any(|field| to_me.contradicted.contains(field));
    if to_them.excluded || to_me.excluded || both {
        return None;
    }
    let text = texts(mine, other);
    let mut reasons = side(Side::Mine, to_them, (mine, asks), other, text, now);
    let theirs = side(Side::Theirs, to_me, (other, &other.criteria), mine, text, now);
    let (to_them, to_me) = (mean(&reasons), mean(&theirs));
    reasons.extend(theirs);
    let (unknown, known): (Vec<Compared>, Vec<Compared>) =
        reasons.into_iter().partition(|reason| reason.share.is_none());
    let (fits, gaps) = known.into_iter().partition(is_met);
    let score = harmonic_mean(to_them, to_me);
    Some(Fit { score, mine: to_them, theirs: to_me, fits, gaps, unknown })
}

/// Returns all lines of one side.
fn side(
    asked_by: Side,
    lines: Lines,
    (asker, asks): (&Profile, &Criteria),
    other: &Profile,
    text: Option<f64>,
    now: u64,
) -> Vec<Compared> {
    let general = |field: &str, weight: f64, share: Option<f64>| Compared {
        point: Point { field: field.to_owned(), asked_by },
        weight,
        share,
        asked: Value::Null,
        found: Value::Null,
        from_text: false,
    };
    let age = now.saturating_sub(other.published_at) as f64;
    let of_rule = |line: Line| Compared {
        asked: line.asked,
        found: line.found,
        from_text: line.from_text,
        ..general(line.field, line.weight, line.share)
    };
    let of_criterion = |criterion: &Criterion, weight: f64| {
        let met = met(asker, criterion, other);
        let from_text = met.is_some_and(|(_, from_text)| from_text);
        let weight = weight * if from_text { OF_TEXT } else { 1.0 };
        let found = listing_answers::value_of(other, &criterion.field);
        Compared {
            asked: criterion.value.clone(),
            found: found.map(|(value, _)| value).unwrap_or_default(),
            from_text,
            ..general(&criterion.field, weight, met.map(|(share, _)| share))
        }
    };
    let wishes =
        asks.want.iter().map(|wish| of_criterion(wish, wish.weight.unwrap_or(DEFAULT_WEIGHT)));
    // All required criteria are met here. They are shown as lines, but have no weight.
    let required = asks.must.iter().map(|must| of_criterion(must, 0.0));
    let freshness = Some((-age / FRESH_MS).exp());
    lines
        .lines
        .into_iter()
        .map(of_rule)
        .chain(wishes)
        .chain(required)
        .chain([
            general("text", TEXT_WEIGHT, text),
            general("freshness", FRESHNESS_WEIGHT, freshness),
        ])
        .collect()
}

/// Returns the weighted mean of the lines that are known.
fn mean(reasons: &[Compared]) -> f64 {
    let known = || reasons.iter().filter_map(|reason| Some((reason.weight, reason.share?)));
    let weights: f64 = known().map(|(weight, _)| weight).sum();
    known().map(|(weight, share)| weight * share).sum::<f64>() / weights.max(f64::MIN_POSITIVE)
}

fn is_met(reason: &Compared) -> bool {
    let enough = match reason.point.field.as_str() {
        "text" => TEXT_MET,
        // These fall with every kilometre and every day.
        "place" | "freshness" => 0.5,
        _ => MET,
    };
    reason.share.is_some_and(|share| share >= enough)
}

/// Returns how much the texts have in common; `None` if one has no words.
fn texts(one: &Profile, other: &Profile) -> Option<f64> {
    let is_empty = one.gist.is_empty() || other.gist.is_empty();
    (!is_empty).then(|| (words_in_common(&one.gist, &other.gist) as f64 / ALIKE).min(1.0))
}

/// Returns the harmonic mean; 0 if either is 0.
pub(crate) fn harmonic_mean(one: f64, other: f64) -> f64 {
    if one <= 0.0 || other <= 0.0 { 0.0 } else { 2.0 * one * other / (one + other) }
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod relevance;
#[cfg(test)]
mod tests;
