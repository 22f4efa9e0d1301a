//! `portolan-bench RESULTS.json [--quick]`: prints a table and writes the results.
//!
//! What is compared is measured in short alternating slices, because machines change their pace;
//! only ratios within one run mean anything.

mod catalog;
mod host;
mod load;
mod report;
mod sandbox;
mod throughput;

use anyhow::{Context as _, Result};
use report::Report;
use std::path::Path;

/// How much is measured.
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    pub(crate) slice_ms: u64,
    pub(crate) catalog_sizes: &'static [usize],
}

const FULL: Effort = Effort { rounds: 12, slice_ms: 1000, catalog_sizes: &[10, 30, 100, 1000] };
const QUICK: Effort = Effort { rounds: 3, slice_ms: 300, catalog_sizes: &[10] };

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["load", rest @ ..] => load::run(rest),
        // The host compiles components by starting itself anew, and here that is this program.
        ["compile-component", output] => {
            std::process::exit(portolan::sandbox::compile_from_stdin(Path::new(output)))
        }
        [results] if !results.starts_with('-') => measure(Path::new(results), &FULL),
        [results, "--quick"] => measure(Path::new(results), &QUICK),
        _ => anyhow::bail!("portolan-bench RESULTS.json [--quick]"),
    }
}

fn measure(results: &Path, effort: &Effort) -> Result<()> {
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let bench = host::BenchHost::start().await?;
        throughput::measure(&bench, effort, &mut report).await?;
        sandbox::measure(&bench, effort, &mut report).await
    })?;
    catalog::measure(effort, &mut report)?;
    report.print();
    std::fs::write(results, report.json()).context("the results cannot be written")
}
