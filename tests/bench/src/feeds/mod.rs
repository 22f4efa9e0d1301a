//! The feeds compared with nginx, which serves the same compressed files.

pub(crate) mod boards;
mod nginx;

use crate::{
    Effort,
    host::{BenchHost, Setup},
    load::{Slice, slice_of_processes},
    report::{Report, median, spread},
};
use anyhow::{Context as _, Result};
use nginx::Nginx;
use portolan_feeds::{
    Limits, Options, Roads, Timestamp,
    changes::Past,
    demo,
    document::{Documents, INDEX, etag},
    identifier::stable,
    publish::{Press, documents},
    record::FEEDS,
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::Path,
    time::{Duration, Instant},
};

/// A figure of a slice: its name, its unit, and the function that reads it.
type Figure = (&'static str, &'static str, fn(&Slice) -> f64);

const CONNECTIONS: usize = 16;
const TARGETS: &str = "/map/data/sf-live-targets.json";
const ROLES: &str = "/map/data/sf-job-roles.json";
/// The size up to which the roles are repeated.
const LARGE: usize = 10_000_000;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let feeds = folder.path().join("feeds");
    let stages = demo::write(&folder.path().join("raw"), 1, now()?)?;
    demo::rehearse(&stages, &options(&feeds)?, &|_| {}).await?;
    enlarge(&feeds)?;
    let begun = Instant::now();
    let host = BenchHost::of(Setup { feeds: Some(feeds), ..Setup::with(&[]) }).await?;
    report.add("start of a host with 12 MB of feeds", begun.elapsed().as_secs_f64() * 1e3, "ms");
    let publication = host.app.host.feeds.current().context("nothing is published")?;
    let nginx = Nginx::start(&folder.path().join("nginx"), &publication).await?;
    for (name, path) in [("targets, 0.3 MB", TARGETS), ("roles, 10 MB", ROLES)] {
        let document = publication.document(path).context("a document is missing")?;
        for body in document.bodies() {
            let coding = body.coding.name();
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: x\r\naccept-encoding: {coding}\r\n\r\n");
            let case = format!("{name}, {coding}");
            compare(&host, &nginx, &case, [&request, &request], effort, report).await?;
        }
    }
    let known =
        |etag: &str| format!("GET {TARGETS} HTTP/1.1\r\nhost: x\r\nif-none-match: {etag}\r\n\r\n");
    let own = publication.document(TARGETS).context("a document is missing")?;
    // nginx makes entity tags of its own; `*` matches any.
    let (ours, theirs) = (known(&own.plain().etag), known("*"));
    compare(&host, &nginx, "targets, known", [&ours, &theirs], effort, report).await?;
    Ok(())
}

fn options(folder: &Path) -> Result<Options> {
    Ok(Options {
        folder: folder.to_owned(),
        roads: Roads::of_host("https://map.example", None),
        allow_local: false,
        opened: vec!["127.0.0.0/8".parse()?],
        limits: Limits { pause: Duration::ZERO, ..Limits::default() },
        knowledge: None,
        confirmed: BTreeSet::new(),
        now: now()?,
    })
}

fn now() -> Result<Timestamp> {
    let millis = portolan_vocabulary::Timestamp::now().as_millis();
    Ok(Timestamp::from_millis(i64::try_from(millis)?))
}

/// Publishes the same feeds with a very large document of roles.
fn enlarge(feeds: &Path) -> Result<()> {
    let mut files: Documents = documents(feeds)?;
    let file = ROLES.rsplit('/').next().unwrap_or_default();
    let bytes = files.get(file).context("there are no roles")?;
    let mut document: Value = serde_json::from_slice(bytes)?;
    let copies = LARGE / bytes.len();
    let items = document.get_mut("items").and_then(Value::as_array_mut).context("no items")?;
    let originals = items.clone();
    for copy in 1..=copies {
        items.extend(originals.iter().cloned().map(|mut role| {
            let id = role.get("id").and_then(Value::as_str).unwrap_or_default();
            let id = stable("rol", &[id, &copy.to_string()]);
            if let Some(fields) = role.as_object_mut() {
                fields.insert("id".to_owned(), id.into());
            }
            role
        }));
    }
    let count = items.len();
    set(&mut document, "/_meta/count", count.into());
    files.insert(file.to_owned(), serde_json::to_vec(&document)?);
    let bytes = files.get(INDEX).context("there is no index")?;
    let mut index: Value = serde_json::from_slice(bytes)?;
    for (at, feed) in FEEDS.iter().enumerate() {
        let bytes = files.get(feed.file).context("a document is missing")?;
        set(&mut index, &format!("/items/{at}/etag"), etag(bytes).into());
        set(&mut index, &format!("/items/{at}/bytes"), bytes.len().into());
    }
    files.insert(INDEX.to_owned(), serde_json::to_vec(&index)?);
    let press = Press::open(feeds)?;
    let state = press.published()?.state;
    press.publish(&files, &state, Past::Kept, now()?)?;
    Ok(())
}

fn set(document: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = document.pointer_mut(pointer) {
        *place = value;
    }
}

/// Measures the two servers in turns, with equivalent requests.
async fn compare(
    host: &BenchHost,
    nginx: &Nginx,
    case: &str,
    requests: [&String; 2],
    effort: &Effort,
    report: &mut Report,
) -> Result<()> {
    let (mut ours, mut theirs): (Vec<Slice>, Vec<Slice>) = (Vec::new(), Vec::new());
    let here = vec!["self".to_owned()];
    // The first round warms up and is not counted.
    for round in 0..=effort.rounds {
        eprintln!("feeds, {case}, round {round} of {}", effort.rounds);
        let time = effort.slice_ms;
        let [own, other] = requests;
        let one = slice_of_processes(&here, &host.address, own, CONNECTIONS, time).await?;
        let two =
            slice_of_processes(&nginx.workers()?, &nginx.address, other, CONNECTIONS, time).await?;
        if round > 0 {
            ours.push(one);
            theirs.push(two);
        }
    }
    let parts: [Figure; 4] = [
        ("requests", "/s", |slice| slice.per_second),
        ("processor time of the host", "us", |slice| slice.cpu_us),
        ("p50", "us", |slice| slice.p50_us),
        ("p99", "us", |slice| slice.p99_us),
    ];
    for (name, unit, of) in parts {
        let (own, other): (Vec<f64>, Vec<f64>) =
            (ours.iter().map(of).collect(), theirs.iter().map(of).collect());
        let ratios: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other).collect();
        report.add(format!("feeds, {case}: {name}"), median(&own), unit);
        report.compare_with("nginx", median(&ratios), Some(spread(&ratios)));
    }
    Ok(())
}
