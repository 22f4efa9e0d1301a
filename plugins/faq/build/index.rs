//! Builds the search index: terms, postings, field lengths, and the vocabulary for corrections.

use crate::{
    analysis::{self, Word},
    answer::Answer,
    source::Source,
};
use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The fields: question, tags, answer.
pub(crate) const FIELDS: usize = 3;

#[derive(Default)]
pub(crate) struct Index {
    /// For each stem and entry, how often the stem occurs in each field.
    pub(crate) terms: BTreeMap<String, BTreeMap<usize, [u16; FIELDS]>>,
    /// The number of words in each field of each entry.
    pub(crate) lengths: Vec<[u16; FIELDS]>,
    pub(crate) average_lengths: [f32; FIELDS],
    /// For each word that may be suggested as a correction, the entries in which it occurs.
    pub(crate) vocabulary: BTreeMap<String, BTreeSet<usize>>,
}

pub(crate) fn build(sources: &[Source], answers: &[Answer]) -> Result<Index> {
    let mut index = Index::default();
    for (entry, (source, answer)) in sources.iter().zip(answers).enumerate() {
        let tags = source.tags.join(", ");
        let fields = [&source.question, &tags, &answer.prose].map(|text| analysis::words(text));
        for form in fields.iter().flatten().map(|word| &word.form).filter(|form| teaches(form)) {
            index.vocabulary.entry(form.clone()).or_default().insert(entry);
        }
        let [question, tags, mut whole] = fields;
        whole.extend(analysis::words(&answer.code));
        let fields = [question, tags, whole];
        index.lengths.push(count(&mut index.terms, entry, &fields)?);
    }
    for (field, average) in index.average_lengths.iter_mut().enumerate() {
        let lengths = index.lengths.iter().filter_map(|lengths| lengths.get(field));
        *average = lengths.map(|length| f32::from(*length)).sum::<f32>() / sources.len() as f32;
    }
    Ok(index)
}

/// Adds an entry's words to the postings, and returns how many each field has.
fn count(
    terms: &mut BTreeMap<String, BTreeMap<usize, [u16; FIELDS]>>,
    entry: usize,
    fields: &[Vec<Word>; FIELDS],
) -> Result<[u16; FIELDS]> {
    let mut lengths = [0; FIELDS];
    for ((field, words), length) in fields.iter().enumerate().zip(&mut lengths) {
        *length = u16::try_from(words.len())?;
        for word in words {
            let frequencies =
                terms.entry(analysis::stem(&word.form)).or_default().entry(entry).or_default();
            *frequencies.get_mut(field).context("a field too many")? += 1;
        }
    }
    Ok(lengths)
}

/// Whether a word may be suggested as a correction: it has at least four letters, all from a to z,
/// and is no stop word.
fn teaches(form: &str) -> bool {
    form.len() >= 4
        && form.bytes().all(|byte| byte.is_ascii_lowercase())
        && !analysis::is_stop_word(form)
}
