//! Writes the tables as Rust source; their types are in `src/entry.rs`.

use crate::{
    analysis,
    answer::Answer,
    index::{FIELDS, Index},
    letters::letters,
    source::Source,
};
use anyhow::{Context as _, Result};
use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    ops::Range,
};

pub(crate) fn rust(sources: &[Source], answers: &[Answer], index: &Index) -> Result<String> {
    let mut rust = String::new();
    let places: HashMap<&str, usize> =
        index.terms.keys().enumerate().map(|(place, stem)| (stem.as_str(), place)).collect();
    writeln!(rust, "pub(crate) static ENTRIES: [Entry; {}] = [", sources.len())?;
    for (place, source) in sources.iter().enumerate() {
        let Source { id, slug, question, tags, updated_at, related, .. } = source;
        writeln!(
            rust,
            "Entry {{ id: {id:?}, slug: {slug:?}, question: {question:?}, tags: &{tags:?}, \
             updated_at: {updated_at:?}, related: &{related:?}, place: {place} }},"
        )?;
    }
    writeln!(rust, "];\nstatic ANSWERS: [Answer; {}] = [", sources.len())?;
    for (Source { answer: markdown, .. }, Answer { html, .. }) in sources.iter().zip(answers) {
        writeln!(rust, "Answer {{ markdown: {markdown:?}, html: {html:?} }},")?;
    }
    writeln!(rust, "];\nstatic PROSE: [Prose; {}] = [", answers.len())?;
    for answer in answers {
        prose(&mut rust, answer, &places)?;
    }
    writeln!(rust, "];")?;
    terms(&mut rust, index)?;
    lengths(&mut rust, index)?;
    vocabulary(&mut rust, index)?;
    let tags: BTreeSet<_> = sources.iter().flat_map(|source| &source.tags).collect();
    let tags = Vec::from_iter(tags);
    writeln!(rust, "static TAGS: [&str; {}] = {tags:?};", tags.len())?;
    Ok(rust)
}

fn prose(rust: &mut String, answer: &Answer, places: &HashMap<&str, usize>) -> Result<()> {
    let Answer { prose, sentences, .. } = answer;
    let words = analysis::words(prose);
    writeln!(rust, "Prose {{ text: {prose:?}, words: &[")?;
    for word in &words {
        let term =
            places.get(analysis::stem(&word.form).as_str()).context("a word without a term")?;
        let Range { start, end } = &word.range;
        writeln!(rust, "ProseWord {{ start: {start}, end: {end}, term: {term} }},")?;
    }
    writeln!(rust, "], sentences: &[")?;
    for Range { start, end } in sentences {
        let first = words.iter().take_while(|word| word.range.start < *start).count();
        let behind = words.iter().take_while(|word| word.range.start < *end).count();
        writeln!(
            rust,
            "Sentence {{ start: {start}, end: {end}, first_word: {first}, end_word: {behind} }},"
        )?;
    }
    writeln!(rust, "] }},")?;
    Ok(())
}

fn terms(rust: &mut String, index: &Index) -> Result<()> {
    writeln!(rust, "pub(crate) static TERMS: [Term; {}] = [", index.terms.len())?;
    for (stem, postings) in &index.terms {
        write!(rust, "Term {{ stem: {stem:?}, postings: &[")?;
        for (entry, frequencies) in postings {
            write!(rust, "Posting {{ entry: {entry}, frequencies: {frequencies:?} }}, ")?;
        }
        writeln!(rust, "] }},")?;
    }
    writeln!(rust, "];")?;
    Ok(())
}

fn lengths(rust: &mut String, index: &Index) -> Result<()> {
    let Index { lengths, average_lengths, .. } = index;
    let count = lengths.len();
    writeln!(rust, "pub(crate) static LENGTHS: [[u16; {FIELDS}]; {count}] = {lengths:?};")?;
    writeln!(rust, "pub(crate) static AVERAGE_LENGTHS: [f32; {FIELDS}] = {average_lengths:?};")?;
    Ok(())
}

fn vocabulary(rust: &mut String, index: &Index) -> Result<()> {
    writeln!(rust, "pub(crate) static VOCABULARY: [Spelling; {}] = [", index.vocabulary.len())?;
    for (form, entries) in &index.vocabulary {
        let (letters, entries) = (letters(form), entries.len());
        writeln!(rust, "Spelling {{ form: {form:?}, letters: {letters}, entries: {entries} }},")?;
    }
    writeln!(rust, "];")?;
    Ok(())
}
