//! A second opinion: a linear model that was trained with the labelled sets by `examples/opinion.rs`. It
//! holds back what the rules found if the words of the item speak against it, and adds what they clearly say.

use super::{Claim, Claims, Modality, Predicate, frame::Frame, lexicon::Class, party};
use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

/// What an item can be. The columns of `tables/opinion.tsv` have this order.
pub const LABELS: [&str; 5] = ["none", "funding", "funding lead", "hiring", "hiring lead"];
/// The kinds of signals, and the least share with which the rules' one is kept. Hiring that is told without
/// open roles is a lead in any case.
const KINDS: [(Predicate, f32); 2] = [(Predicate::RaisedFunding, 0.8), (Predicate::IsHiring, 0.2)];
/// The least share with which a signal is added.
const ADD: f32 = 0.55;
/// The same, if the title has words that often tell of something else.
const ADD_DESPITE: f32 = 0.9;
/// The least share with which what the rules call reported is announced.
const SURE: f32 = 0.95;
/// How many features a reason names.
const REASONS: usize = 3;
const MOST_EVIDENCE: usize = 240;

type Weights = [f32; LABELS.len()];

/// The weights of the features, in hundredths in the table.
static WEIGHTS: LazyLock<HashMap<&str, Weights>> =
    LazyLock::new(|| parsed(include_str!("tables/opinion.tsv")));

fn parsed(table: &str) -> HashMap<&str, Weights> {
    let row = |line| {
        let mut parts = str::split(line, '\t');
        let feature = parts.next()?;
        let mut weights = Weights::default();
        for weight in &mut weights {
            *weight = parts.next()?.parse::<f32>().ok()? / 100.0;
        }
        Some((feature, weights))
    };
    table.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect()
}

/// How likely each label is, and what speaks for nothing.
#[derive(Debug)]
pub(super) struct Opinion {
    shares: Weights,
    against: String,
}

impl Opinion {
    /// Returns how likely a signal of this kind is announced, and how likely it is reported.
    fn of(&self, predicate: Predicate) -> (f32, f32) {
        let [_, funding, funding_lead, hiring, hiring_lead] = self.shares;
        match predicate {
            Predicate::RaisedFunding => (funding, funding_lead),
            _ => (hiring, hiring_lead),
        }
    }
}

/// Returns the opinion on an item with these features.
pub(super) fn judge(features: &[String]) -> Opinion {
    let mut sums = Weights::default();
    let mut against: Vec<(f32, &str)> = Vec::new();
    let known = features
        .iter()
        .filter_map(|feature| Some((feature.as_str(), WEIGHTS.get(feature.as_str())?)));
    for (feature, weights) in known {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += weight;
        }
        against.push((weights.first().copied().unwrap_or_default(), feature));
    }
    against.sort_by(|one, other| other.0.total_cmp(&one.0));
    let reasons: Vec<&str> = against.iter().take(REASONS).map(|(_, feature)| *feature).collect();
    Opinion { shares: shares(sums), against: reasons.join(", ") }
}

/// Returns numbers between 0 and 1 whose sum is 1.
fn shares(sums: Weights) -> Weights {
    let most = sums.iter().copied().fold(f32::MIN, f32::max);
    let powers = sums.map(|sum| (sum - most).exp());
    let total: f32 = powers.iter().sum();
    powers.map(|power| power / total)
}

/// Compares what the rules found with the opinion.
pub(super) fn weigh(claims: &mut Claims, opinion: &Opinion, frame: &Frame<'_>) {
    let mut doubted: Vec<Predicate> = Vec::new();
    for _ in KINDS {
        let Some(signal) = claims.signal() else { break };
        let (predicate, told) = (signal.predicate, signal.modality);
        let (announced, reported) = opinion.of(predicate);
        let held = |claim: &&mut Claim| claim.predicate == predicate && claim.holds();
        let kept =
            KINDS.iter().any(|(kind, least)| *kind == predicate && announced + reported >= *least);
        if !kept {
            for claim in claims.all.iter_mut().filter(held) {
                claim.doubt = Some(opinion.against.clone());
            }
            doubted.push(predicate);
            continue;
        }
        let modality = match told {
            Modality::Announced if reported > announced => Modality::Reported,
            Modality::Reported if announced > SURE => Modality::Announced,
            told => told,
        };
        for claim in claims.all.iter_mut().filter(held) {
            claim.modality = modality;
        }
        return;
    }
    // What is not sure enough to be kept is not added either.
    for (predicate, _) in KINDS.into_iter().filter(|(kind, _)| !doubted.contains(kind)) {
        let (announced, reported) = opinion.of(predicate);
        let likely = announced.max(reported);
        let least = if is_doubtful(predicate, frame) { ADD_DESPITE } else { ADD };
        if likely >= least && !is_vetoed(claims, predicate, frame) {
            let modality =
                if announced > reported { Modality::Announced } else { Modality::Reported };
            claims.all.extend(added(claims, predicate, modality, frame));
        }
    }
}

/// Returns whether the title has words that often tell of something else than a signal of this kind.
fn is_doubtful(predicate: Predicate, frame: &Frame<'_>) -> bool {
    let classes = match predicate {
        Predicate::RaisedFunding => [Class::Block, Class::Plan, Class::Relation].as_slice(),
        _ => [Class::HireOther, Class::Relation].as_slice(),
    };
    let title = 0..frame.text.title_end;
    classes.iter().any(|class| frame.has(&title, *class))
}

/// Returns whether the structure of the item forbids to add a signal of this kind.
fn is_vetoed(claims: &Claims, predicate: Predicate, frame: &Frame<'_>) -> bool {
    const FUNDING: [Class; 3] = [Class::Deny, Class::Rumour, Class::Layoff];
    const HIRING: [Class; 3] = [Class::Freeze, Class::Layoff, Class::Deny];
    let classes = match predicate {
        Predicate::RaisedFunding => FUNDING.as_slice(),
        _ => HIRING.as_slice(),
    };
    let title = 0..frame.text.title_end;
    let stopped = |claim: &Claim| {
        matches!(claim.predicate, Predicate::StoppedHiring | Predicate::LaidOff)
            && predicate == Predicate::IsHiring
    };
    frame.has(&(0..frame.text.tokens.len()), Class::Void)
        || classes.iter().any(|class| frame.has(&title, *class))
        || claims.all.iter().any(stopped)
}

/// Returns a claim that the rules have missed, if the item names the company.
fn added(
    claims: &Claims,
    predicate: Predicate,
    modality: Modality,
    frame: &Frame<'_>,
) -> Option<Claim> {
    let of_kind = claims.all.iter().filter(|claim| claim.predicate == predicate);
    let companies: BTreeSet<usize> = of_kind.filter_map(|claim| claim.company).collect();
    // A list of several companies is told apart by the rules only.
    let company = match companies.len() {
        0 => claims.about?,
        1 => *companies.first()?,
        _ => return None,
    };
    let is_funding = predicate == Predicate::RaisedFunding;
    if is_funding && frame.companies.invests(company) {
        return None;
    }
    let sentences = &frame.text.sentences;
    let first = sentences.first()?;
    let sum = || sentences.iter().find_map(|sentence| frame.amounts(sentence).into_iter().next());
    Some(Claim {
        company: Some(company),
        predicate,
        amount: sum().filter(|_| is_funding).map(|(_, amount)| amount),
        round: party::round(frame, first).filter(|_| is_funding),
        investors: if is_funding { party::investors(frame.text) } else { Vec::new() },
        is_negated: false,
        modality,
        evidence: frame.text.span(first.clone()).chars().take(MOST_EVIDENCE).collect(),
        doubt: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Companies, text::Text},
        *,
    };

    fn weighed(against: f32, told: f32) -> Claim {
        let (text, companies) = (Text::new("Harbor raises $5M", ""), Companies::default());
        let mentions = companies.mentions(&text);
        let frame = Frame { text: &text, companies: &companies, mentions, own: None, year: 2026 };
        let claim = Claim {
            company: Some(0),
            predicate: Predicate::RaisedFunding,
            amount: None,
            round: None,
            investors: Vec::new(),
            is_negated: false,
            modality: Modality::Announced,
            evidence: "raises $5M".to_owned(),
            doubt: None,
        };
        let mut claims = Claims { all: vec![claim], ..Claims::default() };
        let shares = [against, 1.0 - against - told, told, 0.0, 0.0];
        weigh(&mut claims, &Opinion { shares, against: "t Block".to_owned() }, &frame);
        claims.all.swap_remove(0)
    }

    #[test]
    fn every_row_of_the_table_is_read() {
        let table = include_str!("tables/opinion.tsv");
        let rows = table.lines().filter(|line| !line.starts_with('#')).count();
        assert!(rows > 1_000 && parsed(table).len() == rows && table.len() < 600_000);
    }

    #[test]
    fn a_claim_against_which_the_words_speak_is_doubted_with_a_reason() {
        assert_eq!(weighed(0.9, 0.0).doubt.as_deref(), Some("t Block"));
        let kept = weighed(0.1, 0.0);
        assert!(kept.holds() && kept.modality == Modality::Announced);
    }

    #[test]
    fn what_is_rather_reported_is_no_announcement() {
        assert_eq!(weighed(0.1, 0.6).modality, Modality::Reported);
    }

    #[test]
    fn shares_add_up_to_one_whatever_the_sums_are() {
        for sums in [Weights::default(), [90.0, -90.0, 3.0, 0.5, 0.0]] {
            assert!((shares(sums).iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}
