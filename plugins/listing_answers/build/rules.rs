//! The rules by which attributes are compared.

use crate::schemas::Attributes;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt::Write};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    answers: Vec<Answers>,
    regions: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    from: String,
    of: String,
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Comparison {
    AtLeast,
    AtMost,
    WithinRange,
    Overlaps,
    ContainsAll,
    SharesTags,
    CoversTags,
    Holds,
    Implies,
    Avoids,
    OrderedLevel,
    LanguageLevel,
    WithinRegion,
    WithinBudget,
    PaysEnough,
    PaysEither,
    WithinKm,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Excludes {
    #[default]
    Never,
    One,
    Both,
}

/// The listing that makes the distance irrelevant if its field `remote` or its attributes say that
/// it is remote. With `Never`, either listing does so, but only by its field `remote`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Remote {
    #[default]
    Never,
    Other,
    Either,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    ask: String,
    upto: Option<String>,
    unless: Option<String>,
    with: Option<String>,
    have: String,
    by: Comparison,
    #[serde(default)]
    plus: f64,
    #[serde(default)]
    slack: f64,
    #[serde(default)]
    relative: bool,
    #[serde(default)]
    in_currency: bool,
    #[serde(default)]
    near: Vec<(String, String)>,
    #[serde(default)]
    scale: Vec<String>,
    #[serde(default)]
    when: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    partly: Vec<String>,
    #[serde(default)]
    near_km: f64,
    #[serde(default)]
    remote: Remote,
    moves: Option<String>,
    weight: f64,
    #[serde(default)]
    excludes: Excludes,
}

pub(crate) fn tables(file: File, attributes: &Attributes) -> Result<String> {
    let mut text = String::from("pub(crate) static ANSWERS: &[Answers] = &[\n");
    for Answers { from, of, rules } in &file.answers {
        writeln!(text, "Answers {{ from: {from:?}, of: {of:?}, rules: &[")?;
        for rule in rules {
            check(rule, from, of, attributes)
                .with_context(|| format!("{from} asks {of}: {}", rule.ask))?;
            let indexed =
                (attributes.is_indexed(from, &rule.ask), attributes.is_indexed(of, &rule.have));
            write(&mut text, rule, indexed)?;
        }
        text.push_str("] },\n");
    }
    text.push_str("];\n");
    writeln!(text, "pub(crate) static REGIONS: &[(&str, &[&str])] = &[")?;
    for (region, countries) in &file.regions {
        writeln!(text, "({region:?}, &{countries:?}),")?;
    }
    text.push_str("];\n");
    Ok(text)
}

fn check(rule: &Rule, from: &str, of: &str, attributes: &Attributes) -> Result<()> {
    let asked = rule.upto.iter().chain(&rule.unless).chain(&rule.moves);
    rule.with.iter().try_for_each(|name| attributes.check(of, name))?;
    asked.chain([&rule.ask]).chain(&rule.with).try_for_each(|name| attributes.check(from, name))?;
    let named: Vec<String> = rule.near.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    for (kind, name, values) in [
        (from, &rule.ask, &rule.when),
        (of, &rule.have, &rule.needs),
        (of, &rule.have, &rule.partly),
        (of, &rule.have, &rule.scale),
        (of, &rule.have, &named),
    ] {
        attributes.check_values(kind, name, values)?;
    }
    Ok(())
}

fn write(text: &mut String, rule: &Rule, indexed: (bool, bool)) -> std::fmt::Result {
    writeln!(
        text,
        "Rule {{ ask: {:?}, upto: {:?}, unless: {:?}, with: {:?}, have: {:?}, by: Comparison::{:?}, plus: {:?}, \
         slack: {:?}, relative: {}, in_currency: {}, near: &{:?}, scale: &{:?}, when: &{:?}, \
         needs: &{:?}, partly: &{:?}, near_km: {:?}, remote: Remote::{:?}, moves: {:?}, \
         weight: {:?}, excludes: Excludes::{:?}, ask_indexed: {}, have_indexed: {} }},",
        rule.ask,
        rule.upto,
        rule.unless,
        rule.with,
        rule.have,
        rule.by,
        rule.plus,
        rule.slack,
        rule.relative,
        rule.in_currency,
        rule.near,
        rule.scale,
        rule.when,
        rule.needs,
        rule.partly,
        rule.near_km,
        rule.remote,
        rule.moves,
        rule.weight,
        rule.excludes,
        indexed.0,
        indexed.1,
    )
}
