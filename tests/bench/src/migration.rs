//! The migration of documents to another form while calls read and write them.

use crate::{
    Effort,
    host::{BenchHost, Setup},
    report::{Report, percentile},
};
use anyhow::{Context as _, Result, ensure};
use portolan_pipeline::Call;
use portolan_store::{Attachments, Expectation, Unit, Verdict};
use portolan_vocabulary::{AgentCaller, new_request_id};
use serde_json::{Map, Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

const CALLERS: u64 = 4;
/// The number of documents of one unit of work while the collection is filled.
const UNIT: u64 = 1_000;
/// How long calls are measured before the migration.
const BEFORE: Duration = Duration::from_secs(5);

/// The latencies of calls in microseconds, and the failures.
#[derive(Default)]
struct Calls {
    latencies: Vec<f64>,
    failures: Vec<String>,
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let host = BenchHost::of(Setup::with(&["library"])).await?;
    let documents = effort.migrated;
    eprintln!("migration: writing {documents} documents");
    fill(&host, documents).await?;
    let before = Load::start(&host, documents);
    tokio::time::sleep(BEFORE).await;
    let before = before.stop().await?;
    eprintln!("migration: migrating them");
    let during = Load::start(&host, documents);
    let started = Instant::now();
    host.install("library.wasm", "library_next")?;
    loop {
        let snapshot = host.app.host.catalog.snapshot();
        let serving = snapshot.capabilities.get("library").context("library is gone")?;
        if serving.descriptor.version == "2.0.0" {
            break;
        }
        let status = host.app.host.catalog.status();
        ensure!(status.refused.is_empty(), "{:?}", status.refused);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let took = started.elapsed();
    // The first calls of the new version are measured too.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let during = during.stop().await?;
    report.add(format!("migrating {documents} documents"), took.as_secs_f64(), "s");
    report.add("failed calls meanwhile", during.failures.len() as f64, "");
    for (name, percent) in [("p50", 50), ("p99", 99), ("slowest", 100)] {
        let of = |calls: &Calls| match percent {
            100 => calls.latencies.iter().copied().fold(0.0, f64::max),
            percent => percentile(&calls.latencies, percent),
        };
        report.add(format!("calls while documents are migrated: {name}"), of(&during), "us");
        report.compare_with("before", of(&during) / of(&before), None);
    }
    let failures: Vec<_> = [before.failures, during.failures].concat();
    ensure!(failures.is_empty(), "calls failed: {:?}", failures.first());
    let quarantined = host.app.host.store.quarantined().await?;
    ensure!(quarantined.is_empty(), "{} documents are in quarantine", quarantined.len());
    Ok(())
}

async fn fill(host: &BenchHost, documents: u64) -> Result<()> {
    let host = &host.app.host;
    let snapshot = host.catalog.snapshot();
    let library = snapshot.capabilities.get("library").context("no library")?;
    let books = library.collections.of(false).get("books").context("no books")?;
    for from in (0..documents).step_by(usize::try_from(UNIT)?) {
        let mut unit = Unit::new(host.store.clone(), host.clock.now());
        for number in from..documents.min(from + UNIT) {
            let book =
                json!({ "title": format!("Title {number}"), "code": format!("code {number}") });
            unit.put(books, &id(number), book.to_string(), Expectation::Any).await?;
        }
        let verdict = unit.commit(Attachments::default()).await?;
        ensure!(verdict == Verdict::Committed, "{verdict:?}");
    }
    Ok(())
}

fn id(number: u64) -> String {
    format!("book_{number:08}")
}

/// Callers that read and write documents until they are stopped.
struct Load {
    stop: Arc<AtomicBool>,
    callers: tokio::task::JoinSet<Calls>,
}

impl Load {
    fn start(host: &BenchHost, documents: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..CALLERS {
            let (app, stop) = (Arc::clone(&host.app), Arc::clone(&stop));
            callers.spawn(async move {
                let mut calls = Calls::default();
                let mut number = caller;
                while !stop.load(Ordering::Relaxed) {
                    // Each caller has its own documents, so that none conflicts.
                    number = (number + 7_919 * CALLERS) % documents;
                    let code = format!("code {number}");
                    let body = match number.is_multiple_of(3) {
                        true => json!({ "action": "put", "id": id(number), "title": "New", "code": code }),
                        false => json!({ "action": "get", "id": id(number) }),
                    };
                    let started = Instant::now();
                    let outcome = call(&app.host, body).await;
                    calls.latencies.push(started.elapsed().as_secs_f64() * 1e6);
                    calls.failures.extend(outcome.err());
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                calls
            });
        }
        Self { stop, callers }
    }

    async fn stop(self) -> Result<Calls> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Calls::default();
        for calls in self.callers.join_all().await {
            all.latencies.extend(calls.latencies);
            all.failures.extend(calls.failures);
        }
        Ok(all)
    }
}

async fn call(host: &Arc<portolan_pipeline::Host>, body: Value) -> Result<(), String> {
    let body: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    let request_id = new_request_id(host.clock.now());
    let caller = agent();
    let call = Call {
        caller,
        capability: "library",
        body: Ok(body),
        idempotency_key: None,
        request_id,
        by_person: false,
        trace: None,
    };
    let called = host.call(call).await;
    called.outcome.map(|_answer| ()).map_err(|failure| format!("{failure:?}"))
}

/// Returns an agent of a person.
fn agent() -> AgentCaller {
    AgentCaller {
        agent_id: "agt_01J0000000000000000000000A".into(),
        client_id: "cli_01J0000000000000000000000A".into(),
        owner_id: Some("own_01J0000000000000000000000A".into()),
        agent_name: None,
        scopes: ["svc.read".to_owned(), "svc.write".to_owned()].into(),
        test_mode: false,
        suspension: None,
        policy: None,
        address: None,
    }
}
