//! Several nodes on one PostgreSQL: committed units a second, on loopback and two milliseconds away from the
//! database, what the machine and the database use for them, and how often a transaction that commits waits for the
//! database. The units of all callers share nothing.

mod usage;

use crate::{
    Effort, postgres,
    report::{Report, median, spread},
    store::{declare, slice, unlimited, write},
};
use anyhow::{Context as _, Result};
use portolan_store::{Collection, DatabaseUrl, Store};
use portolan_vocabulary::{Clock, Keyring};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
};
use usage::{Observer, Usage};

/// The numbers of nodes, ascending: near the database, and far from it.
const NEAR: &[usize] = &[1, 2, 3, 4];
const FAR: &[usize] = &[1, 2, 4];
const CALLERS: usize = 32;
/// The time to the database and back.
const ROUND_TRIP: Duration = Duration::from_millis(2);
/// The bytes that a connection of the proxy reads at once, and the reads that may wait.
const CHUNK: usize = 64 << 10;
const WAITING: usize = 256;
/// What a connection that commits sends first.
const BEGIN: &[u8] = b"BEGIN ISOLATION LEVEL READ COMMITTED";

type Node = (Store, Arc<Collection>);

/// What has passed the proxy on connections that commit.
#[derive(Default)]
struct Counts {
    transactions: AtomicU64,
    /// How often a client has sent something after an answer.
    round_trips: AtomicU64,
}

/// The nodes at one distance from their database.
struct Place {
    name: &'static str,
    nodes: Vec<Node>,
    /// What their proxy counts, if there is one.
    counts: Option<Arc<Counts>>,
    figures: Vec<Figures>,
}

/// The figures of a number of nodes at a place, of all its slices.
#[derive(Default)]
struct Figures {
    nodes: usize,
    /// The committed units a second of each slice.
    rates: Vec<f64>,
    writes: f64,
    usage: Usage,
    transactions: f64,
    round_trips: f64,
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let url = postgres::database().await;
    let counts = Arc::new(Counts::default());
    let far = through_proxy(&url, &counts).await?;
    let mut places = [
        Place::open("loopback", NEAR, &url, None).await?,
        Place::open("2 ms away", FAR, &far, Some(counts)).await?,
    ];
    let mut observer = Observer::of(&url).await?;
    for round in 0..=effort.rounds {
        eprintln!("nodes, round {round} of {}", effort.rounds);
        for place in &mut places {
            place.measure(effort, &mut observer, round > 0).await?;
        }
    }
    for place in places {
        place.report(report);
        for (store, _) in &place.nodes {
            store.close().await;
        }
    }
    Ok(())
}

impl Place {
    /// Opens the stores of as many nodes as are measured.
    async fn open(
        name: &'static str,
        numbers: &[usize],
        url: &str,
        counts: Option<Arc<Counts>>,
    ) -> Result<Self> {
        let keys = Keyring::parse(&Keyring::generate()?).map_err(anyhow::Error::msg)?;
        let url: DatabaseUrl = url.parse().map_err(anyhow::Error::msg)?;
        let mut nodes = Vec::new();
        for _ in 0..numbers.iter().max().copied().unwrap_or_default() {
            let store = Store::open(&url, &keys, Clock::system(), unlimited()?).await?;
            let collection = Arc::new(declare(&store).await?);
            nodes.push((store, collection));
        }
        let of = |nodes: &usize| Figures { nodes: *nodes, ..Figures::default() };
        Ok(Self { name, nodes, counts, figures: numbers.iter().map(of).collect() })
    }

    /// Measures one slice with each number of nodes, and keeps the figures or not.
    async fn measure(
        &mut self,
        effort: &Effort,
        observer: &mut Observer,
        is_kept: bool,
    ) -> Result<()> {
        let count = || {
            let counts = self.counts.as_deref()?;
            let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
            Some((number(&counts.transactions), number(&counts.round_trips)))
        };
        for figures in &mut self.figures {
            let mut unused = Figures::default();
            let nodes = self.nodes.iter().take(figures.nodes);
            let figures = if is_kept { figures } else { &mut unused };
            let before = count();
            let (rate, writes) = observer.observe(&mut figures.usage, rate(nodes, effort)).await?;
            figures.rates.push(rate);
            figures.writes += writes;
            if let (Some(before), Some(now)) = (before, count()) {
                figures.transactions += now.0 - before.0;
                figures.round_trips += now.1 - before.1;
            }
        }
        Ok(())
    }

    fn report(&self, report: &mut Report) {
        let alone = self.figures.first();
        for figures in &self.figures {
            let Figures { nodes, rates, writes, usage, transactions, round_trips } = figures;
            let name = format!("{nodes} nodes of {CALLERS} callers, {}", self.name);
            report.add(name, median(rates), "/s");
            let part = |what: &str| format!("{nodes} nodes, {}: {what}", self.name);
            if let Some(alone) = alone {
                let ratios: Vec<f64> =
                    rates.iter().zip(&alone.rates).map(|(rate, one)| rate / one).collect();
                report.compare_with("one node", median(&ratios), Some(spread(&ratios)));
                let database_us = usage.database_us(*writes);
                report.add(part("database's processors, per write"), database_us, "us");
                let ratio = database_us / alone.usage.database_us(alone.writes);
                report.compare_with("one node", ratio, None);
            }
            report.add(part("the machine's processors idle"), usage.idle_percent(), "%");
            report.add(part("looks that saw a lock wait"), usage.waiting_percent(), "%");
            if self.counts.is_some() {
                report.add(part("writes of a commit"), writes / transactions, "");
                report.add(part("round trips of a commit"), round_trips / transactions, "");
            }
        }
    }
}

/// Returns how many units the nodes commit together in a second, and how many they have committed.
async fn rate<'a>(nodes: impl Iterator<Item = &'a Node>, effort: &Effort) -> Result<(f64, f64)> {
    let time = Duration::from_millis(effort.slice_ms);
    let written = Arc::new(AtomicU64::new(0));
    let mut slices = tokio::task::JoinSet::new();
    for (place, (store, collection)) in nodes.enumerate() {
        let (store, collection) = (store.clone(), Arc::clone(collection));
        let written = Arc::clone(&written);
        let call = move |caller, number| {
            let (store, collection) = (store.clone(), Arc::clone(&collection));
            let written = Arc::clone(&written);
            async move {
                write(&store, &collection, place * CALLERS + caller, number).await?;
                written.fetch_add(1, Ordering::Relaxed);
                anyhow::Ok(())
            }
        };
        slices.spawn(slice(CALLERS, time, call));
    }
    let mut rate = 0.0;
    while let Some(slice) = slices.join_next().await {
        rate += slice??.0;
    }
    Ok((rate, written.load(Ordering::Relaxed) as f64))
}

/// Starts a proxy to the database that delays and counts what passes, and returns the URL of the database behind it.
async fn through_proxy(url: &str, counts: &Arc<Counts>) -> Result<String> {
    let mut url: url::Url = url.parse()?;
    let server = (url.host_str().context("a host")?.to_owned(), url.port().context("a port")?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    url.set_port(Some(listener.local_addr()?.port())).map_err(|()| anyhow::anyhow!("the port"))?;
    let counts = Arc::clone(counts);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = TcpStream::connect(server.clone()).await else { return };
            if client.set_nodelay(true).and(server.set_nodelay(true)).is_err() {
                return;
            }
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            let answered = Arc::new(AtomicBool::new(false));
            let (counts, answers) = (Arc::clone(&counts), Arc::clone(&answered));
            let mut commits = false;
            delay(from_client, to_server, move |sent| {
                if sent.windows(BEGIN.len()).any(|bytes| bytes == BEGIN) {
                    commits = true;
                    counts.transactions.fetch_add(1, Ordering::Relaxed);
                }
                if answered.swap(false, Ordering::Relaxed) && commits {
                    counts.round_trips.fetch_add(1, Ordering::Relaxed);
                }
            });
            delay(from_server, to_client, move |_| answers.store(true, Ordering::Relaxed));
        }
    });
    Ok(url.into())
}

/// Copies what is read, each part half a round trip later, and shows it to `see` first.
fn delay(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut see: impl FnMut(&[u8]) + Send + 'static,
) {
    let (parts, mut waiting) = mpsc::channel::<(Instant, Vec<u8>)>(WAITING);
    tokio::spawn(async move {
        while let Some((due, part)) = waiting.recv().await {
            tokio::time::sleep_until(due.into()).await;
            to.write_all(&part).await?;
        }
        to.shutdown().await
    });
    tokio::spawn(async move {
        let mut chunk = vec![0; CHUNK];
        loop {
            let length = from.read(&mut chunk).await?;
            let part = chunk.get(..length).unwrap_or_default().to_vec();
            see(&part);
            if length == 0 || parts.send((Instant::now() + ROUND_TRIP / 2, part)).await.is_err() {
                return io::Result::Ok(());
            }
        }
    });
}
