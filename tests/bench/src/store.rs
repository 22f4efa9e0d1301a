//! The store at its own interface: committed units a second, on SQLite and on PostgreSQL.

use crate::{
    Effort, postgres,
    report::{Report, median, percentile, spread},
};
use anyhow::{Result, ensure};
use portolan_store::{
    Attachments, AuditRecord, Collection, DatabaseUrl, Expectation, Store, Unit, Verdict,
};
use portolan_vocabulary::{self as vocabulary, Clock, Keyring, Quota, Quotas, Timestamp};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

pub(crate) const CALLERS: [usize; 3] = [1, 8, 32];

/// Opens an empty store on each database; SQLite's is in this folder.
pub(crate) async fn open(folder: &Path) -> Result<[(&'static str, Store); 2]> {
    let sqlite = DatabaseUrl::from(folder.join("bench.db"));
    let postgres: DatabaseUrl =
        postgres::database().await.parse().map_err(|error: String| anyhow::anyhow!(error))?;
    let keys = Keyring::parse(&Keyring::generate()?).map_err(anyhow::Error::msg)?;
    let quotas = unlimited()?;
    let sqlite = Store::open(&sqlite, &keys, Clock::system(), quotas.clone()).await?;
    let postgres = Store::open(&postgres, &keys, Clock::system(), quotas.clone()).await?;
    Ok([("SQLite", sqlite), ("PostgreSQL", postgres)])
}

/// Returns quotas that are counted, but that no benchmark reaches.
pub(crate) fn unlimited() -> Result<Quotas> {
    let limits = Quota::table().iter().map(|row| (row.name.to_owned(), u64::from(u32::MAX).into()));
    Ok(serde_json::from_value(serde_json::Value::Object(limits.collect()))?)
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::TempDir::new()?;
    let mut stores = Vec::new();
    for (name, store) in open(folder.path()).await? {
        let collection = Arc::new(declare(&store).await?);
        let slices = vec![Vec::new(); CALLERS.len()];
        stores.push((name, store, collection, slices));
    }
    for round in 0..=effort.rounds {
        eprintln!("store, round {round} of {}", effort.rounds);
        for (_, store, collection, slices) in &mut stores {
            for (callers, slices) in CALLERS.into_iter().zip(slices) {
                let time = Duration::from_millis(effort.slice_ms);
                let (store, collection) = (store.clone(), Arc::clone(collection));
                let write = move |caller, number| {
                    let (store, collection) = (store.clone(), Arc::clone(&collection));
                    async move { write(&store, &collection, caller, number).await }
                };
                let slice = slice(callers, time, write).await?;
                if round > 0 {
                    slices.push(slice);
                }
            }
        }
    }
    for (name, store, _, slices) in &stores {
        for_callers(report, &format!("{name}, committed units"), slices);
        store.close().await;
    }
    Ok(())
}

/// Reports the figures for each number of callers.
pub(crate) fn for_callers(report: &mut Report, name: &str, slices: &[Vec<(f64, f64)>]) {
    let mut alone: Vec<f64> = Vec::new();
    for (callers, slices) in CALLERS.into_iter().zip(slices) {
        let (rates, p99): (Vec<f64>, Vec<f64>) = slices.iter().copied().unzip();
        report.add(format!("{name}, {callers} callers"), median(&rates), "/s");
        if callers == 1 {
            alone = rates;
        } else {
            let ratios: Vec<f64> =
                rates.iter().zip(&alone).map(|(rate, alone)| rate / alone).collect();
            report.compare_with("one caller", median(&ratios), Some(spread(&ratios)));
        }
        report.add(format!("{name}, {callers} callers: p99"), median(&p99), "us");
    }
}

pub(crate) async fn declare(store: &Store) -> Result<Collection> {
    let declaration = vocabulary::Collection {
        name: "entries".to_owned(),
        indexes: Vec::new(),
        text: Vec::new(),
        geo: None,
        version: 1,
        people: None,
    };
    let mut collections = store.declare("bench", &[declaration]).await?;
    collections.remove("entries").ok_or_else(|| anyhow::anyhow!("nothing was declared"))
}

/// Measures the calls a second, and the 99th percentile of a call's microseconds. A call gets the number of
/// its caller, and its own number.
pub(crate) async fn slice<Call, Calling>(
    callers: usize,
    time: Duration,
    call: Call,
) -> Result<(f64, f64)>
where
    Call: Fn(usize, usize) -> Calling + Clone + Send + 'static,
    Calling: Future<Output = Result<()>> + Send,
{
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let call = call.clone();
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            while started.elapsed() < time {
                let begun = Instant::now();
                call(caller, latencies.len()).await?;
                latencies.push(begun.elapsed().as_secs_f64() * 1e6);
            }
            anyhow::Ok(latencies)
        });
    }
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    let rate = latencies.len() as f64 / started.elapsed().as_secs_f64();
    Ok((rate, percentile(&latencies, 99)))
}

/// Commits a typical unit: one document is read, it and a new one are written, with one audit row.
pub(crate) async fn write(
    store: &Store,
    entries: &Collection,
    caller: usize,
    number: usize,
) -> Result<()> {
    let now = Timestamp::now();
    let mut unit = Unit::new(store.clone(), now);
    let own = format!("caller {caller}");
    let revision = unit.get(entries, &own).await?.map_or(0, |document| document.revision);
    let body = format!(r#"{{"caller":{caller},"number":{number},"note":"a line of some length"}}"#);
    unit.put(entries, &own, body.clone(), Expectation::Any).await?;
    let id = format!("{caller} {revision} {}", now.as_millis());
    unit.put(entries, &id, body, Expectation::Any).await?;
    let audit = AuditRecord {
        at: now,
        request_id: "req_01M7WD7YA44946S951N7TV37VH".to_owned(),
        agent_id: Some("agt_01M7WD7YA44946S951N7TV37VH".to_owned()),
        owner_id: Some("own_01M7WD7YA44946S951N7TV37VH".to_owned()),
        client_id: None,
        address: None,
        via: Vec::new(),
        capability: "bench".to_owned(),
        version: "1.0.0".to_owned(),
        digest: "e1e3f3d22c9c0bf70905c14a2f37036b3842c969d792092ff37ff3376bcfaa5a".to_owned(),
        action: "write".to_owned(),
        outcome: "ok".to_owned(),
        duration_us: 100,
        count: 1,
    };
    let attachments = Attachments { audit: Some(audit), ..Attachments::default() };
    let verdict = unit.commit(attachments).await?;
    ensure!(verdict == Verdict::Committed, "{verdict:?}");
    Ok(())
}
