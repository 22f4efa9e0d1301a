//! Turns the files of `listing_taxonomy` into the tables that comparisons read, and checks that
//! every rule names attributes and values that exist.

mod prices;
mod rules;
mod said;
mod schemas;
mod topics;
mod vocabulary;
mod wishes;
#[path = "../../people_kit/src/words.rs"]
#[allow(dead_code, unreachable_pub, reason = "the tables need only the stems")]
mod words;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::{env, fs, path::Path};

const TAXONOMY: &str = "../listing_taxonomy/taxonomy";
const ROOTS: [&str; 6] = ["work", "home", "social", "venture", "pro", "lead"];
const TOPICS: [&str; 5] = ["homes", "work", "people", "professionals", "ventures"];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed={TAXONOMY}");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=../people_kit/src/words.rs");
    println!("cargo::rerun-if-changed=../people_kit/src/words/stop.txt");
    let roots: Vec<schemas::Root> = ROOTS.iter().map(|root| read(root)).collect::<Result<_>>()?;
    let mut attributes = schemas::Attributes::default();
    for name in ROOTS.iter().chain(&["shared"]) {
        attributes.add(read(&format!("attributes/{name}"))?);
    }
    let all_topics = TOPICS.iter().map(|name| read(&format!("topics/{name}")));
    let all_topics = all_topics.collect::<Result<_>>()?;
    let tables = [
        schemas::categories(&roots)?,
        rules::tables(read("answers")?, &attributes)?,
        said::table(read("said")?, &attributes)?,
        prices::tables(&read("prices")?, &attributes)?,
        topics::tables(read("topics")?, all_topics, &attributes)?,
        wishes::table(&read("wishes")?)?,
        vocabulary::table(read("words")?, &roots)?,
    ];
    let out = env::var("OUT_DIR").context("OUT_DIR is set by cargo")?;
    fs::write(Path::new(&out).join("tables.rs"), tables.concat()).context("writing the tables")
}

fn read<T: DeserializeOwned>(name: &str) -> Result<T> {
    let path = format!("{TAXONOMY}/{name}.toml");
    let text = fs::read_to_string(&path).with_context(|| path.clone())?;
    toml::from_str(&text).context(path)
}
