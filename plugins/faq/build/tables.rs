//! Writes the tables as Rust source; their types are in `src/entry.rs`.

use crate::{
    analysis,
    answer::Answer,
    index::{FIELDS, Index},
    source::Source,
};
use anyhow::{Context as _, Result};
use std::{
    collections::{BTreeSet, HashMap},
    fmt::{Display, Write as _},
    ops::Range,
};

pub(crate) fn rust(sources: &[Source], answers: &[Answer], index: &Index) -> Result<String> {
    let mut rust = String::new();
    let entries = sources.iter().enumerate().map(|(place, source)| {
        let Source { id, slug, question, tags, updated_at, related, .. } = source;
        format!(
            "Entry {{ id: {id:?}, slug: {slug:?}, question: {question:?}, tags: &{tags:?}, \
             updated_at: {updated_at:?}, related: &{related:?}, place: {place} }}"
        )
    });
    table(&mut rust, "ENTRIES", "Entry", entries)?;
    let whole = sources.iter().zip(answers).map(|(source, Answer { html, .. })| {
        format!("Answer {{ markdown: {:?}, html: {html:?} }}", source.answer)
    });
    table(&mut rust, "ANSWERS", "Answer", whole)?;
    let places: HashMap<&str, usize> =
        index.terms.keys().enumerate().map(|(place, stem)| (stem.as_str(), place)).collect();
    let prose: Vec<_> =
        answers.iter().map(|answer| prose(answer, &places)).collect::<Result<_>>()?;
    table(&mut rust, "PROSE", "Prose", prose)?;
    let terms = index.terms.iter().map(|(stem, postings)| {
        let posting = |(entry, frequencies)| {
            format!("Posting {{ entry: {entry}, frequencies: {frequencies:?} }}, ")
        };
        let postings: String = postings.iter().map(posting).collect();
        format!("Term {{ stem: {stem:?}, postings: &[{postings}] }}")
    });
    table(&mut rust, "TERMS", "Term", terms)?;
    let fields = format!("[u16; {FIELDS}]");
    table(&mut rust, "LENGTHS", &fields, index.lengths.iter().map(|count| format!("{count:?}")))?;
    let averages = index.average_lengths.iter().map(|average| format!("{average:?}"));
    table(&mut rust, "AVERAGE_LENGTHS", "f32", averages)?;
    let vocabulary = index.vocabulary.iter().map(|(form, entries)| {
        let (letters, entries) = (analysis::letters(form), entries.len());
        format!("Spelling {{ form: {form:?}, letters: {letters}, entries: {entries} }}")
    });
    table(&mut rust, "VOCABULARY", "Spelling", vocabulary)?;
    let tags: BTreeSet<_> = sources.iter().flat_map(|source| &source.tags).collect();
    table(&mut rust, "TAGS", "&str", tags.into_iter().map(|tag| format!("{tag:?}")))?;
    Ok(rust)
}

/// Writes a static array with one line for each element.
fn table(
    rust: &mut String,
    name: &str,
    of: &str,
    elements: impl IntoIterator<Item = impl Display>,
) -> Result<()> {
    let elements: Vec<_> = elements.into_iter().collect();
    writeln!(rust, "pub(crate) static {name}: [{of}; {}] = [", elements.len())?;
    for element in elements {
        writeln!(rust, "{element},")?;
    }
    Ok(writeln!(rust, "];")?)
}

fn prose(answer: &Answer, places: &HashMap<&str, usize>) -> Result<String> {
    let Answer { prose, sentences, .. } = answer;
    let words = analysis::words(prose);
    let mut rust = format!("Prose {{ text: {prose:?}, words: &[");
    for word in &words {
        let term =
            places.get(analysis::stem(&word.form).as_str()).context("a word without a term")?;
        let Range { start, end } = &word.range;
        write!(rust, "ProseWord {{ start: {start}, end: {end}, term: {term} }}, ")?;
    }
    rust.push_str("], sentences: &[");
    for Range { start, end } in sentences {
        let before = |at: &usize| words.iter().take_while(|word| word.range.start < *at).count();
        let (first, behind) = (before(start), before(end));
        write!(
            rust,
            "Sentence {{ start: {start}, end: {end}, first_word: {first}, end_word: {behind} }}, "
        )?;
    }
    rust.push_str("] }");
    Ok(rust)
}
