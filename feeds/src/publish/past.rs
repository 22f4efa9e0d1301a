//! What earlier publications, snapshots and the log of changes have that somebody objects to.

use super::{CURRENT, Press, VERSIONS};
use crate::{
    changes, descriptions::FOLDER as PARTS, files::found, objections::Suppression, parts::Parts,
    record::FEEDS, snapshots,
};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// What is compressed has this ending.
const PACKED: &str = ".gz";
/// The feeds whose records are the project's own: no objection is about them.
const UNFILTERED: [&str; 2] = ["questions", "handoffs"];

/// What objections remove that are new, or for the first time have an effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Objected {
    /// How many published records of each feed are removed, by the id of the feed.
    pub records: BTreeMap<&'static str, usize>,
    /// From how many published texts names of people are removed.
    pub texts: usize,
    /// Whether something of it is in earlier publications, in snapshots or in the log of changes. They are
    /// deleted then, or if that cannot be told.
    pub is_past_forgotten: bool,
}

impl Objected {
    /// Returns whether nothing that is or was published is objected to.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, feed: &'static str, effect: Effect) {
        match effect {
            // Its role is counted.
            Effect::Removed if feed == PARTS => {}
            Effect::Removed => *self.records.entry(feed).or_default() += 1,
            Effect::Cleaned(texts) => self.texts += texts,
        }
    }
}

/// What objections do to a record.
enum Effect {
    Removed,
    /// This many texts are cleaned.
    Cleaned(usize),
}

impl Effect {
    fn of(record: &RawValue, suppression: &Suppression) -> io::Result<Self> {
        let record: Value = serde_json::from_str(record.get())?;
        Ok(match suppression.applies(&record) {
            true => Self::Removed,
            false => Self::Cleaned(suppression.named(&record)),
        })
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::Cleaned(0))
    }
}

impl Press {
    /// Returns what these objections remove from what is published, and whether they concern the past. What
    /// cannot be read may have anything.
    pub fn objected(&self, suppression: &Suppression) -> Objected {
        let mut objected = Objected::default();
        let counted = self.count(suppression, &mut objected);
        objected.is_past_forgotten = counted.is_err()
            || !objected.is_nothing()
            || self.past_has(suppression).unwrap_or(true);
        objected
    }

    /// Counts what the objections remove from what is published now.
    fn count(&self, suppression: &Suppression, objected: &mut Objected) -> io::Result<()> {
        for (feed, path) in files(&self.folder.join(CURRENT), "")? {
            read(feed, &path, &mut |record| {
                objected.add(feed, Effect::of(record, suppression)?);
                Ok(true)
            })?;
        }
        Ok(())
    }

    /// Returns whether the log of changes, an earlier publication or a snapshot has what is objected to.
    fn past_has(&self, suppression: &Suppression) -> io::Result<bool> {
        let (mut seen, mut is_found) = (BTreeSet::new(), false);
        let mut all: Vec<(&str, PathBuf)> = Vec::new();
        for version in entries(&self.folder.join(VERSIONS))? {
            all.extend(files(&version, "")?);
            all.extend(entries(&version.join(changes::FOLDER))?.into_iter().map(|path| ("", path)));
        }
        for snapshot in entries(&self.folder.join(snapshots::FOLDER))? {
            all.extend(files(&snapshot, PACKED)?);
        }
        for (feed, path) in all {
            // Publications and snapshots share files.
            let metadata = fs::metadata(&path)?;
            if !seen.insert((metadata.dev(), metadata.ino())) {
                continue;
            }
            read(feed, &path, &mut |record| {
                is_found = is_found || !Effect::of(record, suppression)?.is_none();
                Ok(!is_found)
            })?;
            if is_found {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = found(fs::read_dir(folder))?.into_iter().flatten();
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Returns the documents and the parts in a folder, each with the id of its feed. `packed` is the ending of
/// its documents.
fn files(folder: &Path, packed: &str) -> io::Result<Vec<(&'static str, PathBuf)>> {
    let filtered = FEEDS.iter().filter(|feed| !UNFILTERED.contains(&feed.id));
    let documents = filtered.map(|feed| (feed.id, folder.join(format!("{}{packed}", feed.file))));
    let documents = documents.filter(|(_, path)| path.exists());
    let parts = entries(&folder.join(PARTS))?.into_iter().map(|path| (PARTS, path));
    Ok(documents.chain(parts).collect())
}

/// Reads the records in a document, a part or a segment of the log, as long as `visit` returns true.
/// `feed` is the id of the document's feed.
fn read(
    feed: &str,
    path: &Path,
    visit: &mut dyn FnMut(&RawValue) -> io::Result<bool>,
) -> io::Result<()> {
    let file = File::open(path)?;
    let is_packed = path.extension().is_some_and(|ending| ending == "gz");
    let mut text: Box<dyn Read> = match is_packed {
        true => Box::new(GzDecoder::new(BufReader::new(file))),
        false => Box::new(file),
    };
    if feed.is_empty() {
        return read_log(text, visit);
    }
    let mut bytes = Vec::new();
    text.read_to_end(&mut bytes)?;
    let name = FEEDS.iter().find(|known| known.id == feed).map_or(PARTS, |known| known.file);
    for record in Parts::of(name, &bytes)?.records {
        if !visit(record)? {
            break;
        }
    }
    Ok(())
}

fn read_log(
    text: impl Read,
    visit: &mut dyn FnMut(&RawValue) -> io::Result<bool>,
) -> io::Result<()> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        record: Option<&'a RawValue>,
    }
    for line in BufReader::new(text).lines() {
        let line = line?;
        let Line { record } = serde_json::from_str(&line)?;
        if let Some(record) = record
            && !visit(record)?
        {
            break;
        }
    }
    Ok(())
}
