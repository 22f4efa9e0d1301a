//! Publishes all documents at once: writes and syncs a new folder, then replaces the link `current` by
//! one to it. The publication before it is kept.

mod past;

pub use past::Objected;

use crate::{
    changes::{self, Past},
    descriptions::{FOLDER as PARTS, is_part},
    document::{Documents, INDEX, generated_at},
    files::{self, found, readable, sync_folder},
    identifier::hexadecimal,
    snapshots,
    state::{Kept, Quarantined, State},
    timestamp::Timestamp,
};
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufReader, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The name of the link to the current publication.
pub const CURRENT: &str = "current";
const VERSIONS: &str = "versions";
const STATE: &str = "state.json";
/// The file with what a publication does not have. Others than the owner of the state can read it.
const NOT_PUBLISHED: &str = "not-published";
/// The file with the name of the publication before, which is kept; it is empty if none is kept.
const BEFORE: &str = "before";
/// The file that one build locks, and the one that locks who publishes.
const LOCK: &str = "lock";
const PUBLISHING_LOCK: &str = "publishing.lock";

/// The right to build in a folder. One build at a time has it, from before it asks the sources.
#[derive(Debug)]
pub struct Turn {
    /// The lock lasts as long as this value.
    _lock: File,
}

impl Turn {
    /// A second builder is refused and does not wait.
    pub fn take(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let lock = File::create(folder.join(LOCK))?;
        lock.try_lock().map_err(|_| {
            io::Error::new(ErrorKind::WouldBlock, "another build is running in this folder")
        })?;
        Ok(Self { _lock: lock })
    }
}

/// A folder in which feeds are published, locked by the one who publishes. Nobody asks a source while he
/// has it, so that others wait for seconds only.
#[derive(Debug)]
pub struct Press {
    folder: PathBuf,
    /// The lock lasts as long as this value.
    _lock: File,
}

/// What is published now.
#[derive(Debug, Default)]
pub struct Published {
    pub state: State,
    /// The documents without the parts of feeds.
    pub documents: Documents,
}

/// A new publication.
#[derive(Debug)]
pub struct Printed {
    pub folder: PathBuf,
    /// Why the publication before it, the last one of its day, is not kept as a snapshot.
    pub no_snapshot: Option<io::Error>,
}

/// What `Press::publish` has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Drafted,
    Settled,
    PastHandled,
    Linked,
    Swept,
}

impl Press {
    /// Locks the folder, when others have published what they are publishing. What they left when they were
    /// interrupted is removed.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder.join(VERSIONS))?;
        let lock = File::create(folder.join(PUBLISHING_LOCK))?;
        lock.lock()?;
        let press = Self { folder: folder.to_owned(), _lock: lock };
        press.sweep()?;
        Ok(press)
    }

    /// Returns the folder of the fetcher's cache.
    pub fn cache(folder: &Path) -> PathBuf {
        folder.join("cache")
    }

    pub fn published(&self) -> io::Result<Published> {
        self.published_with(self.state()?.sources)
    }

    /// Returns what is published now, with these sources in its state: what was read of them before is not
    /// read, because it is most of the memory of a build.
    pub fn published_with(&self, sources: BTreeMap<String, Kept>) -> io::Result<Published> {
        let current = self.folder.join(CURRENT);
        let state: State<IgnoredAny> = kept(&current.join(STATE))?;
        let documents =
            if current.exists() { whole_documents(&current)? } else { Documents::new() };
        Ok(Published { state: state.with(sources), documents })
    }

    /// Returns what was last read from the sources.
    pub fn state(&self) -> io::Result<State> {
        kept(&self.folder.join(CURRENT).join(STATE))
    }

    /// Returns the part of a feed with this file name that is published now, if there is one.
    pub fn part(&self, name: &str) -> Option<Vec<u8>> {
        is_part(name).then(|| fs::read(self.folder.join(CURRENT).join(name)).ok()).flatten()
    }

    /// Publishes the documents. The changes since the publication before are logged in the new one, and its
    /// index has the cursor of their end.
    pub fn publish(
        &self,
        documents: &Documents,
        state: &State,
        past: Past,
        now: Timestamp,
    ) -> io::Result<Printed> {
        self.publish_in_steps(documents, state, past, now, &|_| Ok(()))
    }

    /// Publishes, and calls `after` with each step that it has done; an error stops it there.
    fn publish_in_steps(
        &self,
        documents: &Documents,
        state: &State,
        past: Past,
        now: Timestamp,
        after: &dyn Fn(Step) -> io::Result<()>,
    ) -> io::Result<Printed> {
        let (draft, name) = self.draft(documents, state, past, now)?;
        after(Step::Drafted)?;
        self.settle(draft, &name)?;
        after(Step::Settled)?;
        let no_snapshot = match past {
            Past::Kept => self.keep_snapshot(now).err(),
            // Before the link is replaced: a build that is killed in between is repeated by the next one.
            Past::Forgotten => {
                snapshots::forget(&self.folder)?;
                None
            }
        };
        after(Step::PastHandled)?;
        self.replace_link(&name)?;
        after(Step::Linked)?;
        self.sweep()?;
        after(Step::Swept)?;
        Ok(Printed { folder: self.folder.join(VERSIONS).join(name), no_snapshot })
    }

    /// Writes everything into a folder that nobody reads, and returns the name that it is to have.
    fn draft(
        &self,
        documents: &Documents,
        state: &State,
        past: Past,
        now: Timestamp,
    ) -> io::Result<(TempDir, String)> {
        let versions = self.folder.join(VERSIONS);
        let draft = tempfile::Builder::new().prefix(".draft-").tempdir_in(&versions)?;
        let mut digest = Sha256::new();
        // The state has the addresses of sources, which may be secret, and what people object to.
        let mut file = BufWriter::new(files::create(&draft.path().join(STATE), files::PRIVATE)?);
        serde_json::to_writer(Hashed { writer: &mut file, digest: &mut digest }, state)?;
        file.into_inner()?.sync_all()?;
        let (quarantined, gone) = (state.quarantined.clone(), state.gone.clone());
        let not_published = serde_json::to_vec(&NotPublished { quarantined, gone })?;
        files::write(&draft.path().join(NOT_PUBLISHED), &not_published)?;
        let former = self.current()?;
        let before = former.as_ref().filter(|_| past == Past::Kept).map(|(_, name)| name.as_str());
        files::write(&draft.path().join(BEFORE), before.unwrap_or_default().as_bytes())?;
        let former = former.as_ref().map(|(folder, _)| folder.as_path());
        let (cursor, index) = changes::write(draft.path(), former, documents, INDEX, past, now)?;
        digest.update(cursor.to_string());
        for folder in [PARTS, changes::FOLDER] {
            fs::create_dir_all(draft.path().join(folder))?;
            readable(&draft.path().join(folder))?;
        }
        for (name, bytes) in documents {
            digest.update(bytes);
            let stamped = index.as_ref().filter(|_| name == INDEX);
            self.write(draft.path(), name, stamped.unwrap_or(bytes))?;
        }
        sync_folder(&draft.path().join(PARTS))?;
        sync_folder(draft.path())?;
        readable(draft.path())?;
        let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let digest = hexadecimal(&digest.finalize());
        Ok((draft, format!("{stamp}-{}", digest.get(..12).unwrap_or_default())))
    }

    /// Gives a finished draft its name, unless the same is published already.
    fn settle(&self, draft: TempDir, name: &str) -> io::Result<()> {
        let versions = self.folder.join(VERSIONS);
        let version = versions.join(name);
        if version.exists() {
            return Ok(());
        }
        fs::rename(draft.keep(), &version)?;
        sync_folder(&versions)
    }

    /// Writes a document into a draft. A part that is published already is linked and not written again.
    fn write(&self, draft: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
        let (path, former) = (draft.join(name), self.folder.join(CURRENT).join(name));
        let is_same = || fs::read(&former).is_ok_and(|published| published == bytes);
        if is_part(name) && is_same() && fs::hard_link(&former, &path).is_ok() {
            return Ok(());
        }
        files::write(&path, bytes)
    }

    /// Keeps what is published until now, if it was the last of its day.
    fn keep_snapshot(&self, now: Timestamp) -> io::Result<()> {
        let current = self.folder.join(CURRENT);
        let index = found(fs::read(current.join(INDEX)))?;
        match index.and_then(|index| generated_at(&index)) {
            Some(made) => snapshots::keep(&self.folder, &current, made, now),
            None => Ok(()),
        }
    }

    /// Points `current` to this version. A link cannot be changed, but it can be replaced atomically.
    fn replace_link(&self, name: &str) -> io::Result<()> {
        let next = self.folder.join(".next");
        let _absent = fs::remove_file(&next);
        std::os::unix::fs::symlink(Path::new(VERSIONS).join(name), &next)?;
        fs::rename(&next, self.folder.join(CURRENT))?;
        sync_folder(&self.folder)
    }

    /// Returns the folder of the current publication, and its name.
    fn current(&self) -> io::Result<Option<(PathBuf, String)>> {
        let Some(folder) = found(self.folder.join(CURRENT).canonicalize())? else {
            return Ok(None);
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Some((folder, name)))
    }

    /// Removes everything but the current publication and the one that is kept before it: older ones, and
    /// what builds left that were interrupted. Without a current publication, and if it is elsewhere, all
    /// finished ones stay.
    fn sweep(&self) -> io::Result<()> {
        let versions = self.folder.join(VERSIONS).canonicalize()?;
        let current = self.current()?.filter(|(folder, _)| folder.parent() == Some(&versions));
        let kept = match &current {
            Some((folder, name)) => {
                let before = found(fs::read_to_string(folder.join(BEFORE)))?.unwrap_or_default();
                Some([name.clone(), before])
            }
            None => None,
        };
        for entry in fs::read_dir(&versions)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let stays = kept.as_ref().is_none_or(|kept| kept.contains(&name));
            if name.starts_with('.') || !stays {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

/// A writer that adds everything it writes to a digest.
struct Hashed<'a, W> {
    writer: W,
    digest: &'a mut Sha256,
}

impl<W: Write> Write for Hashed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.digest.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Returns the folder of the publication in a folder, or the folder itself.
fn publication(folder: &Path) -> PathBuf {
    let current = folder.join(CURRENT);
    if current.exists() { current } else { folder.to_owned() }
}

/// Records that a publication does not have.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct NotPublished {
    /// The records that are not valid.
    #[serde(default)]
    pub quarantined: Vec<Quarantined>,
    /// The ids of records that earlier publications had.
    #[serde(default)]
    pub gone: BTreeMap<String, Timestamp>,
}

/// Returns the records that the publication in a folder does not have.
pub fn not_published(folder: &Path) -> io::Result<NotPublished> {
    kept(&publication(folder).join(NOT_PUBLISHED))
}

/// Reads a file that a build wrote; documents that no build made have none.
fn kept<T: DeserializeOwned + Default>(file: &Path) -> io::Result<T> {
    let Some(opened) = found(File::open(file))? else { return Ok(T::default()) };
    // The state is parsed while it is read, because it would take as much memory again.
    serde_json::from_reader(BufReader::new(opened)).map_err(|error| {
        io::Error::new(ErrorKind::InvalidData, format!("{}: {error}", file.display()))
    })
}

fn whole_documents(folder: &Path) -> io::Result<Documents> {
    let mut documents = Documents::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.ends_with(".json") && name != STATE {
            documents.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(documents)
}

/// Reads the documents in a folder, or those published in it, with the parts of feeds.
pub fn documents(folder: &Path) -> io::Result<Documents> {
    let folder = publication(folder);
    let mut documents = whole_documents(&folder)?;
    let parts = found(fs::read_dir(folder.join(PARTS)))?;
    for entry in parts.into_iter().flatten() {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = format!("{PARTS}/{name}");
        if is_part(&name) {
            documents.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(documents)
}

#[cfg(test)]
mod tests;
