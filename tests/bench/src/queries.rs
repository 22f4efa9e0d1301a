//! The cost of queries by the number of documents.

use crate::{
    Effort,
    listings::{self, FINDS, Find, Random},
    report::{Report, median, percentile},
    store::{CALLERS, for_callers, open, slice},
};
use anyhow::{Context as _, Result, ensure};
use portolan_store::{Attachments, Collection, Expectation, Store, Unit, Verdict};
use portolan_vocabulary::Timestamp;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The number of documents of one unit of work: the maximum.
const UNIT: u64 = 1_000;
/// The number of concurrent units: the host prepares one while the database writes another.
const FILLERS: usize = 2;
/// The number of runs of each query in a round.
const SAMPLES: usize = 25;

/// A measured database.
struct BenchDatabase {
    name: &'static str,
    store: Store,
    listings: Arc<Collection>,
    count: u64,
    random: Random,
    /// For each size, the microseconds of a `get`, a `put` and each query.
    sizes: Vec<Vec<Vec<f64>>>,
    reads: Vec<Vec<(f64, f64)>>,
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::TempDir::new()?;
    let mut databases = Vec::new();
    for (name, store) in open(folder.path()).await? {
        let mut declared = store.declare("bench", &[listings::declaration()]).await?;
        let listings = declared.remove("listings").context("nothing was declared")?;
        databases.push(BenchDatabase {
            name,
            store,
            listings: Arc::new(listings),
            count: 0,
            random: Random(0),
            sizes: Vec::new(),
            reads: vec![Vec::new(); CALLERS.len()],
        });
    }
    for &size in effort.collection_sizes {
        for database in &mut databases {
            let (before, begun) = (database.count, Instant::now());
            database.fill(size).await?;
            let rate = (size - before) as f64 / begun.elapsed().as_secs_f64();
            report.add(format!("{}, filled up to {size} documents", database.name), rate, "/s");
            database.sizes.push(vec![Vec::new(); FINDS.len() + 2]);
        }
        for round in 0..=effort.rounds {
            eprintln!("queries of {size} documents, round {round} of {}", effort.rounds);
            for database in &mut databases {
                database.run_queries(round > 0).await?;
            }
        }
    }
    for round in 0..=effort.rounds {
        eprintln!("reads, round {round} of {}", effort.rounds);
        for database in &mut databases {
            database.run_reads(Duration::from_millis(effort.slice_ms), round > 0).await?;
        }
    }
    for database in &databases {
        database.report(effort.collection_sizes, report);
        database.store.close().await;
    }
    Ok(())
}

impl BenchDatabase {
    async fn fill(&mut self, size: u64) -> Result<()> {
        let begun = Instant::now();
        let before = self.count;
        let mut units = tokio::task::JoinSet::new();
        while self.count < size {
            if units.len() == FILLERS {
                units.join_next().await.context("nothing is on its way")???;
            }
            let numbers = self.count..size.min(self.count + UNIT);
            self.count = numbers.end;
            units.spawn(fill(self.store.clone(), Arc::clone(&self.listings), numbers));
            if self.count.is_multiple_of(100 * UNIT) {
                let rate = (self.count - before) as f64 / begun.elapsed().as_secs_f64();
                eprintln!("{}: {} documents, {rate:.0} a second", self.name, self.count);
            }
        }
        while let Some(filled) = units.join_next().await {
            filled??;
        }
        Ok(())
    }

    async fn run_queries(&mut self, counts: bool) -> Result<()> {
        for kind in 0..FINDS.len() + 2 {
            for _ in 0..SAMPLES {
                let microseconds = match kind.checked_sub(2).and_then(|kind| FINDS.get(kind)) {
                    Some(find) => self.run_query(find).await?,
                    None => self.run_single(kind == 1).await?,
                };
                let last = self.sizes.last_mut().and_then(|size| size.get_mut(kind));
                if let Some(samples) = last.filter(|_| counts) {
                    samples.push(microseconds);
                }
            }
        }
        Ok(())
    }

    /// Reads one document, and replaces it if `replace` is set.
    async fn run_single(&mut self, replace: bool) -> Result<f64> {
        let number = self.random.below(self.count);
        let id = listings::id(number);
        let begun = Instant::now();
        let mut unit = Unit::new(self.store.clone(), Timestamp::now());
        let document = unit.get(&self.listings, &id).await?.context("a document is gone")?;
        if replace {
            let body = listings::body(number, document.revision);
            let expect = Expectation::Revision(document.revision);
            unit.put(&self.listings, &id, body, expect).await?;
            ensure!(unit.commit(Attachments::default()).await? == Verdict::Committed);
        }
        Ok(begun.elapsed().as_secs_f64() * 1e6)
    }

    async fn run_query(&mut self, find: &Find) -> Result<f64> {
        let query = find.query(&mut self.random, self.listings.shape())?;
        let mut next = None;
        for _ in 0..find.pages {
            let mut unit = Unit::new(self.store.clone(), Timestamp::now());
            next = unit.find(&self.listings, &query, next.as_deref()).await?.next;
        }
        let begun = Instant::now();
        let mut unit = Unit::new(self.store.clone(), Timestamp::now());
        let page = unit.find(&self.listings, &query, next.as_deref()).await?;
        let microseconds = begun.elapsed().as_secs_f64() * 1e6;
        for hit in &page.hits {
            let entry = self.listings.shape().entry(&serde_json::from_str(&hit.document.body)?)?;
            ensure!(query.matches(&entry).is_some(), "{}: {}", find.name, hit.document.body);
        }
        Ok(microseconds)
    }

    async fn run_reads(&mut self, time: Duration, counts: bool) -> Result<()> {
        for (callers, reads) in CALLERS.into_iter().zip(&mut self.reads) {
            let (store, listings) = (self.store.clone(), Arc::clone(&self.listings));
            let count = self.count;
            let get = move |caller, number| {
                let (store, listings) = (store.clone(), Arc::clone(&listings));
                let id = listings::id(Random((caller << 32 | number) as u64).below(count));
                async move {
                    let mut unit = Unit::new(store, Timestamp::now());
                    unit.get(&listings, &id).await?.context("a document is gone")?;
                    Ok(())
                }
            };
            let slice = slice(callers, time, get).await?;
            if counts {
                reads.push(slice);
            }
        }
        Ok(())
    }

    fn report(&self, sizes: &[u64], report: &mut Report) {
        for_callers(report, &format!("{}, documents read", self.name), &self.reads);
        let finds = FINDS.iter().map(|find| find.name);
        for (kind, what) in ["get", "replace"].into_iter().chain(finds).enumerate() {
            let mut first = None;
            for (size, samples) in sizes.iter().zip(&self.sizes) {
                let Some(samples) = samples.get(kind) else { continue };
                let p50 = median(samples);
                let name = format!("{}, {size} documents, {what}", self.name);
                report.add(name.clone(), p50, "us");
                match first {
                    None => first = Some(p50),
                    Some(first) => report.compare_with("the fewest documents", p50 / first, None),
                }
                report.add(format!("{name}: p99"), percentile(samples, 99), "us");
            }
        }
    }
}

/// Adds new documents in one unit.
async fn fill(
    store: Store,
    listings: Arc<Collection>,
    numbers: std::ops::Range<u64>,
) -> Result<()> {
    let mut unit = Unit::new(store, Timestamp::now());
    let ids: Vec<String> = numbers.clone().map(listings::id).collect();
    // One batched read is faster than one read for each document.
    unit.get_many(&listings, &ids.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    for (number, id) in numbers.zip(&ids) {
        unit.put(&listings, id, listings::body(number, 0), Expectation::Absent).await?;
    }
    let verdict = unit.commit(Attachments::default()).await?;
    ensure!(verdict == Verdict::Committed, "{verdict:?}");
    Ok(())
}
