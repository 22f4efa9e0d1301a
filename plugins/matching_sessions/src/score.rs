//! How well two listings fit each other.
//!
//! The score of one side is the weighted mean of how far its wishes are met, with three terms that
//! every listing has: what the texts have in common, how near the other one is, and how new. The
//! score of both is the harmonic mean of the two (RECON, Pizzato et al. 2010): it is low where one
//! of them would have little of it.

use crate::compare::*;
use people_kit::{listings::Profile, taxonomy::Criteria};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

const DEFAULT_WEIGHT: f64 = 1.0;
const TEXT_WEIGHT: f64 = 1.0;
const NEARNESS_WEIGHT: f64 = 0.5;
const FRESHNESS_WEIGHT: f64 = 0.25;
/// Where nearness has fallen to 1/e.
const NEAR_KM: f64 = 15.0;
/// Where freshness has fallen to 1/e.
const FRESH_MS: f64 = 30.0 * DAY as f64;
/// Shorter words say little.
const SHORTEST_WORD: usize = 3;
/// A wish counts as met from here on.
const MET: f64 = 0.999;

/// Whose wish it is.
#[choice]
pub(crate) enum Side {
    Mine,
    Theirs,
}

/// A criterion, by the name of its field alone.
#[input(Clone, PartialEq, Eq)]
pub(crate) struct Point {
    /// A field of the category's criteria, or `text` and `distance_km` for what every listing has.
    pub(crate) field: String,
    /// Who asks for it.
    pub(crate) asked_by: Side,
}

/// How well two listings fit, from one side.
#[document(PartialEq)]
pub(crate) struct Fit {
    /// Between 0 and 1, as are the others; the same from either side.
    pub(crate) score: f64,
    pub(crate) mine: f64,
    pub(crate) theirs: f64,
    /// What speaks for it.
    pub(crate) reasons: Vec<Point>,
    /// What is wished for and not there.
    pub(crate) gaps: Vec<Point>,
}

/// None if one of the two must not have the other: they do not meet, belong to the same person, or
/// something that has to be is not so.
pub(crate) fn fit(mine: &Profile, asks: &Criteria, other: &Profile, now: u64) -> Option<Fit> {
    let apart = mine.owner_id == other.owner_id || !mine.is_active() || !other.is_active();
    if apart || !mine.meets(other) {
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

/// 0 if either is 0.
pub(crate) fn harmonic_mean(one: f64, other: f64) -> f64 {
    if one <= 0.0 || other <= 0.0 { 0.0 } else { 2.0 * one * other / (one + other) }
}

/// e^(−d/d₀); nothing to say where a place is not known, or does not matter.
fn nearness(one: &Profile, other: &Profile) -> Option<f64> {
    let matters = !one.remote && !other.remote;
    distance_km(one, other).filter(|_| matters).map(|distance| (-distance / NEAR_KM).exp())
}

/// The cosine between the words of two texts. It needs no statistics of other texts, so that the
/// score of two listings does not depend on what else there is, and is the same from both sides.
fn common_words(one: &Profile, other: &Profile) -> f64 {
    let (one, other) = (words(one), words(other));
    let dot: f64 = one.iter().filter_map(|(word, count)| Some(count * other.get(word)?)).sum();
    let length =
        |words: &BTreeMap<String, f64>| words.values().map(|word| word * word).sum::<f64>();
    let lengths = (length(&one) * length(&other)).sqrt();
    if lengths > 0.0 { dot / lengths } else { 0.0 }
}

/// With the square root of how often each stands there.
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
