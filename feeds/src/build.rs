//! A build: from the sources to a publication.

use crate::{
    check::{Fault, faults},
    document::{Documents, INDEX, Imprint},
    entries::Refused,
    fetch::{Fetcher, Limits},
    gather::{Progress, gather},
    join::{Joined, Knowledge, Reasons, join},
    maturity::Maturity,
    parts::{Parts, id_of},
    publish::{self, Press, documents},
    record::{Listing, Roads, Signal},
    sources::Sources,
    state::{Failing, Kept, Quarantined},
    timestamp::{Timestamp, days},
};
use ipnet::IpNet;
use serde_json::value::RawValue;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

/// The documents whose records are the project's own: an error there is no source's.
const OWN: [&str; 3] = ["agent-readable-signals.json", "hi-handoff-manifest.json", INDEX];
/// How often records are removed and the others checked again. Records that refer to a removed one
/// are removed with it, so one round is usually enough.
const ROUNDS: usize = 8;
/// How long the signals of a target that is not on the map are remembered.
const REMEMBERED: Duration = days(365);

/// What a build needs besides the sources.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the documents are published.
    pub folder: PathBuf,
    pub roads: Roads,
    /// Address ranges that may be fetched although they are not public.
    pub opened: Vec<IpNet>,
    pub limits: Limits,
    /// What people have said about signals. If it is not available, the last build's knowledge is used.
    pub knowledge: Option<Knowledge>,
    /// The ids of sources that have lost many records as the operator knows.
    pub confirmed: BTreeSet<String>,
    pub now: Timestamp,
}

/// The result of a build.
#[derive(Debug, Clone)]
pub struct Report {
    pub folder: PathBuf,
    pub sources: Vec<SourceReport>,
    /// The documents that have changed.
    pub changed: Vec<String>,
    /// The signals whose maturity has changed, and new ones.
    pub moved: Vec<Moved>,
    /// The records that are not published.
    pub quarantined: Vec<Quarantined>,
}

/// A new signal, or one whose maturity has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub signal_id: String,
    pub from: Option<Maturity>,
    pub to: Maturity,
}

#[derive(Debug, Clone)]
pub struct SourceReport {
    pub id: String,
    pub records: usize,
    pub read_at: Option<Timestamp>,
    pub failing: Option<Failing>,
    /// The entries that could not be read.
    pub refused: Vec<Refused>,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("the folder cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    #[error("the published documents cannot be read: {0}")]
    Former(#[source] serde_json::Error),
    #[error("the project's own data cannot be read: {0}")]
    Data(#[from] toml::de::Error),
    #[error("a document cannot be written: {0}")]
    Document(#[source] serde_json::Error),
    #[error("the documents are not valid, and the former publication stays:\n{}", lines(.0))]
    Faulty(Vec<Fault>),
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

/// Reads all sources, joins the results with what is published, validates the documents, and publishes
/// them. A record that is not valid is quarantined. If a document as a whole is not valid, or anything
/// else fails, the former publication stays.
pub async fn build(
    sources: &Sources,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Report, BuildError> {
    let Options { folder, roads, opened, limits, knowledge, confirmed, now } = options;
    let press = Press::open(folder)?;
    let former = press.published()?;
    let fetcher = Fetcher::new(opened, limits.clone(), &press.cache(), *now)?;
    let mut state = gather(sources, former.state, &fetcher, confirmed, *now, progress).await;
    if let Some(knowledge) = knowledge {
        state.knowledge.clone_from(knowledge);
    }
    let mut signals = signals(&former.documents).map_err(BuildError::Former)?;
    let before: BTreeMap<String, Maturity> =
        signals.iter().map(|signal| (signal.id.clone(), signal.maturity)).collect();
    signals.append(&mut state.absent_signals);
    let joined = join(sources, &state, signals.clone(), roads, *now)?;
    progress(Progress::Joined { records: joined.len() });
    let imprint = Imprint { sources, roads, now: *now };
    let Sound { documents, joined, quarantined } = sound(joined, &imprint, &former.documents)?;
    state.absent_signals = absent(signals, &joined, *now);
    state.quarantined.clone_from(&quarantined);
    let folder = press.publish(&documents, &state, *now)?;
    progress(Progress::Published { folder: folder.clone() });
    let changed =
        documents.iter().filter(|(file, bytes)| former.documents.get(*file) != Some(bytes));
    Ok(Report {
        folder,
        changed: changed.map(|(file, _)| file.clone()).collect(),
        moved: moved(&before, &joined.signals),
        quarantined,
        sources: state.sources.into_iter().map(|(id, kept)| SourceReport::of(id, kept)).collect(),
    })
}

/// Documents without errors, and the records that were removed from them.
struct Sound {
    documents: Documents,
    joined: Joined,
    quarantined: Vec<Quarantined>,
}

/// Makes the documents, and removes records until the rest are valid.
fn sound(
    mut joined: Joined,
    imprint: &Imprint<'_>,
    former: &Documents,
) -> Result<Sound, BuildError> {
    let duplicate = |id| Quarantined {
        document: String::new(),
        id,
        reason: "another record has this id".to_owned(),
        source: None,
    };
    let mut quarantined: Vec<_> = joined.remove_duplicates().into_iter().map(duplicate).collect();
    for _ in 0..ROUNDS {
        let documents = imprint.documents(&joined, former).map_err(BuildError::Document)?;
        let faults = faults(&documents);
        if faults.is_empty() {
            return Ok(Sound { documents, joined, quarantined });
        }
        let mut reasons: Reasons = faults
            .iter()
            .filter(|fault| !OWN.contains(&fault.document.as_str()))
            .filter_map(|fault| Some((fault.record.clone()?, fault.what.clone())))
            .collect();
        if reasons.is_empty() {
            return Err(BuildError::Faulty(faults));
        }
        joined.remove(&mut reasons);
        joined.ask(imprint.sources, imprint.now)?;
        quarantined.extend(named(&documents, &reasons));
    }
    let documents = imprint.documents(&joined, former).map_err(BuildError::Document)?;
    match faults(&documents) {
        faults if faults.is_empty() => Ok(Sound { documents, joined, quarantined }),
        faults => Err(BuildError::Faulty(faults)),
    }
}

/// Returns the records with these ids, with the documents that they were to be in.
fn named(documents: &Documents, reasons: &Reasons) -> Vec<Quarantined> {
    #[derive(serde::Deserialize)]
    struct Cited {
        #[serde(default)]
        sources: Vec<Address>,
        properties: Option<Within>,
        #[serde(rename = "_map")]
        map: Option<Within>,
    }
    #[derive(serde::Deserialize)]
    struct Within {
        #[serde(default)]
        sources: Vec<Address>,
    }
    #[derive(serde::Deserialize)]
    struct Address {
        url: String,
    }
    let source = |record: &RawValue| {
        let cited: Cited = serde_json::from_str(record.get()).ok()?;
        let within = cited.properties.or(cited.map).map(|within| within.sources);
        let mut sources = cited.sources.into_iter().chain(within.into_iter().flatten());
        sources.next().map(|source| source.url)
    };
    let mut found = Vec::new();
    for (file, bytes) in documents.iter().filter(|(file, _)| !OWN.contains(&file.as_str())) {
        for record in Parts::of(file, bytes).into_iter().flat_map(|parts| parts.records) {
            let id = id_of(record);
            let Some(reason) = reasons.get(&id).cloned() else { continue };
            found.push(Quarantined { document: file.clone(), id, reason, source: source(record) });
        }
    }
    found
}

/// Returns the signals of targets that are not on the map, as long as they are remembered.
fn absent(signals: Vec<Signal>, joined: &Joined, now: Timestamp) -> Vec<Signal> {
    let present: BTreeSet<&str> = joined.targets.iter().map(|target| &*target.id).collect();
    let is_absent = |signal: &Signal| {
        !present.contains(signal.target_id.as_str()) && now.since(signal.updated_at) < REMEMBERED
    };
    signals.into_iter().filter(is_absent).collect()
}

fn moved(before: &BTreeMap<String, Maturity>, signals: &[Signal]) -> Vec<Moved> {
    let moved = signals.iter().map(|signal| Moved {
        signal_id: signal.id.clone(),
        from: before.get(&signal.id).copied(),
        to: signal.maturity,
    });
    moved.filter(|change| change.from != Some(change.to)).collect()
}

impl SourceReport {
    fn of(id: String, kept: Kept) -> Self {
        let records = kept.records.len();
        Self { id, records, read_at: kept.read_at, failing: kept.failing, refused: kept.refused }
    }
}

fn signals(documents: &Documents) -> Result<Vec<Signal>, serde_json::Error> {
    match documents.get("live-signal-feed.json") {
        Some(bytes) => Ok(serde_json::from_slice::<Listing<Signal>>(bytes)?.items),
        None => Ok(Vec::new()),
    }
}

/// Returns all errors in the documents in a folder, or published in it.
pub fn check(folder: &Path) -> std::io::Result<Vec<Fault>> {
    Ok(faults(&documents(folder)?))
}

/// Returns the records that the last build in a folder did not publish.
pub fn quarantined(folder: &Path) -> std::io::Result<Vec<Quarantined>> {
    publish::quarantined(folder)
}
