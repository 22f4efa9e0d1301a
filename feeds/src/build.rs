//! A build: from the sources to a publication.

use crate::{
    board::Posting,
    changes::Past,
    check::{Fault, faults, faults_of_new},
    descriptions::PublishedPart,
    document::{Documents, INDEX, Imprint, generated_at},
    entries::Refused,
    fetch::{Fetcher, Limits, Manners},
    gather::{Progress, gather},
    join::{Joined, Knowledge, LeftOut, Reasons, join, postings},
    maturity::Maturity,
    objections::{ObjectionError, Objections, Suppression},
    parts::{Parts, id_of},
    publish::{self, NotPublished, Objected, Press, Printed, Published, Turn, documents},
    record::{FEEDS, Listing, Roads, Signal, SourceEntry},
    sources::{Faults, Sources},
    state::{Failing, Kept, Origin, Quarantined},
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
/// The document of signals.
const SIGNALS: &str = "live-signal-feed.json";
/// How often records are removed and the others checked again. Records that refer to a removed one
/// are removed with it, so one round is usually enough.
const ROUNDS: usize = 8;
/// How long it is known that a record is gone, and of how many records.
const KNOWN_GONE: Duration = days(180);
const MOST_GONE: usize = 50_000;
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
    /// Whether files and servers of this machine may be read, to try sources.
    pub allow_local: bool,
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
    /// The roles on boards that are not for the city.
    pub left_out: LeftOut,
    /// What the list of objections has removed, if it has changed since the last publication.
    pub objected: Option<Objected>,
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
    #[error(transparent)]
    Objections(#[from] ObjectionError),
    #[error("the names of the objections are too many: {0}")]
    Names(#[from] regex::Error),
    #[error(
        "nothing is published in this folder, or by an older version: run `portolan feeds build`"
    )]
    NotBuilt,
    #[error("the sources of the publication cannot be read:\n{0}")]
    Sources(#[from] Faults),
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
    let Options { folder, roads, opened, allow_local, limits, knowledge, confirmed, now } = options;
    let _turn = Turn::take(folder)?;
    // A list that cannot be read is found before the sources are asked.
    Objections::read(folder)?;
    let before = Press::open(folder)?.state()?;
    let manners =
        Manners { opened, allows_local: *allow_local, contact: sources.contact.as_deref() };
    let fetcher = Fetcher::new(&manners, limits.clone(), &Press::cache(folder), *now)?;
    let read = gather(sources, before, &fetcher, confirmed, *now, progress).await;
    // Meanwhile somebody may have objected: the rest is as it is published now, and nobody else publishes.
    let press = Press::open(folder)?;
    let mut former = press.published_with(read.sources)?;
    if let Some(knowledge) = knowledge {
        former.state.knowledge.clone_from(knowledge);
    }
    publish_joined(&press, folder, former, (sources, roads, *now), progress)
}

/// Makes the documents again from what was last read, without asking any source: what the list of
/// objections names since then is not published any more. It does not wait for the sources that a build is
/// asking: that build reads the list again before it publishes.
pub fn republish(
    folder: &Path,
    now: Timestamp,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Report, BuildError> {
    let press = Press::open(folder)?;
    let former = press.published()?;
    let Some(origin) = former.state.origin.clone() else { return Err(BuildError::NotBuilt) };
    let sources = Sources::parse_again(&origin.sources, &origin.corrections)?;
    publish_joined(&press, folder, former, (&sources, &origin.roads, now), progress)
}

/// Joins what was read, and publishes it. `former` has the documents that are published, and the new state.
fn publish_joined(
    press: &Press,
    folder: &Path,
    former: Published,
    (sources, roads, now): (&Sources, &Roads, Timestamp),
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Report, BuildError> {
    let Published { mut state, documents: former } = former;
    // A clock that is behind must not prevent it: no document may be older than what it lists.
    let index = former.get(INDEX);
    let now = index.and_then(|index| generated_at(index)).map_or(now, |made_at| now.max(made_at));
    let suppression = Suppression::new(&Objections::read(folder)?, &state)?;
    suppression.clean_postings(&mut state);
    let mut signals = signals(&former).map_err(BuildError::Former)?;
    let before: BTreeMap<String, Maturity> =
        signals.iter().map(|signal| (signal.id.clone(), signal.maturity)).collect();
    signals.append(&mut state.absent_signals);
    let joined = join(sources, &state, signals.clone(), &suppression, roads, now)?;
    progress(Progress::Joined { records: joined.len() });
    let checked: Vec<_> = state.sources.iter().map(|(id, kept)| checked(id, kept)).collect();
    let imprint = Imprint { sources, roads, checked: &checked, now };
    let published = |name: &str| press.part(name);
    let Sound { documents, joined, quarantined } =
        sound(joined, &postings(sources, &state), &imprint, &former, &published)?;
    signals
        .retain(|signal| !suppression.covers(&signal.id) && !suppression.covers(&signal.target_id));
    state.absent_signals = absent(signals, &joined, &quarantined, now);
    state.quarantined.clone_from(&quarantined);
    state.gone = gone(state.gone, &former, &joined, now);
    state.origin = Some(Origin {
        sources: sources.text.clone(),
        corrections: sources.corrections_text.clone(),
        roads: roads.clone(),
    });
    let is_new = state.objections != suppression.digest && !suppression.is_empty();
    let objected = is_new.then(|| press.objected(&suppression));
    state.objections.clone_from(&suppression.digest);
    let is_changed = |file: &str, bytes: &Vec<u8>| match former.get(file) {
        Some(before) => before != bytes,
        None => published(file).as_ref() != Some(bytes),
    };
    let changed = documents.iter().filter(|(file, bytes)| is_changed(file, bytes));
    let changed = changed.map(|(file, _)| file.clone()).collect();
    let moved = moved(&before, &joined.signals);
    let left_out = joined.left_out.clone();
    // What is not needed any more is freed, because publishing reads the former documents again.
    drop((joined, former));
    let past = match &objected {
        Some(objected) if objected.is_past_forgotten => Past::Forgotten,
        _ => Past::Kept,
    };
    let Printed { folder, no_snapshot } = press.publish(&documents, &state, past, now)?;
    if let Some(error) = no_snapshot {
        progress(Progress::NoSnapshot { reason: error.to_string() });
    }
    progress(Progress::Published { folder: folder.clone() });
    Ok(Report {
        folder,
        changed,
        moved,
        left_out,
        quarantined,
        objected,
        sources: state.sources.into_iter().map(|(id, kept)| SourceReport::of(id, kept)).collect(),
    })
}

fn checked(id: &str, kept: &Kept) -> SourceEntry {
    SourceEntry {
        id: id.to_owned(),
        checked_at: kept.read_at,
        failing_since: kept.failing.as_ref().map(|failing| failing.since),
        record_count: kept.records.len(),
    }
}

/// Returns the records with pages that the former publication or an earlier one had, and this one has not.
fn gone(
    mut gone: BTreeMap<String, Timestamp>,
    former: &Documents,
    joined: &Joined,
    now: Timestamp,
) -> BTreeMap<String, Timestamp> {
    for feed in FEEDS.iter().filter(|feed| feed.page.is_some()) {
        let bytes = former.get(feed.file).map(Vec::as_slice).unwrap_or_default();
        for record in Parts::of(feed.file, bytes).into_iter().flat_map(|parts| parts.records) {
            gone.entry(id_of(record)).or_insert(now);
        }
    }
    let present: BTreeSet<&String> = joined.ids_of_pages().collect();
    gone.retain(|id, since| !present.contains(id) && now.since(*since) < KNOWN_GONE);
    let mut newest: Vec<_> = gone.into_iter().collect();
    newest.sort_by_key(|(_, since)| std::cmp::Reverse(*since));
    newest.truncate(MOST_GONE);
    newest.into_iter().collect()
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
    postings: &BTreeMap<String, &Posting>,
    imprint: &Imprint<'_>,
    former: &Documents,
    published: PublishedPart<'_>,
) -> Result<Sound, BuildError> {
    let duplicate = |id| Quarantined {
        document: String::new(),
        id,
        reason: "another record has this id".to_owned(),
        source: None,
    };
    let is_checked =
        |name: &str, packed: &[u8]| published(name).is_some_and(|before| before == packed);
    let mut quarantined: Vec<_> = joined.remove_duplicates().into_iter().map(duplicate).collect();
    quarantined.append(&mut joined.doubts);
    let mut trimmed = BTreeSet::new();
    for _ in 0..ROUNDS {
        let documents = imprint
            .documents(&mut joined, postings, former, published)
            .map_err(BuildError::Document)?;
        let faults = faults_of_new(&documents, &is_checked);
        if faults.is_empty() {
            return Ok(Sound { documents, joined, quarantined });
        }
        let of_sources = without_sources(&mut joined, &faults, &mut trimmed);
        let is_left = |fault: &&Fault| !of_sources.contains_key(&fault.pointer);
        let mut reasons: Reasons = faults
            .iter()
            .filter(is_left)
            .filter(|fault| !OWN.contains(&fault.document.as_str()))
            .filter_map(|fault| Some((fault.record.clone()?, fault.what.clone())))
            .collect();
        if reasons.is_empty() && of_sources.is_empty() {
            return Err(BuildError::Faulty(faults));
        }
        quarantined.extend(of_sources.into_values());
        joined.remove(&mut reasons);
        joined.ask(imprint.sources, imprint.now)?;
        quarantined.extend(named(&documents, &reasons));
    }
    let documents = imprint
        .documents(&mut joined, postings, former, published)
        .map_err(BuildError::Document)?;
    match faults_of_new(&documents, &is_checked) {
        faults if faults.is_empty() => Ok(Sound { documents, joined, quarantined }),
        faults => Err(BuildError::Faulty(faults)),
    }
}

/// Removes the sources with faults from signals that stand without them: what one publisher writes does not
/// remove what others say. Returns them by the places of the faults. A signal with a fault in a second
/// source is treated as any other record.
fn without_sources(
    joined: &mut Joined,
    faults: &[Fault],
    trimmed: &mut BTreeSet<String>,
) -> BTreeMap<String, Quarantined> {
    let mut removed = BTreeMap::new();
    for Fault { document, pointer, record, what } in faults {
        let (Some(signal), true) = (record, document == SIGNALS) else { continue };
        let parts: Vec<&str> = pointer.split('/').collect();
        let ["", "items", _, "sources", position, ..] = parts.as_slice() else { continue };
        let Ok(position) = position.parse() else { continue };
        if !trimmed.insert(signal.clone()) {
            continue;
        }
        let Some((id, url)) = joined.remove_source(signal, position) else { continue };
        let reason = format!("as a source of {signal}: {what}");
        let source = Quarantined { document: document.clone(), id, reason, source: Some(url) };
        removed.insert(pointer.clone(), source);
    }
    removed
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

/// Returns the signals that are not published because their target is not on the map or because they are not
/// valid now, as they were published last, for as long as they are remembered.
fn absent(
    signals: Vec<Signal>,
    joined: &Joined,
    quarantined: &[Quarantined],
    now: Timestamp,
) -> Vec<Signal> {
    let targets: BTreeSet<&str> = joined.targets.iter().map(|target| &*target.id).collect();
    let published: BTreeSet<&str> = joined.signals.iter().map(|signal| &*signal.id).collect();
    let quarantined: BTreeSet<&str> = quarantined.iter().map(|record| &*record.id).collect();
    let is_absent = |signal: &Signal| {
        let is_off = !targets.contains(signal.target_id.as_str());
        let is_quarantined = quarantined.contains(signal.id.as_str());
        (is_off || is_quarantined) && !published.contains(signal.id.as_str())
    };
    let is_remembered = |signal: &Signal| now.since(signal.updated_at) < REMEMBERED;
    signals.into_iter().filter(|signal| is_absent(signal) && is_remembered(signal)).collect()
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
    match documents.get(SIGNALS) {
        Some(bytes) => Ok(serde_json::from_slice::<Listing<Signal>>(bytes)?.items),
        None => Ok(Vec::new()),
    }
}

/// Returns all errors in the documents in a folder, or published in it.
pub fn check(folder: &Path) -> std::io::Result<Vec<Fault>> {
    Ok(faults(&documents(folder)?))
}

/// Returns the records that the publication in a folder does not have.
pub fn not_published(folder: &Path) -> std::io::Result<NotPublished> {
    publish::not_published(folder)
}
