//! Turns the files in `taxonomy/` into the static tables that the capability reads.

mod attributes;
mod directions;
mod index;
mod source;
mod tables;
#[path = "../src/words.rs"]
#[expect(dead_code, reason = "the index needs only the stems")]
mod words;

use anyhow::{Context, Result};
use std::{env, fs, path::Path};

/// The order of the top level.
const ROOTS: [&str; 6] = ["work", "home", "social", "venture", "pro", "lead"];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=taxonomy");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/words.rs");
    let defaults = toml::from_str(&read("defaults")?).context("taxonomy/defaults.toml")?;
    let mut nodes = Vec::new();
    for root in ROOTS {
        let file = toml::from_str(&read(root)?).with_context(|| format!("taxonomy/{root}.toml"))?;
        nodes.extend(source::nodes(file, &defaults)?);
    }
    let read_attributes = |name: &str| {
        let path = format!("attributes/{name}");
        toml::from_str(&read(&path)?).with_context(|| format!("taxonomy/{path}.toml"))
    };
    let files = ROOTS.into_iter().chain(["shared"]).map(read_attributes);
    let schemas = attributes::schemas(files.collect::<Result<_>>()?)?;
    let directions = toml::from_str(&read("directions")?).context("taxonomy/directions.toml")?;
    let tables =
        [tables::nodes(&nodes, &schemas)?, index::postings(&nodes), directions::table(&directions)];
    let out = env::var("OUT_DIR").context("OUT_DIR is set by cargo")?;
    fs::write(Path::new(&out).join("tables.rs"), tables.concat()).context("writing the tables")
}

fn read(name: &str) -> Result<String> {
    let path = format!("taxonomy/{name}.toml");
    fs::read_to_string(&path).context(path)
}
