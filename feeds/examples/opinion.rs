//! Computes the weights of the second opinion on claims from labelled sets and the headlines, always to
//! the same numbers:
//! `cargo run -p portolan-feeds --example opinion -- FOLDER… > feeds/src/claims/tables/opinion.tsv`.
//! It is a logistic regression with five labels. Each item counts three times: with all features, without what
//! the rules have found, and with its words only, because rules and tables know these items better than those
//! that come.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a tool fails by panicking")]

#[path = "../tests/labelled/mod.rs"]
mod labelled;

use portolan_feeds::claims::{BY_RULES, LABELS, OF_WORDS, features};
use serde_json::Value;
use std::collections::BTreeMap;

/// A feature counts if at least this number of items have it.
const LEAST: usize = 3;
/// Weights are drawn to zero with this strength.
const PENALTY: f64 = 9.0;
const STEPS: usize = 300;
const RATE: f64 = 0.05;
/// Rows whose weights are all smaller, in hundredths, are left out.
const SMALLEST: f64 = 2.0;

type Weights = [f64; LABELS.len()];

struct Sample {
    features: Vec<usize>,
    label: usize,
}

/// Returns the features of each item that is no filing, and its label.
fn items(folders: &[String]) -> Vec<(Vec<String>, usize)> {
    let mut all = Vec::new();
    let main = labelled::set(&labelled::folder("main"));
    for item in &labelled::headlines() {
        all.push(example(item, &main));
    }
    for folder in folders {
        let set = labelled::set(folder);
        let read = set.items.iter().filter(|item| item["source"] != "filing");
        all.extend(read.map(|item| example(item, &set)));
    }
    all
}

fn example(item: &Value, set: &labelled::Set) -> (Vec<String>, usize) {
    let label = match labelled::wanted(item) {
        None => 0,
        Some((kind, _, status)) => {
            let name = if status == "lead" { format!("{kind} lead") } else { kind };
            LABELS.iter().position(|label| *label == name).unwrap()
        }
    };
    (labelled::with(item, set, |reading| features(reading, &set.companies)), label)
}

fn samples(items: &[(Vec<String>, usize)], places: &BTreeMap<&str, usize>) -> Vec<Sample> {
    let sample = |(features, label): &(Vec<String>, usize), counts: fn(&str) -> bool| Sample {
        features: (features.iter())
            .filter(|feature| counts(feature))
            .filter_map(|feature| places.get(feature.as_str()).copied())
            .collect(),
        label: *label,
    };
    let views: [fn(&str) -> bool; 3] = [
        |_| true,
        |feature| !feature.starts_with(BY_RULES),
        |feature| OF_WORDS.iter().any(|kind| feature.starts_with(kind)),
    ];
    items.iter().flat_map(|item| views.map(|counts| sample(item, counts))).collect()
}

fn shares(sample: &Sample, weights: &[Weights]) -> Weights {
    let mut sums = Weights::default();
    for feature in &sample.features {
        for (sum, weight) in sums.iter_mut().zip(weights[*feature]) {
            *sum += weight;
        }
    }
    let most = sums.iter().copied().fold(f64::MIN, f64::max);
    let powers = sums.map(|sum| (sum - most).exp());
    let total: f64 = powers.iter().sum();
    powers.map(|power| power / total)
}

/// Descends with Adam (Kingma and Ba, 2014) over all samples at once.
fn trained(samples: &[Sample], count: usize) -> Vec<Weights> {
    let mut weights = vec![Weights::default(); count];
    let (mut mean, mut square) = (weights.clone(), weights.clone());
    let (mut mean_left, mut square_left) = (1.0, 1.0);
    for step in 0..STEPS {
        let mut slope: Vec<Weights> =
            weights.iter().map(|row| row.map(|weight| PENALTY * weight)).collect();
        for sample in samples {
            let mut error = shares(sample, &weights);
            error[sample.label] -= 1.0;
            for feature in &sample.features {
                for (slope, error) in slope[*feature].iter_mut().zip(error) {
                    *slope += error;
                }
            }
        }
        mean_left *= 0.9;
        square_left *= 0.99;
        let rate = if step * 2 < STEPS { RATE } else { RATE / 10.0 };
        for feature in 0..count {
            for label in 0..LABELS.len() {
                let slope = slope[feature][label];
                let (mean, square) = (&mut mean[feature][label], &mut square[feature][label]);
                *mean = 0.9 * *mean + 0.1 * slope;
                *square = 0.99 * *square + 0.01 * slope * slope;
                let size = (*square / (1.0 - square_left)).sqrt() + 1e-9;
                weights[feature][label] -= rate * *mean / (1.0 - mean_left) / size;
            }
        }
    }
    weights
}

fn main() {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    let items = items(&folders);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for feature in items.iter().flat_map(|(features, _)| features) {
        *counts.entry(feature).or_default() += 1;
    }
    let known = counts.into_iter().filter(|(_, count)| *count >= LEAST).map(|(name, _)| name);
    let places: BTreeMap<&str, usize> = known.zip(0..).collect();
    let weights = trained(&samples(&items, &places), places.len());
    println!("# Weights of the second opinion, in hundredths: {}.", LABELS.join(", "));
    println!("# Made by `examples/opinion.rs` from {} items.", items.len());
    for (feature, place) in places {
        let row = weights[place].map(|weight| (weight * 100.0).round());
        if row.iter().any(|weight| weight.abs() >= SMALLEST) {
            println!("{feature}\t{}", row.map(|weight| weight.to_string()).join("\t"));
        }
    }
}
