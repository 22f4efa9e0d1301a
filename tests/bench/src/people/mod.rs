//! A simulation of many people whose agents list, search, match, propose, talk and meet. It measures each
//! call, and checks the data afterwards.

mod acts;
mod audit;
mod person;

use crate::{
    Effort,
    client::Client,
    component_sets,
    host::{BenchHost, Setup},
    listings::Random,
    market::{CANDIDATE, COFOUNDER, JOB, Kind, pick},
    report::{Report, median, percentile},
};
use anyhow::{Context as _, Result, ensure};
use person::{CallStatistics, Person};
use portolan_vocabulary::{Limits, Timestamp};
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// Of four people, two look for a cofounder, one for a job, and one for a candidate.
const KINDS: [Kind; 4] = [COFOUNDER, CANDIDATE, COFOUNDER, JOB];
/// The number of people who are prepared concurrently.
const CONCURRENT_PREPARATIONS: usize = 8;
const SEED: u64 = 7;
/// The rate limit, so high that it is never reached.
const NO_LIMIT: u64 = 1_000_000;
/// The time limit of a call, so high that slow calls are measured and not interrupted.
const LONGEST_CALL_MS: u64 = 20_000;
/// The wait for the last deliveries of events.
const DELIVERY_WAIT: Duration = Duration::from_secs(3);
const FIRST_NAMES: [&str; 8] = ["Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana"];

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let count = effort.people;
    let limits = Limits {
        call_wall_time_ms: LONGEST_CALL_MS,
        anonymous_calls_per_minute: NO_LIMIT,
        claimed_calls_per_minute: NO_LIMIT,
        writes_per_minute: NO_LIMIT,
        work_ms_per_hour: NO_LIMIT,
        page_work_ms_per_hour: NO_LIMIT,
        messages_per_hour: NO_LIMIT,
        connections_per_address: NO_LIMIT,
        ..Limits::default()
    };
    let guests = [&component_sets::MATCHING[..], &["calendar", "thread_meetings"]].concat();
    let setup = Setup { limits, rate_limits: true, runs_due_work: true, ..Setup::with(&guests) };
    let host = Arc::new(BenchHost::of(setup).await?);
    let people = prepare(&host, count).await?;
    let seconds = effort.people_seconds;
    eprintln!("people: {count} of them act for {seconds} s");
    let begun = Instant::now();
    let until = begun + Duration::from_secs(seconds);
    let mut running = JoinSet::new();
    for person in people {
        running.spawn(person.run(until));
    }
    let (mut people, mut statistics) = (Vec::new(), CallStatistics::default());
    while let Some(done) = running.join_next().await {
        let mut person = done??;
        statistics.add(std::mem::take(&mut person.statistics));
        people.push(person);
    }
    let elapsed = begun.elapsed().as_secs_f64();
    report_calls(&statistics, count, elapsed, report);
    tokio::time::sleep(DELIVERY_WAIT).await;
    let findings = audit::check(people).await?;
    for (what, number) in findings.rows() {
        report.add(format!("{count} people, afterwards: {what}"), number as f64, "");
    }
    let broken: Vec<_> = statistics.statuses.range(500..).collect();
    ensure!(broken.is_empty(), "the host has failed: {broken:?} {:?}", statistics.codes);
    ensure!(findings.faults.is_empty(), "the data is inconsistent: {:#?}", findings.faults);
    Ok(())
}

/// Registers and claims people, who list something each.
async fn prepare(host: &Arc<BenchHost>, count: usize) -> Result<Vec<Person>> {
    let begun = Instant::now();
    let (mut people, mut next) = (Vec::new(), 0);
    let mut preparing = JoinSet::new();
    while people.len() < count {
        while next < count && preparing.len() < CONCURRENT_PREPARATIONS {
            preparing.spawn(create_person(Arc::clone(host), next));
            next += 1;
        }
        people.push(preparing.join_next().await.context("no person is being prepared")???);
        if people.len().is_multiple_of(100) {
            let seconds = begun.elapsed().as_secs_f64();
            eprintln!("people: {} of {count} are there after {seconds:.0} s", people.len());
        }
    }
    Ok(people)
}

async fn create_person(host: Arc<BenchHost>, number: usize) -> Result<Person> {
    let mut client = Client::claimed(&host).await?;
    let kind = KINDS.get(number % KINDS.len()).context("no such kind")?;
    let name = json!({ "action": "update_profile", "display_name": pick(&FIRST_NAMES, number) });
    client.result("owners", &name).await?;
    let mut random = Random(SEED);
    // Adjacent seeds would start with similar random numbers.
    random.0 = random.0.wrapping_add(number as u64 * 0x51_7cc1_b727_220b);
    let mut person = Person::new(client, *kind, random, Timestamp::now());
    person.publish_listing(number).await?;
    Ok(person)
}

fn report_calls(statistics: &CallStatistics, count: usize, elapsed: f64, report: &mut Report) {
    let calls: usize = statistics.times.values().map(Vec::len).sum();
    let people = format!("{count} people");
    report.add(format!("{people}: calls"), calls as f64 / elapsed, "/s");
    for (name, times) in &statistics.times {
        report.add(format!("{people}, {name}: calls"), times.len() as f64 / elapsed, "/s");
        report.add(format!("{people}, {name}: p50"), median(times), "ms");
        report.add(format!("{people}, {name}: p99"), percentile(times, 99), "ms");
    }
    for (code, times) in &statistics.codes {
        report.add(format!("{people}, answered {code}"), *times as f64, "times");
    }
}
