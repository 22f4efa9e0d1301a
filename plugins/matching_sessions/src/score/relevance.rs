//! The quality of the order that the score gives to listings that people have labelled:
//! `tests/corpora/matching/*` holds sets of listings (`listings.json`) and of labelled pairs
//! (`pairs.json`).

use super::{Fit, fit};
use crate::wishes;
use listing_answers::lines;
use people_kit::{
    listings::{Compensation, Place, Profile, Visibility},
    taxonomy::{Criteria, Side, is_never_public},
};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fs, path::Path};

/// The set that is checked. The environment variable `MATCHING_CORPUS` chooses another one, whose
/// figures are only printed.
const CHECKED: &str = "main";
const CHOSEN: &str = "MATCHING_CORPUS";
/// The number of places of a ranking that count.
const TOP: usize = 10;
/// The lowest label of candidates worth having.
const GOOD: u32 = 2;
const NOW: u64 = 1_795_478_400_000;
const TODAY: &str = "2026-11-24";

#[derive(serde::Deserialize)]
struct Listing {
    key: String,
    input: Input,
    #[serde(default)]
    person: Person,
}

#[derive(serde::Deserialize)]
struct Input {
    category: String,
    side: Side,
    title: String,
    #[serde(default)]
    description: String,
    attributes: Map<String, Value>,
    #[serde(default)]
    criteria: Criteria,
    place: Option<Place>,
    #[serde(default)]
    remote: bool,
    compensation: Option<Compensation>,
}

#[derive(Default, serde::Deserialize)]
struct Person {
    birth_year: Option<u64>,
}

#[derive(serde::Deserialize)]
struct Pair {
    query: String,
    candidate: String,
    label: u32,
    contradiction: bool,
}

fn profile(listing: Listing) -> Profile {
    let Listing { key, input, person } = listing;
    let category = listing_answers::category(&input.category).unwrap();
    let counterpart = listing_answers::category(category.counterpart).unwrap();
    let text = format!("{}. {}", input.title, input.description);
    let counterpart_side = match counterpart.sides {
        ["offer"] => Side::Offer,
        ["demand"] => Side::Demand,
        _ => input.side.opposite(),
    };
    let mut said = listing_answers::extract_values(&input.category, &text, TODAY);
    listing_answers::add_wishes(&mut said, &input.category, &text, TODAY);
    Profile {
        owner_id: format!("own_{key}"),
        listing_id: key,
        org_id: None,
        label: String::new(),
        counterpart: counterpart.code.to_owned(),
        counterpart_side,
        state: "active".into(),
        visibility: match is_never_public(&input.category) {
            true => Visibility::Network,
            false => Visibility::Public,
        },
        min_age: category.min_age,
        excerpt: input.description.chars().take(300).collect(),
        said,
        gist: listing_answers::gist(&text),
        age_at_least: person.birth_year.map(|year| (2026 - year - 1) as u8),
        unreachable: false,
        ended_at: None,
        facts: Vec::new(),
        place: input.place.as_ref().map(Place::public),
        category: input.category,
        side: input.side,
        title: input.title,
        attributes: input.attributes,
        criteria: input.criteria,
        remote: input.remote,
        compensation: input.compensation,
        published_at: NOW,
    }
}

/// A set of labelled pairs.
struct Corpus {
    profiles: Vec<Profile>,
    pairs: BTreeMap<String, Vec<Pair>>,
}

impl Corpus {
    fn read(name: &str) -> Self {
        let folder = format!("{}/../../tests/corpora/matching/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = |file: &str| fs::read_to_string(Path::new(&folder).join(file)).unwrap();
        let listings: Vec<Listing> = serde_json::from_str(&text("listings.json")).unwrap();
        let all: Vec<Pair> = serde_json::from_str(&text("pairs.json")).unwrap();
        let mut pairs: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
        for pair in all {
            pairs.entry(pair.query.clone()).or_default().push(pair);
        }
        Self { profiles: listings.into_iter().map(profile).collect(), pairs }
    }

    fn profile(&self, key: &str) -> &Profile {
        self.profiles.iter().find(|profile| profile.listing_id == key).unwrap()
    }

    /// Returns the labelled candidates that the score admits, best first.
    fn ranked(&self, query: &str) -> Vec<(&Pair, Fit)> {
        let mine = self.profile(query);
        let labelled = self.pairs.get(query).into_iter().flatten();
        let mut ranked: Vec<(&Pair, Fit)> = labelled
            .filter_map(|pair| {
                Some((pair, fit(mine, &mine.criteria, self.profile(&pair.candidate), NOW)?))
            })
            .collect();
        ranked.sort_by(|(one, fit), (other, better)| {
            better.score.total_cmp(&fit.score).then_with(|| one.candidate.cmp(&other.candidate))
        });
        ranked
    }
}

/// Returns the discounted cumulative gain.
fn gain(labels: impl Iterator<Item = u32>) -> f64 {
    let gain = |(place, label): (usize, u32)| {
        (f64::from(label).exp2() - 1.0) / (place as f64 + 2.0).log2()
    };
    labels.take(TOP).enumerate().map(gain).sum()
}

#[derive(Debug, Default)]
struct Figures {
    queries: usize,
    /// The mean of the normalised gain of the first ten.
    ndcg: f64,
    /// The number of contradictions among the first ten.
    contradictions: usize,
    /// The number of these contradictions for which no gap from a text has the share 0.
    untold: usize,
    /// The number of contradictions among the first places of each ranking, as many as there are
    /// candidates worth having (with a label of at least 2).
    ahead: usize,
    /// The number of untold contradictions for which neither listing has a sentence to check.
    unchecked: usize,
    /// The number of untold contradictions for which at most one listing has a sentence to check.
    half_checked: usize,
    /// The number of candidates without a contradiction among the first ten.
    others: usize,
    /// The number of these that are shown with sentences to check, of either side.
    others_to_check: usize,
    /// The number of these whose own listing has sentences to check.
    others_theirs: usize,
    /// The number of candidates with a label above 0 that were excluded.
    lost: usize,
    /// The number of candidates worth having, and of those of them that were excluded.
    good: usize,
    good_lost: usize,
    /// The number of queries whose first candidate has the best label.
    first: usize,
}

fn measure(corpus: &Corpus, explains: bool) -> Figures {
    let mut figures = Figures { queries: corpus.pairs.len(), ..Figures::default() };
    for (query, pairs) in &corpus.pairs {
        let ranked = corpus.ranked(query);
        let mut ideal: Vec<u32> = pairs.iter().map(|pair| pair.label).collect();
        ideal.sort_by(|one, other| other.cmp(one));
        let best = ideal.first().copied();
        let ndcg = gain(ranked.iter().map(|(pair, _)| pair.label)) / gain(ideal.into_iter());
        figures.ndcg += ndcg / corpus.pairs.len() as f64;
        let contradictions = || ranked.iter().take(TOP).filter(|(pair, _)| pair.contradiction);
        let is_untold =
            |fit: &Fit| !fit.gaps.iter().any(|gap| gap.from_text && gap.share == Some(0.0));
        figures.contradictions += contradictions().count();
        figures.untold += contradictions().filter(|(_, fit)| is_untold(fit)).count();
        let mine = wishes::of_mine(corpus.profile(query)).len();
        let theirs = |pair: &Pair| wishes::of_theirs(corpus.profile(&pair.candidate)).len();
        let untold = || contradictions().filter(|(_, fit)| is_untold(fit));
        figures.unchecked += untold().filter(|(pair, _)| mine + theirs(pair) == 0).count();
        figures.half_checked += untold().filter(|(pair, _)| mine.min(theirs(pair)) == 0).count();
        let others = || ranked.iter().take(TOP).filter(|(pair, _)| !pair.contradiction);
        figures.others += others().count();
        figures.others_to_check += others().filter(|(pair, _)| mine + theirs(pair) > 0).count();
        figures.others_theirs += others().filter(|(pair, _)| theirs(pair) > 0).count();
        let shown =
            |pair: &&Pair| ranked.iter().any(|(shown, _)| shown.candidate == pair.candidate);
        let lost: Vec<&Pair> = pairs.iter().filter(|pair| pair.label > 0 && !shown(pair)).collect();
        figures.lost += lost.len();
        figures.good_lost += lost.iter().filter(|pair| pair.label >= GOOD).count();
        let good = pairs.iter().filter(|pair| pair.label >= GOOD).count();
        figures.good += good;
        figures.ahead += ranked.iter().take(good).filter(|(pair, _)| pair.contradiction).count();
        figures.first += usize::from(ranked.first().map(|(pair, _)| pair.label) == best);
        if explains {
            println!("{query} {ndcg:.3}");
            for (pair, fit) in &ranked {
                let mark = if pair.contradiction { "X" } else { " " };
                println!(
                    "  {}{mark} {:.3} {:.3} {:.3} {}",
                    pair.label, fit.score, fit.mine, fit.theirs, pair.candidate
                );
                for gap in &fit.gaps {
                    println!(
                        "        {:?} {} {:.2} {:.2} {} {} {}",
                        gap.point.asked_by,
                        gap.point.field,
                        gap.weight,
                        gap.share.unwrap(),
                        gap.asked,
                        gap.found,
                        if gap.from_text { "text" } else { "" }
                    );
                }
            }
            for pair in lost {
                println!("  lost {} {}", pair.label, pair.candidate);
            }
            explain_texts(corpus, query, pairs);
        }
    }
    figures
}

/// Prints the values that the texts of labelled pairs state, and the lines with the share 0.
fn explain_texts(corpus: &Corpus, query: &str, pairs: &[Pair]) {
    println!("  said {query} {}", serde_json::to_string(&corpus.profile(query).said).unwrap());
    for pair in pairs {
        let other = corpus.profile(&pair.candidate);
        println!("  said {} {}", pair.candidate, serde_json::to_string(&other.said).unwrap());
    }
    for key in pairs.iter().map(|pair| pair.candidate.as_str()).chain([query]) {
        for found in wishes::of_theirs(corpus.profile(key)) {
            println!("  to check {key} {}", found.sentence);
        }
    }
    for pair in pairs {
        let (mine, other) = (corpus.profile(query), corpus.profile(&pair.candidate));
        let both = [(mine, other), (other, mine)];
        let lines = both.into_iter().flat_map(|(one, other)| lines(one, other).lines);
        let failing =
            lines.filter(|line| (line.from_text || pair.label > 0) && line.share == Some(0.0));
        let named: Vec<String> =
            failing.map(|line| format!("{} {} / {}", line.field, line.asked, line.found)).collect();
        if !named.is_empty() {
            let is_right = if pair.contradiction { "right" } else { "wrong" };
            println!("  texts {is_right} {} {} {}", pair.label, pair.candidate, named.join("; "));
        }
    }
}

#[test]
fn listings_that_people_would_choose_come_first() {
    let chosen = std::env::var(CHOSEN).ok();
    let corpus = Corpus::read(chosen.as_deref().unwrap_or(CHECKED));
    let figures = measure(&corpus, std::env::var("EXPLAIN").is_ok());
    println!("{figures:#?}");
    if chosen.is_none() {
        assert!(figures.first * 5 >= figures.queries * 4, "{figures:?}");
        assert!(figures.untold <= 9, "{figures:?}");
    }
}

/// The labelled sets, with the lowest gain, the most contradictions among the first places, and the
/// most candidates worth having that may be excluded. Nobody reads the sets `held_out` and `apart`.
const SETS: [(&str, f64, usize, usize); 6] = [
    ("main", 0.95, 4, 1),
    ("second", 0.89, 20, 4),
    ("third", 0.83, 23, 2),
    ("fourth", 0.85, 18, 3),
    ("held_out", 0.79, 9, 2),
    ("apart", 0.86, 17, 10),
];

#[test]
fn no_set_is_ordered_worse_than_before() {
    for (name, ndcg, ahead, lost) in SETS {
        let figures = measure(&Corpus::read(name), false);
        assert!(figures.ndcg >= ndcg && figures.ahead <= ahead, "{name}: {figures:?}");
        assert!(figures.good_lost <= lost, "{name}: {figures:?}");
    }
}

/// Contradictions that no rule reads are put before the agents, but not because every listing has
/// sentences to check.
#[test]
fn sentences_to_check_are_few() {
    let figures = measure(&Corpus::read("second"), false);
    assert!(figures.unchecked <= 20 && figures.others_theirs * 2 <= figures.others, "{figures:?}");
}
