//! The feeds compared with nginx, which serves the same compressed files.

pub(crate) mod boards;

use crate::{
    Effort,
    host::{BenchHost, Setup},
    nginx::{Nginx, compare},
    report::Report,
};
use anyhow::{Context as _, Result};
use portolan_feeds::{
    Limits, Options, Roads, Timestamp,
    changes::Past,
    demo,
    document::{Documents, INDEX, etag},
    identifier::stable,
    publish::{Press, documents},
    record::FEEDS,
};
use portolan_publication::{Coding, Publication};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    time::{Duration, Instant},
};

const CODINGS: [(Coding, &str); 3] =
    [(Coding::Identity, ""), (Coding::Gzip, ".gz"), (Coding::Brotli, ".br")];
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
    let files = folder.path().join("nginx");
    write_files(&files, &publication)?;
    let nginx = Nginx::start(&files).await?;
    for (name, path) in [("targets, 0.3 MB", TARGETS), ("roles, 10 MB", ROLES)] {
        let document = publication.document(path).context("a document is missing")?;
        for body in document.bodies() {
            let coding = body.coding.name();
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: x\r\naccept-encoding: {coding}\r\n\r\n");
            let case = format!("feeds, {name}, {coding}");
            compare(&host, &nginx, &case, [&request, &request], effort, report).await?;
        }
    }
    let known =
        |etag: &str| format!("GET {TARGETS} HTTP/1.1\r\nhost: x\r\nif-none-match: {etag}\r\n\r\n");
    let own = publication.document(TARGETS).context("a document is missing")?;
    // nginx makes entity tags of its own; `*` matches any.
    let (ours, theirs) = (known(&own.plain().etag), known("*"));
    compare(&host, &nginx, "feeds, targets, known", [&ours, &theirs], effort, report).await?;
    Ok(())
}

/// Writes the documents into a folder, in their codings.
fn write_files(folder: &Path, publication: &Publication) -> Result<()> {
    for document in publication.documents() {
        let file = folder.join(document.entry.path.trim_start_matches('/'));
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        for body in document.bodies() {
            let ending = CODINGS.iter().find(|(coding, _)| *coding == body.coding);
            let ending = ending.map(|(_, ending)| *ending).unwrap_or_default();
            fs::write(format!("{}{ending}", file.display()), &body.bytes)?;
        }
    }
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
