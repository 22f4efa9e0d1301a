//! The phrases by which texts say values of attributes.

use crate::{schemas::Attributes, words};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    said: Vec<Said>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    #[serde(rename = "in")]
    kinds: Vec<String>,
    attribute: String,
    value: Option<Value>,
    #[serde(default)]
    number: bool,
    #[serde(default)]
    amount: bool,
    #[serde(default)]
    month: bool,
    #[serde(default)]
    plus: f64,
    #[serde(default = "once")]
    times: f64,
    #[serde(default = "any_least")]
    least: f64,
    #[serde(default = "any_most")]
    most: f64,
    part: Option<String>,
    unit: Option<String>,
    #[serde(default)]
    negated: bool,
    phrases: Vec<String>,
}

fn once() -> f64 {
    1.0
}

fn any_least() -> f64 {
    f64::MIN
}

fn any_most() -> f64 {
    f64::MAX
}

pub(crate) fn table(file: File, attributes: &Attributes) -> Result<String> {
    let mut text = String::from("pub(crate) static SAID: &[Said] = &[\n");
    for said in &file.said {
        check(said, attributes).with_context(|| format!("{:?} {}", said.kinds, said.attribute))?;
        let phrases: Vec<Vec<String>> = said.phrases.iter().map(|phrase| tokens(phrase)).collect();
        let value = said.value.as_ref().map(Value::to_string);
        writeln!(
            text,
            "Said {{ kinds: &{:?}, attribute: {:?}, value: {value:?}, number: {}, plus: {:?}, times: {:?}, least: {:?}, most: {:?}, \
             part: {:?}, unit: {:?}, negated: {}, phrases: &[",
            said.kinds,
            said.attribute,
            said.number || said.amount,
            said.plus,
            said.times,
            said.least,
            said.most,
            said.part,
            said.unit,
            said.negated,
        )?;
        for phrase in phrases {
            writeln!(text, "&{phrase:?},")?;
        }
        text.push_str("] },\n");
    }
    text.push_str("];\n");
    Ok(text)
}

fn check(said: &Said, attributes: &Attributes) -> Result<()> {
    let values: Vec<String> = match &said.value {
        Some(Value::Array(values)) => {
            values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(value)) => vec![value.clone()],
        _ => Vec::new(),
    };
    for kind in &said.kinds {
        attributes.check_values(kind, &said.attribute, &values)?;
        if let Some(value) = &said.value {
            let is_list = attributes.is_list(kind, &said.attribute);
            ensure!(
                is_list == value.is_array(),
                "the value must be a list if, and only if, the attribute is one"
            );
        }
    }
    ensure!(
        said.value.is_some() || said.number || said.amount || said.month || said.part.is_some(),
        "there must be a value, a number, an amount, a month or a part of an amount"
    );
    Ok(())
}

/// Returns the words of a phrase, split as texts are. A Japanese phrase, or one with a Japanese
/// number of rooms such as `{n}ldk`, is a single token, which is found anywhere in a text.
fn tokens(phrase: &str) -> Vec<String> {
    if phrase.chars().any(words::is_cjk) || phrase.contains("ldk") || phrase.contains("}dk") {
        return vec![words::folded(phrase)];
    }
    phrase.split(' ').map(words::folded).collect()
}
