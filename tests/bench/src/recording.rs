//! The cost of recorded calls: calls at a host that records as by default, against one that records none, in turns.

use crate::{
    Effort,
    host::{BenchHost, Setup},
    load::slice,
    report::{Report, median, spread},
    throughput::{CONNECTIONS, order},
};
use anyhow::{Result, ensure};

const PATH: &str = "/v1/capabilities/template_000/call";

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let setup = |records| Setup { records, runs_due_work: true, ..Setup::with(&["template"]) };
    let (without, with) = (BenchHost::of(setup(false)).await?, BenchHost::of(setup(true)).await?);
    let hosts = [("calls without recordings", &without), ("calls, recorded", &with)];
    let (mut rates, mut times) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    // The first round warms up and is not counted.
    for round in 0..=effort.rounds {
        eprintln!("recording, round {round} of {}", effort.rounds);
        for ((_, host), (rates, times)) in hosts.iter().zip(rates.iter_mut().zip(&mut times)) {
            let request = order(host, PATH);
            let slice = slice(&host.address, &request, CONNECTIONS, effort.slice_ms).await?;
            if round > 0 {
                rates.push(slice.per_second);
                times.push(slice.cpu_us);
            }
        }
    }
    let (kept, lost) = with.app.host.recordings.counts();
    ensure!(kept > 0, "no call was recorded");
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
    report.add("recordings written", kept as f64, "");
    report.add("calls not recorded", lost.values().sum::<u64>() as f64, "");
    Ok(())
}
