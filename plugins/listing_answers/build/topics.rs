//! The topics towards which texts take a stance, and the words that show which.

use crate::{schemas::Attributes, words};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write};

/// The minimum number of letters of a stem by which other forms of a word are found.
const SHORTEST_STEM: usize = 4;

/// Words by language; those of one language are separated by spaces, and `_` joins the words of a
/// phrase.
pub(crate) type Words = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    cues: Cues,
    languages: Words,
    /// Words for days of the week, which are numbered from 0 for Sunday.
    weekdays: BTreeMap<String, Vec<u64>>,
    /// Names for several kinds of listings.
    sets: BTreeMap<String, Vec<String>>,
}

/// A file of topics.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topics {
    topic: Vec<Topic>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Cues {
    not: Words,
    refuses: Words,
    accepts: Words,
    needs: Words,
    past: Words,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Topic {
    name: String,
    /// The kinds of listings that can have a stance towards the topic.
    #[serde(rename = "in")]
    kinds: Vec<String>,
    /// The topics of which this one consists.
    #[serde(default)]
    parts: Vec<String>,
    /// Whether one side gives the topic's thing to the other side, so that a refusal says that the
    /// thing is lacking.
    #[serde(default)]
    given: bool,
    /// Whether a contradiction does not exclude, because texts do not always mean it so.
    #[serde(default)]
    mild: bool,
    words: Words,
    #[serde(default)]
    cues: Cues,
    /// The kinds in whose texts a mention without a cue means that the listing has the topic's
    /// thing (`had_in`), or needs it (`needed_in`).
    #[serde(default)]
    had_in: Vec<String>,
    #[serde(default)]
    needed_in: Vec<String>,
    /// The kinds in whose texts a negation is a refusal; in others, it says only that the thing is
    /// lacking.
    #[serde(default)]
    refused_in: Vec<String>,
    /// The kinds in whose texts a refusal is about something else, because they have the thing.
    #[serde(default)]
    never_refused_in: Vec<String>,
    /// The unstated wishes of people of a kind: the kinds by stance.
    #[serde(default)]
    assumed: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    says: Vec<Says>,
    /// The meanings of attributes' values.
    #[serde(default)]
    attributes: Vec<OfAttribute>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Says {
    #[serde(rename = "in", default)]
    kinds: Vec<String>,
    stance: String,
    /// Whether the words show no stance after a negation.
    #[serde(default)]
    negatable: bool,
    words: Words,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAttribute {
    #[serde(rename = "in")]
    kinds: Vec<String>,
    name: String,
    value: Value,
    stance: String,
}

/// Replaces names of sets by their kinds, which are in `within` too if that is not empty.
fn expand(kinds: &mut Vec<String>, sets: &BTreeMap<String, Vec<String>>, within: &[String]) {
    let all = kinds.iter().flat_map(|kind| match sets.get(kind) {
        Some(set) => {
            let fits = |kind: &&String| within.is_empty() || within.contains(kind);
            set.iter().filter(fits).cloned().collect()
        }
        None => vec![kind.clone()],
    });
    *kinds = all.collect();
}

impl Topic {
    fn expand(&mut self, sets: &BTreeMap<String, Vec<String>>) {
        expand(&mut self.kinds, sets, &[]);
        let within = self.kinds.clone();
        let says = self.says.iter_mut().map(|says| &mut says.kinds);
        let of = self.attributes.iter_mut().map(|of| &mut of.kinds);
        let own = [
            &mut self.had_in,
            &mut self.needed_in,
            &mut self.refused_in,
            &mut self.never_refused_in,
        ];
        for kinds in own.into_iter().chain(self.assumed.values_mut()).chain(says).chain(of) {
            expand(kinds, sets, &within);
        }
    }
}

pub(crate) fn tables(
    file: File,
    mut topics: Vec<Topics>,
    attributes: &Attributes,
) -> Result<String> {
    let mut topics: Vec<Topic> = topics.drain(..).flat_map(|file| file.topic).collect();
    topics.iter_mut().for_each(|topic| topic.expand(&file.sets));
    let mut languages = String::new();
    for (tag, names) in &file.languages {
        let names: Vec<Vec<String>> = names.split_whitespace().map(parts).collect();
        let names: Vec<String> = names.iter().map(|name| format!("&{name:?}")).collect();
        write!(languages, "({tag:?}, &[{}]),", names.join(","))?;
    }
    let mut text = format!(
        "pub(crate) static LANGUAGES: &[(&str, &[&[&str]])] = &[{languages}];\n\
         pub(crate) static WEEKDAYS: &[(&str, &[u64])] = &[{}];\n\
         pub(crate) static CUES: &[(Cue, Pattern)] = &{};\npub(crate) static TOPICS: &[Topic] = &[\n",
        weekdays(&file.weekdays),
        cues(&file.cues)?
    );
    let names: Vec<&String> = topics.iter().map(|topic| &topic.name).collect();
    for topic in &topics {
        check(topic, &names, attributes).with_context(|| topic.name.clone())?;
        write!(
            text,
            "Topic {{ name: {:?}, kinds: &{:?}, parts: &{:?}, is_given: {}, is_mild: {}, words: &[{}], cues: &{}, had_in: &{:?}, \
             needed_in: &{:?}, refused_in: &{:?}, never_refused_in: &{:?}, assumed: &[{}], says: &[",
            topic.name,
            topic.kinds,
            topic.parts,
            topic.given,
            topic.mild,
            stemmed_patterns(&topic.words)?.concat(),
            cues(&topic.cues)?,
            topic.had_in,
            topic.needed_in,
            topic.refused_in,
            topic.never_refused_in,
            assumed(topic)?,
        )?;
        for says in &topic.says {
            for pattern in patterns(&says.words)? {
                write!(
                    text,
                    "(Says {{ kinds: &{:?}, stance: {}, is_negatable: {} }}, {}),",
                    says.kinds,
                    stance(&says.stance)?,
                    says.negatable,
                    pattern.trim_end_matches(','),
                )?;
            }
        }
        text.push_str("], attributes: &[");
        for of in &topic.attributes {
            write!(
                text,
                "OfAttribute {{ kinds: &{:?}, name: {:?}, value: {:?}, stance: {} }},",
                of.kinds,
                of.name,
                of.value.as_str().map_or_else(|| of.value.to_string(), str::to_owned),
                stance(&of.stance)?,
            )?;
        }
        text.push_str("] },\n");
    }
    text.push_str("];\n");
    Ok(text)
}

fn weekdays(names: &BTreeMap<String, Vec<u64>>) -> String {
    let named = names.iter().flat_map(|(words, days)| {
        let words = words.split(' ').map(words::folded);
        words.map(move |word| format!("({word:?}, &{days:?}),"))
    });
    named.collect()
}

fn assumed(topic: &Topic) -> Result<String> {
    let named = topic.assumed.iter();
    let entries = named.map(|(name, kinds)| Ok(format!("({}, &{kinds:?}),", stance(name)?)));
    entries.collect()
}

fn check(topic: &Topic, names: &[&String], attributes: &Attributes) -> Result<()> {
    ensure!(
        topic.parts.iter().all(|part| names.contains(&part)),
        "a part is not the name of a topic"
    );
    let says = topic.says.iter().flat_map(|says| &says.kinds);
    let own = [&topic.had_in, &topic.needed_in, &topic.refused_in, &topic.never_refused_in];
    let own = own.into_iter();
    for kind in own.chain(topic.assumed.values()).flatten().chain(says) {
        ensure!(topic.kinds.contains(kind), "{kind} is not one of its kinds");
    }
    for kind in &topic.kinds {
        attributes.check_kind(kind)?;
    }
    for of in &topic.attributes {
        for kind in &of.kinds {
            let values: Vec<String> = of.value.as_str().map(str::to_owned).into_iter().collect();
            attributes.check_values(kind, &of.name, &values)?;
        }
    }
    Ok(())
}

fn stance(name: &str) -> Result<&'static str> {
    Ok(match name {
        "has" => "Stance::Has",
        "lacks" => "Stance::Lacks",
        "needs" => "Stance::Needs",
        "refuses" => "Stance::Refuses",
        "accepts" => "Stance::Accepts",
        other => anyhow::bail!("there is no stance {other}"),
    })
}

fn cues(cues: &Cues) -> Result<String> {
    let mut text = String::from("[");
    for (name, words) in [
        ("Not", &cues.not),
        ("Refuses", &cues.refuses),
        ("Accepts", &cues.accepts),
        ("Needs", &cues.needs),
        ("Past", &cues.past),
    ] {
        for pattern in patterns(words)? {
            write!(text, "(Cue::{name}, {}),", pattern.trim_end_matches(','))?;
        }
    }
    text.push(']');
    Ok(text)
}

/// Returns each word or phrase as a pattern, as Rust source.
pub(crate) fn patterns(words: &Words) -> Result<Vec<String>> {
    patterns_with(words, |_, _| String::new())
}

/// Returns each word or phrase as a pattern; other forms of a single word match too.
fn stemmed_patterns(words: &Words) -> Result<Vec<String>> {
    patterns_with(words, |tag, word| {
        let is_plain = word.chars().all(char::is_alphabetic) && !word.chars().any(words::is_cjk);
        let language = words::Language::of_tag(tag).filter(|_| is_plain);
        let stem = language.map(|language| language.stem(&words::folded(word).replace('ß', "ss")));
        // Short stems are those of other words too.
        stem.filter(|stem| stem.len() >= SHORTEST_STEM).unwrap_or_default()
    })
}

fn patterns_with(words: &Words, stem: impl Fn(&str, &str) -> String) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (language, words) in words {
        ensure!(
            ["en", "de", "es", "fr", "ja", "any"].contains(&language.as_str()),
            "there is no language {language}"
        );
        let tag = if language == "any" { "" } else { language };
        for word in words.split_whitespace() {
            let (parts, stem) = (parts(word), stem(tag, word));
            found.push(format!(
                "Pattern {{ language: {tag:?}, words: &{parts:?}, stem: {stem:?} }},"
            ));
        }
    }
    Ok(found)
}

/// Returns the words of a phrase: Latin ones as they are, Japanese letter by letter.
fn parts(phrase: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in phrase.split('_') {
        let part = words::folded(part).replace('ß', "ss");
        if part.chars().any(words::is_cjk) {
            parts.extend(part.chars().map(String::from));
        } else {
            parts.push(part);
        }
    }
    parts
}
