//! The topics towards which texts take a stance, and the words that show which.

use crate::{schemas::Attributes, words};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write};

/// Words by language; those of one language are separated by spaces, and `_` joins the words of a
/// phrase.
pub(crate) type Words = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    cues: Cues,
    languages: Words,
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
    #[serde(default)]
    says: Vec<Says>,
    /// What values of attributes say.
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

pub(crate) fn tables(file: File, attributes: &Attributes) -> Result<String> {
    let mut languages = String::new();
    for (tag, names) in &file.languages {
        let names: Vec<Vec<String>> = names.split_whitespace().map(parts).collect();
        let names: Vec<String> = names.iter().map(|name| format!("&{name:?}")).collect();
        write!(languages, "({tag:?}, &[{}]),", names.join(","))?;
    }
    let mut text = format!(
        "pub(crate) static LANGUAGES: &[(&str, &[&[&str]])] = &[{languages}];\n\
         pub(crate) static CUES: &[(Cue, Pattern)] = &{};\npub(crate) static TOPICS: &[Topic] = &[\n",
        cues(&file.cues)?
    );
    let names: Vec<&String> = file.topic.iter().map(|topic| &topic.name).collect();
    for topic in &file.topic {
        check(topic, &names, attributes).with_context(|| topic.name.clone())?;
        write!(
            text,
            "Topic {{ name: {:?}, kinds: &{:?}, parts: &{:?}, is_given: {}, words: &[{}], cues: &{}, had_in: &{:?}, \
             needed_in: &{:?}, refused_in: &{:?}, says: &[",
            topic.name,
            topic.kinds,
            topic.parts,
            topic.given,
            patterns(&topic.words)?.concat(),
            cues(&topic.cues)?,
            topic.had_in,
            topic.needed_in,
            topic.refused_in,
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

fn check(topic: &Topic, names: &[&String], attributes: &Attributes) -> Result<()> {
    ensure!(
        topic.parts.iter().all(|part| names.contains(&part)),
        "a part is not the name of a topic"
    );
    let says = topic.says.iter().flat_map(|says| &says.kinds);
    for kind in
        [&topic.had_in, &topic.needed_in, &topic.refused_in].into_iter().flatten().chain(says)
    {
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
    let mut found = Vec::new();
    for (language, words) in words {
        ensure!(
            ["en", "de", "es", "fr", "ja", "any"].contains(&language.as_str()),
            "there is no language {language}"
        );
        let tag = if language == "any" { "" } else { language };
        for word in words.split_whitespace() {
            let parts = parts(word);
            found.push(format!("Pattern {{ language: {tag:?}, words: &{parts:?} }},"));
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
