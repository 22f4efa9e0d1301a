//! The store at its own interface: committed units a second, on SQLite and on PostgreSQL.

use crate::{
    Effort, postgres,
    report::{Report, median, spread},
};
use anyhow::{Result, ensure};
use portolan::{
    db::{Attachments, AuditRecord, Collection, DatabaseUrl, Expectation, Store, Unit, Verdict},
    vocabulary::{self, Keyring, Timestamp},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const CALLERS: [usize; 3] = [1, 8, 32];

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::TempDir::new()?;
    let sqlite = DatabaseUrl::from(folder.path().join("bench.db"));
    let postgres: DatabaseUrl =
        postgres::database().await.parse().map_err(|error: String| anyhow::anyhow!(error))?;
    let mut stores = Vec::new();
    for (name, url) in [("SQLite", sqlite), ("PostgreSQL", postgres)] {
        let store =
            Store::open(&url, &Keyring::parse(&Keyring::generate()?).map_err(anyhow::Error::msg)?)
                .await?;
        let collection = Arc::new(declare(&store).await?);
        let slices = vec![Vec::new(); CALLERS.len()];
        stores.push((name, store, collection, slices));
    }
    for round in 0..=effort.rounds {
        eprintln!("store, round {round} of {}", effort.rounds);
        for (_, store, collection, slices) in &mut stores {
            for (callers, slices) in CALLERS.into_iter().zip(slices) {
                let time = Duration::from_millis(effort.slice_ms);
                let slice = slice(store, collection, callers, time).await?;
                if round > 0 {
                    slices.push(slice);
                }
            }
        }
    }
    for (name, store, _, slices) in &stores {
        let mut alone: Vec<f64> = Vec::new();
        for (callers, slices) in CALLERS.into_iter().zip(slices) {
            let rates: Vec<f64> = slices.iter().map(|(rate, _)| *rate).collect();
            let p99: Vec<f64> = slices.iter().map(|(_, p99)| *p99).collect();
            report.add(format!("{name}, {callers} callers: committed units"), median(&rates), "/s");
            if callers == 1 {
                alone = rates;
            } else {
                let ratios: Vec<f64> =
                    rates.iter().zip(&alone).map(|(rate, alone)| rate / alone).collect();
                report.against("one caller", median(&ratios), Some(spread(&ratios)));
            }
            report.add(format!("{name}, {callers} callers: p99"), median(&p99), "us");
        }
        store.close().await;
    }
    Ok(())
}

async fn declare(store: &Store) -> Result<Collection> {
    let declaration = vocabulary::Collection {
        name: "entries".to_owned(),
        indexes: Vec::new(),
        text: Vec::new(),
        geo: None,
    };
    let mut collections = store.declare("bench", &[declaration]).await?;
    collections.remove("entries").ok_or_else(|| anyhow::anyhow!("nothing was declared"))
}

/// Units a second, and the 99th percentile of a unit's microseconds.
async fn slice(
    store: &Store,
    collection: &Arc<Collection>,
    callers: usize,
    time: Duration,
) -> Result<(f64, f64)> {
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let (store, collection) = (store.clone(), Arc::clone(collection));
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            while started.elapsed() < time {
                let begun = Instant::now();
                write(&store, &collection, caller, latencies.len()).await?;
                latencies.push(begun.elapsed().as_secs_f64() * 1e6);
            }
            anyhow::Ok(latencies)
        });
    }
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    latencies.sort_by(f64::total_cmp);
    let p99 = latencies.get(latencies.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    Ok((latencies.len() as f64 / started.elapsed().as_secs_f64(), p99))
}

/// A unit as calls make them: one document read, it and a new one written, one audit row.
async fn write(store: &Store, entries: &Collection, caller: usize, number: usize) -> Result<()> {
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
        via: Vec::new(),
        capability: "bench".to_owned(),
        version: "1.0.0".to_owned(),
        digest: "e1e3f3d22c9c0bf70905c14a2f37036b3842c969d792092ff37ff3376bcfaa5a".to_owned(),
        action: "write".to_owned(),
        outcome: "ok".to_owned(),
        duration_us: 100,
    };
    let attachments = Attachments { audit: Some(audit), ..Attachments::default() };
    let verdict = unit.commit(attachments).await?;
    ensure!(verdict == Verdict::Committed, "{verdict:?}");
    Ok(())
}
