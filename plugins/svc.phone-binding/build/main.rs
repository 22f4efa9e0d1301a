//! Makes one automaton of the numbering plans of all countries, from the metadata of
//! libphonenumber.

mod automaton;
mod plan;

use anyhow::{Context as _, Result};
use automaton::Automaton;
use phonenumber::metadata::DATABASE;
use plan::Plan;
use std::{env, fmt::Write as _, fs, path::Path};

/// Country codes have one to three digits (ITU-T E.164).
const CODES: std::ops::RangeInclusive<u16> = 1..=999;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build");
    let mut automaton = Automaton::default();
    let mut starts = String::new();
    for code in CODES {
        if let Some(regions) = DATABASE.by_code(&code) {
            let plan = Plan::of(&regions).with_context(|| format!("country code {code}"))?;
            write!(starts, "({code}, {}), ", automaton.add(&plan)?)?;
        }
    }
    let (kinds, next) = automaton.tables()?;
    let count = kinds.len();
    let tables = format!(
        "static STARTS: &[(u16, u16)] = &[{starts}];\n\
         static KINDS: [u8; {count}] = {kinds:?};\n\
         static NEXT: [[u16; 10]; {count}] = {next:?};\n"
    );
    let target = env::var_os("OUT_DIR").context("cargo sets OUT_DIR")?;
    fs::write(Path::new(&target).join("plans.rs"), tables)?;
    Ok(())
}
