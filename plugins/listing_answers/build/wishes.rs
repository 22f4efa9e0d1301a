//! The words that show that a sentence asks for something or excludes it.

use crate::topics::{Words, patterns};
use anyhow::Result;
use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    strong: Words,
    clear: Words,
    weak: Words,
}

pub(crate) fn table(file: &File) -> Result<String> {
    let mut text = String::from("pub(crate) static WISH_CUES: &[(Strength, Pattern)] = &[\n");
    for (name, words) in [("Strong", &file.strong), ("Clear", &file.clear), ("Weak", &file.weak)] {
        for pattern in patterns(words)? {
            writeln!(text, "(Strength::{name}, {}),", pattern.trim_end_matches(','))?;
        }
    }
    text.push_str("];\n");
    Ok(text)
}
