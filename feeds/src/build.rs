//! From sources to a publication.

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

/// What a build is done with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it is published.
    pub folder: PathBuf,
    pub roads: Roads,
    /// Ranges of addresses that may be asked although they are not public.
    pub opened: Vec<IpNet>,
    pub limits: Limits,
    /// What people have said about signals; if it is not to be had, what the last build knew.
    pub knowledge: Option<Knowledge>,
    pub now: Timestamp,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Report {
    pub folder: PathBuf,
    pub sources: Vec<SourceReport>,
    /// Documents that are not as they were.
    pub changed: Vec<String>,
    /// Signals that are surer than they were, or less sure.
    pub moved: Vec<Moved>,
}

/// A signal that begins, or has become something else.
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
    /// Single records that could not be read.
    pub faults: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("the folder cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    #[error("what is published is not to be read: {0}")]
    Former(#[source] serde_json::Error),
    #[error("the project's own data is not to be read: {0}")]
    Data(#[from] toml::de::Error),
    #[error("a document cannot be written: {0}")]
    Document(#[source] serde_json::Error),
    #[error("the documents are not what they should be, and what was published stays:\n{}", lines(.0))]
    Faulty(Vec<Fault>),
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

/// Asks all sources, joins what they tell with what is published, judges the documents, and publishes
/// them. Whatever goes wrong, what was published stays published.
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
        signals.iter().map(|it| (it.id.clone(), it.maturity)).collect();
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
    let moved = signals.iter().map(|it| Moved {
        signal_id: it.id.clone(),
        from: before.get(&it.id).copied(),
        to: it.maturity,
    });
    moved.filter(|it| it.from != Some(it.to)).collect()
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

/// Everything that is wrong with the documents in a folder, or published in it.
pub fn check(folder: &Path) -> std::io::Result<Vec<Fault>> {
    Ok(faults(&documents(folder)?))
}
