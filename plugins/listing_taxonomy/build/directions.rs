//! Reads `taxonomy/directions.toml` and writes it as a Rust table.

use crate::source::Side;
use serde::Deserialize;

/// The phrases that decide for a side below a category.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    direction: Vec<Direction>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Direction {
    below: String,
    side: Side,
    en: Vec<String>,
    de: Vec<String>,
    es: Vec<String>,
    fr: Vec<String>,
    ja: Vec<String>,
}

pub(crate) fn table(file: &File) -> String {
    let direction = |direction: &Direction| {
        let Direction { below, side, en, de, es, fr, ja } = direction;
        let words: Vec<_> = [en, de, es, fr].into_iter().flatten().collect();
        format!(
            "Direction {{ below: {below:?}, side: Side::{side:?}, words: &{words:?}, \
             parts: &{ja:?} }},\n"
        )
    };
    let rows: String = file.direction.iter().map(direction).collect();
    let count = file.direction.len();
    format!("pub(crate) static DIRECTIONS: [Direction; {count}] = [\n{rows}];\n")
}
