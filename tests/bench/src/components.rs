//! The cost of each shipped component: its size, its load time, and the time of an empty call.

use crate::{
    Effort,
    host::{BenchHost, guests},
    report::{Report, median},
    sandbox::sandboxed,
};
use anyhow::{Context as _, Result};
use std::time::Instant;

const CALLS: u32 = 200;
/// No action has this name, so a call only starts and ends.
const NO_ACTION: &str = "no_such_action";

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(guests()?.join("plugins"))? {
        let file = entry?.path();
        let stem = file.file_stem().and_then(|stem| stem.to_str()).context("a name")?;
        if file.extension().is_some_and(|extension| extension == "wasm") {
            names.push((stem.to_owned(), std::fs::metadata(&file)?.len()));
        }
    }
    names.sort();
    for (name, bytes) in names {
        eprintln!("components: {name}");
        let started = Instant::now();
        let host = BenchHost::start(&[&name]).await?;
        let loaded = started.elapsed().as_secs_f64() * 1e3;
        let snapshot = host.app.host.catalog.snapshot();
        let id = snapshot.capabilities.keys().next().context("the component is not loaded")?;
        let mut times = Vec::new();
        for _ in 0..=effort.rounds.min(5) {
            let started = Instant::now();
            sandboxed(&host, id, NO_ACTION, "{}", CALLS).await?;
            times.push(started.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
        }
        report.add(format!("{id}: size"), bytes as f64 / 1024.0, "KiB");
        report.add(format!("{id}: a new host is ready"), loaded, "ms");
        report.add(format!("{id}: an empty call"), median(&times), "us");
    }
    Ok(())
}
