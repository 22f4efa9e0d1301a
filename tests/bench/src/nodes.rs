//! Several nodes on one PostgreSQL: committed units a second, on loopback and two milliseconds away from the
//! database; and how often a transaction that commits waits for the database. The units of all callers share nothing.

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

const NODES: [usize; 3] = [1, 2, 4];
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

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let url = postgres::database().await;
    let near = nodes(&url).await?;
    let counts = Arc::new(Counts::default());
    let far = nodes(&through_proxy(&url, &counts).await?).await?;
    let places = [("loopback", near), ("2 ms away", far)];
    let mut rates = places.each_ref().map(|_| NODES.map(|_| Vec::new()));
    for round in 0..=effort.rounds {
        eprintln!("nodes, round {round} of {}", effort.rounds);
        for ((_, nodes), rates) in places.iter().zip(&mut rates) {
            for (count, rates) in NODES.into_iter().zip(rates) {
                let rate = rate(nodes.iter().take(count), effort).await?;
                if round > 0 {
                    rates.push(rate);
                }
            }
        }
    }
    for ((place, nodes), rates) in places.into_iter().zip(rates) {
        let [alone, ..] = &rates;
        for (count, rates) in NODES.into_iter().zip(&rates) {
            let name = format!("{count} nodes of {CALLERS} callers, {place}");
            report.add(name, median(rates), "/s");
            let ratios: Vec<f64> = rates.iter().zip(alone).map(|(rate, one)| rate / one).collect();
            report.compare_with("one node", median(&ratios), Some(spread(&ratios)));
        }
        for (store, _) in nodes {
            store.close().await;
        }
    }
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    let round_trips = count(&counts.round_trips) / count(&counts.transactions);
    report.add("round trips of a transaction that commits", round_trips, "");
    Ok(())
}

/// Opens the stores of as many nodes as are measured.
async fn nodes(url: &str) -> Result<Vec<Node>> {
    let keys = Keyring::parse(&Keyring::generate()?).map_err(anyhow::Error::msg)?;
    let url: DatabaseUrl = url.parse().map_err(anyhow::Error::msg)?;
    let mut nodes = Vec::new();
    for _ in 0..NODES.into_iter().max().unwrap_or_default() {
        let store = Store::open(&url, &keys, Clock::system(), unlimited()?).await?;
        let collection = Arc::new(declare(&store).await?);
        nodes.push((store, collection));
    }
    Ok(nodes)
}

/// Returns how many units the nodes commit together in a second.
async fn rate<'a>(nodes: impl Iterator<Item = &'a Node>, effort: &Effort) -> Result<f64> {
    let time = Duration::from_millis(effort.slice_ms);
    let mut slices = tokio::task::JoinSet::new();
    for (place, (store, collection)) in nodes.enumerate() {
        let (store, collection) = (store.clone(), Arc::clone(collection));
        let call = move |caller, number| {
            let (store, collection) = (store.clone(), Arc::clone(&collection));
            async move { write(&store, &collection, place * CALLERS + caller, number).await }
        };
        slices.spawn(slice(CALLERS, time, call));
    }
    let mut rate = 0.0;
    while let Some(slice) = slices.join_next().await {
        rate += slice??.0;
    }
    Ok(rate)
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
