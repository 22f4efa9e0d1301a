//! The words that mean the same: those of `words.toml`, then the labels, synonyms and occupations of
//! the categories.

use crate::{schemas::Root, words, words::Language};
use anyhow::{Context, Result};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

type Line = BTreeMap<String, String>;

/// The maximum number of words of a phrase.
const LONGEST: usize = 3;

pub(crate) fn table(
    file: BTreeMap<String, BTreeMap<String, Line>>,
    roots: &[Root],
) -> Result<String> {
    let mut stems: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut pieces: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (concept, line) in file.values().flatten() {
        for (tag, list) in line {
            let language = Language::of_tag(tag)
                .with_context(|| format!("{concept}: {tag} is no language"))?;
            for phrase in list.split(' ').map(|phrase| phrase.replace('_', " ")) {
                if phrase.chars().any(words::is_cjk) {
                    pieces.entry(words::folded(&phrase)).or_default().insert(concept.clone());
                } else {
                    let key = key(&phrase, language);
                    stems.entry(key).or_default().insert(concept.clone());
                }
            }
        }
    }
    for topic in roots.iter().flat_map(|root| &root.topic) {
        let titles = topic.isco08.iter().chain(&topic.onet_soc).map(|(_, _, title)| title);
        for phrase in topic.synonyms.iter().chain([&topic.topic]).chain(titles) {
            let key = key(phrase, Language::English);
            if key.split(' ').count() <= LONGEST {
                stems.entry(key).or_default().insert(format!("@{}", topic.name));
            }
        }
    }
    let mut text = String::new();
    write(&mut text, "WORDS", stems.into_iter().collect())?;
    let mut pieces: Vec<_> = pieces.into_iter().collect();
    pieces.sort_by_key(|(piece, _)| std::cmp::Reverse(piece.chars().count()));
    write(&mut text, "PIECES", pieces)?;
    Ok(text)
}

/// Returns the key under which a phrase is looked up: the tag of the language and the stems of the
/// words, stop words included.
fn key(phrase: &str, language: Language) -> String {
    let forms = words::forms(phrase);
    let stems: Vec<String> = forms.iter().map(|(_, form)| language.stem(form)).collect();
    format!("{}:{}", language.tag(), stems.join(" "))
}

fn write(text: &mut String, name: &str, entries: Vec<(String, BTreeSet<String>)>) -> Result<()> {
    writeln!(text, "pub(crate) static {name}: &[(&str, &[&str])] = &[")?;
    for (key, concepts) in entries {
        let concepts: Vec<String> = concepts.into_iter().collect();
        writeln!(text, "({key:?}, &{concepts:?}),")?;
    }
    text.push_str("];\n");
    Ok(())
}
