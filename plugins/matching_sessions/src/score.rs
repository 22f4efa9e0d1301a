//! The score of two listings.
//!
//! The score of one side is the weighted mean of how far its wishes are met, with three terms that
//! every listing has: what the texts have in common, how near the other one is, and how new. The
//! common score is the harmonic mean of the two (RECON, Pizzato et al. 2010): it is low if one of
//! the two is.

use crate::compare::*;
use people_kit::{listings::Profile, taxonomy::Criteria};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

const DEFAULT_WEIGHT: f64 = 1.0;
const TEXT_WEIGHT: f64 = 1.0;
const NEARNESS_WEIGHT: f64 = 0.5;
const FRESHNESS_WEIGHT: f64 = 0.25;
/// The distance at which nearness has fallen to 1/e.
const NEAR_KM: f64 = 15.0;
/// The age at which freshness has fallen to 1/e.
const FRESH_MS: f64 = 30.0 * DAY as f64;
/// The fewest letters of a word that is compared.
const SHORTEST_WORD: usize = 3;
/// The value from which a wish counts as met.
const MET: f64 = 0.999;

/// The side that has a wish.
#[choice]
pub(crate) enum Side {
    Mine,
    Theirs,
}

/// A criterion, by the name of its field only.
#[input(Clone, PartialEq, Eq)]
pub(crate) struct Point {
    /// The field: one of the category's criteria, or `text` or `distance_km`, which every listing
    /// has.
    pub(crate) field: String,
    /// The side that has this criterion.
    pub(crate) asked_by: Side,
}

/// How well two listings fit, from one side.
#[document(PartialEq)]
pub(crate) struct Fit {
    /// The common score between 0 and 1, as are the others; it is the same from either side.
    pub(crate) score: f64,
    pub(crate) mine: f64,
    pub(crate) theirs: f64,
    /// The criteria that are met.
    pub(crate) reasons: Vec<Point>,
    /// The wishes that are not met.
    pub(crate) gaps: Vec<Point>,
}

/// Computes the fit; returns `None` if the two cannot be matched: they are not counterparts, belong
/// to the same person, or do not meet a required criterion.
pub(crate) fn fit(mine: &Profile, asks: &Criteria, other: &Profile, now: u64) -> Option<Fit> {
    let excluded = mine.owner_id == other.owner_id || !mine.is_active() || !other.is_active();
    if excluded || !mine.meets(other) {
        return None;
    }
    let holds = |one: &Profile, asks: &Criteria, other: &Profile| {
        asks.must.iter().all(|criterion| met(one, criterion, other) >= 1.0)
    };
    if !holds(mine, asks, other) || !holds(other, &other.criteria, mine) {
        return None;
    }
    let (mut reasons, mut gaps) = (Vec::new(), Vec::new());
    let text = common_words(mine, other);
    let near = nearness(mine, other);
    let mut one_way = |one: &Profile, asks: &Criteria, other: &Profile, asked_by| {
        let (mut sum, mut weights) = (0.0, 0.0);
        let mut add = |weight: f64, share: f64| {
            sum += weight * share;
            weights += weight;
        };
        for criterion in &asks.want {
            let share = met(one, criterion, other);
            add(criterion.weight.unwrap_or(DEFAULT_WEIGHT), share);
            let point = Point { field: criterion.field.clone(), asked_by };
            if share >= MET { reasons.push(point) } else { gaps.push(point) }
        }
        reasons.extend(asks.must.iter().map(|must| Point { field: must.field.clone(), asked_by }));
        add(TEXT_WEIGHT, text);
        near.iter().for_each(|near| add(NEARNESS_WEIGHT, *near));
        let age = now.saturating_sub(other.published_at) as f64;
        add(FRESHNESS_WEIGHT, (-age / FRESH_MS).exp());
        sum / weights
    };
    let to_them = one_way(mine, asks, other, Side::Mine);
    let to_me = one_way(other, &other.criteria, mine, Side::Theirs);
    let general = [("text", text > 0.0), ("distance_km", near.is_some_and(|near| near > 0.5))];
    reasons.extend(
        general
            .into_iter()
            .filter(|(_, holds)| *holds)
            .map(|(field, _)| Point { field: field.to_owned(), asked_by: Side::Mine }),
    );
    for points in [&mut reasons, &mut gaps] {
        let mut seen: Vec<Point> = Vec::new();
        points.retain(|point| {
            let new = !seen.contains(point);
            if new {
                seen.push(point.clone());
            }
            new
        });
    }
    let score = harmonic_mean(to_them, to_me);
    Some(Fit { score, mine: to_them, theirs: to_me, reasons, gaps })
}

/// Returns the harmonic mean; 0 if either is 0.
pub(crate) fn harmonic_mean(one: f64, other: f64) -> f64 {
    if one <= 0.0 || other <= 0.0 { 0.0 } else { 2.0 * one * other / (one + other) }
}

/// Returns e^(−d/d₀); `None` if a place is not known, or does not matter.
fn nearness(one: &Profile, other: &Profile) -> Option<f64> {
    let matters = !one.remote && !other.remote;
    distance_km(one, other).filter(|_| matters).map(|distance| (-distance / NEAR_KM).exp())
}

/// Returns the cosine between the words of two texts. It needs no statistics of other texts, so
/// that the score of two listings does not depend on other listings, and is the same from both
/// sides.
fn common_words(one: &Profile, other: &Profile) -> f64 {
    let (one, other) = (words(one), words(other));
    let dot: f64 = one.iter().filter_map(|(word, count)| Some(count * other.get(word)?)).sum();
    let length =
        |words: &BTreeMap<String, f64>| words.values().map(|word| word * word).sum::<f64>();
    let lengths = (length(&one) * length(&other)).sqrt();
    if lengths > 0.0 { dot / lengths } else { 0.0 }
}

/// Returns the words, weighted with the square root of their frequencies.
fn words(profile: &Profile) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for text in [&profile.title, &profile.excerpt] {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        for word in words.filter(|word| word.chars().count() >= SHORTEST_WORD) {
            let word = word.to_lowercase();
            let stem = word.strip_suffix('s').unwrap_or(&word);
            *counts.entry(stem.to_owned()).or_default() += 1.0;
        }
    }
    counts.values_mut().for_each(|count| *count = count.sqrt());
    counts
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod tests;
