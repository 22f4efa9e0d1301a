//! The inverted index over labels, synonyms and descriptions, weighted by BM25.

use crate::{source::Node, words};
use std::{collections::BTreeMap, fmt::Write};

const LABEL: f64 = 3.0;
const SYNONYM: f64 = 2.5;
const DESCRIPTION: f64 = 1.0;
const CONTEXT: f64 = 0.5;
/// The weight of a term of two words: it says more than the two words apart.
const PAIR: f64 = 1.5;
/// The constants of BM25: how soon repeated words count for less, and how much long texts are
/// penalised.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.4;
/// The scale of stored weights: thousandths.
const SCALE: f64 = 1000.0;

/// Returns each term with its categories and their weights, in the order of the terms.
pub(crate) fn postings(nodes: &[Node]) -> String {
    let documents: Vec<BTreeMap<String, f64>> = nodes.iter().map(frequencies).collect();
    let lengths: Vec<f64> = documents.iter().map(|document| document.values().sum()).collect();
    let count = nodes.len() as f64;
    let average = lengths.iter().sum::<f64>() / count;
    let mut terms: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
    for (node, (document, length)) in documents.iter().zip(&lengths).enumerate() {
        for (term, frequency) in document {
            let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / average);
            let weight = frequency * (SATURATION + 1.0) / (frequency + norm);
            terms.entry(term).or_default().push((node, weight));
        }
    }
    let mut text =
        format!("pub(crate) static TERMS: [(&str, &[(u16, u32)]); {}] = [\n", terms.len());
    for (term, found) in terms {
        let holders = found.len() as f64;
        let rarity = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
        let list: Vec<String> = found
            .iter()
            .map(|(node, weight)| format!("({node}, {:.0})", weight * rarity * SCALE))
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "({term:?}, &[{}]),", list.join(", "));
    }
    text.push_str("];\n");
    text
}

fn frequencies(node: &Node) -> BTreeMap<String, f64> {
    let mut frequencies = BTreeMap::new();
    let mut add = |text: &str, weight: f64| {
        let words = words::words(text);
        for word in &words {
            *frequencies.entry(word.stem.clone()).or_default() += weight;
        }
        for pair in words::pairs(&words) {
            *frequencies.entry(pair).or_default() += weight * PAIR;
        }
    };
    add(&node.label, LABEL);
    node.synonyms.iter().for_each(|synonym| add(synonym, SYNONYM));
    add(&node.description, DESCRIPTION);
    node.context.iter().for_each(|word| add(word, CONTEXT));
    frequencies
}
