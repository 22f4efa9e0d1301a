//! `portolan-bench RESULTS.json [--quick] [PART…]`: prints a table and writes the results.
//!
//! Compared figures are measured in short alternating slices, because the speed of a machine changes. Only
//! ratios within one run are meaningful.

mod abuse;
mod catalog;
mod client;
mod components;
mod feeds;
mod host;
mod languages;
mod listings;
mod load;
#[expect(clippy::indexing_slicing, reason = "the JSON is its own, or an answer that is checked")]
mod market;
#[expect(clippy::indexing_slicing, reason = "the JSON is its own, or an answer that is checked")]
mod matching;
mod media;
mod migration;
mod nginx;
mod nodes;
#[path = "../../harness/component_sets.rs"]
#[expect(unreachable_pub, reason = "shared with the tests")]
mod component_sets;
#[expect(clippy::indexing_slicing, reason = "the JSON is its own, or an answer that is checked")]
mod people;
mod peers;
#[path = "../../harness/postgres.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared with the tests, which fail by panicking"
)]
mod postgres;
mod queries;
mod recording;
mod report;
mod response;
mod sandbox;
#[expect(clippy::indexing_slicing, reason = "the JSON is its own, or an answer that is checked")]
mod saved_searches;
#[expect(clippy::indexing_slicing, reason = "the JSON is its own, or an answer that is checked")]
mod search;
mod store;
mod telemetry;
mod throughput;
mod waiters;

use anyhow::{Context as _, Result};
use portolan_sandbox::{Backtraces, CompileRequest};
use report::Report;
use std::path::{Path, PathBuf};

/// The allocator of `portolan`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The parts that can be measured separately, and are measured if none is named.
const PARTS: [&str; 22] = [
    "throughput",
    "tokens",
    "mcp",
    "sandbox",
    "waiters",
    "telemetry",
    "recording",
    "abuse",
    "components",
    "languages",
    "search",
    "saved_searches",
    "matching",
    "people",
    "catalog",
    "store",
    "nodes",
    "queries",
    "migration",
    "feeds",
    "boards",
    "media",
];

/// The part that is measured only if it is named, because it installs programs of others.
const PEERS: &str = "peers";

/// The time-out for the start of a server.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// The amount of work of a run.
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    pub(crate) slice_ms: u64,
    pub(crate) catalog_sizes: &'static [usize],
    /// The sizes of the queried collection, ascending.
    pub(crate) collection_sizes: &'static [u64],
    /// The number of agents that wait for events.
    pub(crate) waiters: usize,
    /// The numbers of active listings, ascending.
    pub(crate) listings: &'static [u64],
    pub(crate) saved_searches: usize,
    /// The number of simulated people, and the seconds for which they act.
    pub(crate) people: usize,
    pub(crate) people_seconds: u64,
    /// The number of documents that are migrated.
    pub(crate) migrated: u64,
    /// The number of boards of a build.
    pub(crate) boards: usize,
}

const FULL: Effort = Effort {
    rounds: 12,
    slice_ms: 1000,
    catalog_sizes: &[10, 30, 100, 1000],
    collection_sizes: &[10_000, 100_000, 1_000_000],
    waiters: 10_000,
    listings: &[1_000, 10_000, 50_000],
    saved_searches: 100_000,
    people: 1_000,
    people_seconds: 60,
    migrated: 1_000_000,
    boards: 2_000,
};
const QUICK: Effort = Effort {
    rounds: 3,
    slice_ms: 300,
    catalog_sizes: &[10],
    collection_sizes: &[2_000, 20_000],
    waiters: 1_000,
    listings: &[1_000],
    saved_searches: 2_000,
    people: 10,
    people_seconds: 3,
    migrated: 10_000,
    boards: 100,
};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["load", rest @ ..] => load::run(rest),
        ["wait", rest @ ..] => waiters::run(rest),
        ["visit", rest @ ..] => abuse::run(rest),
        ["collect"] => telemetry::collect(),
        ["build-feeds", rest @ ..] => feeds::boards::run(rest),
        // The host compiles components by starting its own program, which is this one.
        ["compile-component", output, ..] => {
            std::process::exit(portolan_sandbox::compile_from_stdin(CompileRequest {
                output: PathBuf::from(output),
                backtraces: Backtraces::Names,
                cache: None,
            }))
        }
        [results, rest @ ..] if !results.starts_with('-') => {
            let (effort, parts) = match rest {
                ["--quick", parts @ ..] => (&QUICK, parts),
                parts => (&FULL, parts),
            };
            let unknown = parts.iter().find(|part| !PARTS.contains(part) && **part != PEERS);
            let known = PARTS.join(", ");
            anyhow::ensure!(unknown.is_none(), "unknown part; the parts are {known}, {PEERS}");
            measure(Path::new(results), effort, if parts.is_empty() { &PARTS } else { parts })
        }
        _ => {
            anyhow::bail!("portolan-bench RESULTS.json [--quick] [{}] [{PEERS}]", PARTS.join("] ["))
        }
    }
}

fn measure(results: &Path, effort: &Effort, parts: &[&str]) -> Result<()> {
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let measured = runtime.block_on(async {
        if ["throughput", "tokens", "mcp", "sandbox", "waiters"]
            .iter()
            .any(|part| parts.contains(part))
        {
            let bench = host::BenchHost::start(&[
                "template",
                "greeter",
                "wasi_probe",
                "faq_search",
                "content_render",
            ])
            .await?;
            if parts.contains(&"throughput") {
                throughput::measure(&bench, effort, &mut report).await?;
            }
            if parts.contains(&"tokens") {
                throughput::tokens(&bench, effort, &mut report).await?;
            }
            if parts.contains(&"mcp") {
                throughput::tools(&bench, effort, &mut report).await?;
            }
            if parts.contains(&"sandbox") {
                sandbox::measure(&bench, effort, &mut report).await?;
            }
            if parts.contains(&"waiters") {
                waiters::measure(&bench, effort, &mut report).await?;
            }
        }
        if parts.contains(&"telemetry") {
            telemetry::measure(effort, &mut report).await?;
        }
        if parts.contains(&"recording") {
            recording::measure(effort, &mut report).await?;
        }
        if parts.contains(&"abuse") {
            abuse::measure(effort, &mut report).await?;
        }
        if parts.contains(&"components") {
            components::measure(effort, &mut report).await?;
        }
        if parts.contains(&"languages") {
            languages::measure(effort, &mut report).await?;
        }
        if parts.contains(&"search") {
            search::measure(effort, &mut report).await?;
        }
        if parts.contains(&"saved_searches") {
            saved_searches::measure(effort, &mut report).await?;
        }
        if parts.contains(&"matching") {
            matching::measure(effort, &mut report).await?;
        }
        if parts.contains(&"people") {
            people::measure(effort, &mut report).await?;
        }
        if parts.contains(&"store") {
            store::measure(effort, &mut report).await?;
        }
        if parts.contains(&"nodes") {
            nodes::measure(effort, &mut report).await?;
        }
        if parts.contains(&"queries") {
            queries::measure(effort, &mut report).await?;
        }
        if parts.contains(&"migration") {
            migration::measure(effort, &mut report).await?;
        }
        if parts.contains(&"feeds") {
            feeds::measure(effort, &mut report).await?;
        }
        if parts.contains(&"boards") {
            feeds::boards::measure(effort, &mut report).await?;
        }
        if parts.contains(&"media") {
            media::measure(effort, &mut report).await?;
        }
        if parts.contains(&PEERS) {
            peers::measure(effort, &mut report).await?;
        }
        anyhow::Ok(())
    });
    if measured.is_ok() && parts.contains(&"catalog") {
        catalog::measure(effort, &mut report)?;
    }
    report.print();
    std::fs::write(results, report.json()).context("the results cannot be written")?;
    // After a failure, the figures that were measured before it are still printed.
    measured
}
