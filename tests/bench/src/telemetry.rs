//! The cost of traces: calls at a host that records a tenth of its traces, against one that records none, in turns.

use crate::{
    Effort,
    host::{BenchHost, Setup},
    load::slice,
    report::{Report, median, spread},
    throughput::{CONNECTIONS, order},
};
use anyhow::{Context as _, Result, ensure};
use axum::{Router, body::Bytes, routing::post};
use std::{process::Stdio, time::Duration};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

const PATH: &str = "/v1/capabilities/template_000/call";
/// The time for the spans of a slice to reach the collector, so that they do not burden the next slice.
const FLUSH: Duration = Duration::from_secs(5);

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let (_collector, endpoint) = start_collector().await?;
    let without = BenchHost::start(&["template"]).await?;
    let traced = Setup { otlp_endpoint: Some(endpoint), ..Setup::with(&["template"]) };
    let traced = BenchHost::of(traced).await?;
    let hosts = [("calls without traces", &without), ("calls, a tenth of them traced", &traced)];
    let (mut rates, mut times) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    // The first round warms up and is not counted.
    for round in 0..=effort.rounds {
        eprintln!("telemetry, round {round} of {}", effort.rounds);
        for ((_, host), (rates, times)) in hosts.iter().zip(rates.iter_mut().zip(&mut times)) {
            let request = order(host, PATH);
            let slice = slice(&host.address, &request, CONNECTIONS, effort.slice_ms).await?;
            host.app.host.telemetry.flush(FLUSH).await;
            if round > 0 {
                rates.push(slice.per_second);
                times.push(slice.cpu_us);
            }
        }
    }
    let counts = traced.app.host.telemetry.span_counts();
    ensure!(counts.exported > 0, "no span was exported");
    for (figures, what, unit) in
        [(&rates, "requests", "/s"), (&times, "processor time of the host", "us")]
    {
        let [base, with] = figures;
        let [(base_name, _), (name, _)] = hosts;
        report.add(format!("{base_name}: {what}"), median(base), unit);
        report.add(format!("{name}: {what}"), median(with), unit);
        let ratios: Vec<f64> = with.iter().zip(base).map(|(with, base)| with / base).collect();
        report.compare_with(
            &format!("{base_name}: {what}"),
            median(&ratios),
            Some(spread(&ratios)),
        );
    }
    report.add("spans exported", counts.exported as f64, "");
    report.add("spans dropped", (counts.dropped + counts.failed) as f64, "");
    Ok(())
}

/// Starts a collector in a process of its own, whose work is not counted.
async fn start_collector() -> Result<(Child, String)> {
    let mut process = Command::new(std::env::current_exe()?)
        .arg("collect")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = process.stdout.take().context("the collector has no output")?;
    let address = BufReader::new(output).lines().next_line().await?;
    let address = address.context("the collector has not started")?;
    Ok((process, format!("http://{address}")))
}

/// Runs the collector, which takes spans and forgets them.
pub(crate) fn collect() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let routes = Router::new().route("/v1/traces", post(|_spans: Bytes| async {}));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        axum::serve(listener, routes).await?;
        Ok(())
    })
}
