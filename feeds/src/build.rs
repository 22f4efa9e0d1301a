//! A build: from the sources to a publication.

use crate::{
    check::{Fault, faults},
    document::{Documents, Imprint},
    fetch::{Fetcher, Limits},
    gather::{Progress, gather},
    join::{Knowledge, join},
    maturity::Maturity,
    publish::{Press, documents},
    record::{Listing, Roads, Signal},
    sources::Sources,
    state::{Failing, Kept},
    timestamp::Timestamp,
};
use ipnet::IpNet;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

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
    /// One error for each record that could not be read.
    pub faults: Vec<String>,
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
/// them. If anything fails, the former publication stays.
pub async fn build(
    sources: &Sources,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Report, BuildError> {
    let Options { folder, roads, opened, limits, knowledge, now } = options;
    let press = Press::open(folder)?;
    let former = press.published()?;
    let fetcher = Fetcher::new(opened, limits.clone(), &press.cache(), *now)?;
    let mut state = gather(sources, former.state, &fetcher, *now, progress).await;
    if let Some(knowledge) = knowledge {
        state.knowledge.clone_from(knowledge);
    }
    let signals = signals(&former.documents).map_err(BuildError::Former)?;
    let before: BTreeMap<String, Maturity> =
        signals.iter().map(|signal| (signal.id.clone(), signal.maturity)).collect();
    let joined = join(sources, &state, signals, roads, *now)?;
    progress(Progress::Joined { records: joined.len() });
    let imprint = Imprint { sources, roads, now: *now };
    let documents = imprint.documents(&joined, &former.documents).map_err(BuildError::Document)?;
    let faults = faults(&documents);
    if !faults.is_empty() {
        return Err(BuildError::Faulty(faults));
    }
    let folder = press.publish(&documents, &state, *now)?;
    progress(Progress::Published { folder: folder.clone() });
    let changed =
        documents.iter().filter(|(file, bytes)| former.documents.get(*file) != Some(bytes));
    Ok(Report {
        folder,
        changed: changed.map(|(file, _)| file.clone()).collect(),
        moved: moved(&before, &joined.signals),
        sources: state.sources.into_iter().map(|(id, kept)| SourceReport::of(id, kept)).collect(),
    })
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
        Self { id, records, read_at: kept.read_at, failing: kept.failing, faults: kept.faults }
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
