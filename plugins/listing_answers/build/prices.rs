//! The forms of prices in texts.

use crate::schemas::Attributes;
use anyhow::{Result, ensure};
use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    words: String,
    extra: String,
    costs: String,
    other: String,
    price: Vec<Price>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    #[serde(rename = "in")]
    kinds: Vec<String>,
    part: String,
    #[serde(default)]
    unit: String,
    least: f64,
    least_with_currency: f64,
}

pub(crate) fn tables(file: &File, attributes: &Attributes) -> Result<String> {
    let mut text = String::new();
    for (name, words) in [
        ("PRICE_WORDS", &file.words),
        ("EXTRA_COSTS", &file.extra),
        ("NO_PRICES", &file.other),
        ("COSTS", &file.costs),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        writeln!(text, "pub(crate) static {name}: &[&str] = &{words:?};")?;
    }
    text.push_str("pub(crate) static PRICES: &[Price] = &[\n");
    for price in &file.price {
        price.kinds.iter().try_for_each(|kind| attributes.check_kind(kind))?;
        ensure!(
            ["min", "max", "both"].contains(&price.part.as_str()),
            "`part` must be min, max or both"
        );
        writeln!(
            text,
            "Price {{ kinds: &{:?}, part: {:?}, unit: {:?}, least: {:?}, least_with_currency: {:?} }},",
            price.kinds, price.part, price.unit, price.least, price.least_with_currency,
        )?;
    }
    text.push_str("];\n");
    Ok(text)
}
