//! Turns `entries/*.md` into static tables: the entries, their rendered answers and the index.

#[path = "../src/analysis.rs"]
mod analysis;
mod answer;
mod index;
mod source;
mod tables;

use anyhow::{Context as _, Result};
use std::{env, fs, path::Path};

fn main() -> Result<()> {
    for path in ["entries", "build", "src/analysis.rs", "src/stop_words.txt"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let sources = source::read(Path::new("entries"))?;
    let answers: Vec<_> = sources.iter().map(|source| answer::render(&source.answer)).collect();
    let index = index::build(&sources, &answers)?;
    let target = env::var_os("OUT_DIR").context("cargo sets OUT_DIR")?;
    let tables = tables::rust(&sources, &answers, &index)?;
    Ok(fs::write(Path::new(&target).join("tables.rs"), tables)?)
}
