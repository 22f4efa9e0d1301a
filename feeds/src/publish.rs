//! Publishes all documents at once: writes and syncs a new folder, then replaces the link `current` by
//! one to it. The publication before it is kept.

use crate::{
    changes::{self, Past},
    descriptions::{FOLDER as PARTS, is_part},
    document::{Documents, INDEX, generated_at},
    identifier::hexadecimal,
    snapshots::{self, readable},
    state::{Quarantined, State},
    timestamp::Timestamp,
};
use serde::{Deserialize, de::DeserializeOwned};
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
const LOCK: &str = "lock";
/// How many publications are kept: the current one and the one before.
const KEPT: usize = 2;

/// A folder in which feeds are published, locked by one builder.
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

impl Press {
    /// Locks the folder. A second builder is refused and does not wait.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let lock = lock_file(folder)?;
        lock.try_lock().map_err(|_| {
            io::Error::new(ErrorKind::WouldBlock, "another build is running in this folder")
        })?;
        Ok(Self { folder: folder.to_owned(), _lock: lock })
    }

    /// Locks the folder when a build that is running has ended.
    pub fn open_after_others(folder: &Path) -> io::Result<Self> {
        let lock = lock_file(folder)?;
        lock.lock()?;
        Ok(Self { folder: folder.to_owned(), _lock: lock })
    }

    /// Returns the folder of the fetcher's cache.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    pub fn published(&self) -> io::Result<Published> {
        let current = self.folder.join(CURRENT);
        if !current.exists() {
            return Ok(Published::default());
        }
        Ok(Published { state: kept(&self.folder)?, documents: whole_documents(&current)? })
    }

    /// Returns the part of a feed with this file name that is published now, if there is one.
    pub fn part(&self, name: &str) -> Option<Vec<u8>> {
        is_part(name).then(|| fs::read(self.folder.join(CURRENT).join(name)).ok()).flatten()
    }

    /// Publishes the documents, and returns the folder of the publication. The changes since the publication
    /// before are logged in it, and its index has the cursor of their end.
    pub fn publish(
        &self,
        documents: &Documents,
        state: &State,
        past: Past,
        now: Timestamp,
    ) -> io::Result<PathBuf> {
        let (draft, name) = self.draft(documents, state, past, now)?;
        self.settle(draft, &name)?;
        match past {
            Past::Kept => self.keep_snapshot(now)?,
            // Before the link is replaced: a build that is killed in between is repeated by the next one.
            Past::Forgotten => snapshots::forget(&self.folder)?,
        }
        self.replace_link(&name)?;
        self.sweep(&name, if past == Past::Kept { KEPT } else { 1 })?;
        Ok(self.folder.join(VERSIONS).join(name))
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
        let mut file = BufWriter::new(File::create(draft.path().join(STATE))?);
        serde_json::to_writer(Hashed { writer: &mut file, digest: &mut digest }, state)?;
        file.into_inner()?.sync_all()?;
        let current = self.folder.join(CURRENT);
        let former = current.exists().then_some(current);
        let (cursor, index) =
            changes::write(draft.path(), former.as_deref(), documents, INDEX, past, now)?;
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
        File::open(draft.path().join(PARTS))?.sync_all()?;
        File::open(draft.path())?.sync_all()?;
        readable(draft.path())?;
        let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let digest = hexadecimal(&digest.finalize());
        Ok((draft, format!("{stamp}-{}", digest.get(..12).unwrap_or_default())))
    }

    /// Gives a finished draft its name, unless an interrupted build has finished the same.
    fn settle(&self, draft: TempDir, name: &str) -> io::Result<()> {
        let versions = self.folder.join(VERSIONS);
        let version = versions.join(name);
        if version.exists() {
            return Ok(());
        }
        fs::rename(draft.keep(), &version)?;
        File::open(&versions)?.sync_all()
    }

    /// Writes a document into a draft. A part that is published already is linked and not written again.
    fn write(&self, draft: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
        let (path, former) = (draft.join(name), self.folder.join(CURRENT).join(name));
        let is_same = || fs::read(&former).is_ok_and(|published| published == bytes);
        if is_part(name) && is_same() && fs::hard_link(&former, &path).is_ok() {
            return Ok(());
        }
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Keeps what is published until now, if it was the last of its day.
    fn keep_snapshot(&self, now: Timestamp) -> io::Result<()> {
        let index = match fs::read(self.folder.join(CURRENT).join(INDEX)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            index => index?,
        };
        match generated_at(&index) {
            Some(made) => snapshots::keep(&self.folder, || documents(&self.folder), made, now),
            None => Ok(()),
        }
    }

    /// Points `current` to this version. A link cannot be changed, but it can be replaced atomically.
    fn replace_link(&self, name: &str) -> io::Result<()> {
        let next = self.folder.join(".next");
        let _absent = fs::remove_file(&next);
        std::os::unix::fs::symlink(Path::new(VERSIONS).join(name), &next)?;
        fs::rename(&next, self.folder.join(CURRENT))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Removes older publications, and drafts of builds that were interrupted.
    fn sweep(&self, current: &str, kept: usize) -> io::Result<()> {
        let versions = fs::read_dir(self.folder.join(VERSIONS))?;
        let mut names: Vec<String> =
            versions.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_by(|one, other| other.cmp(one));
        let (drafts, finished): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.starts_with('.'));
        let older =
            finished.into_iter().filter(|name| name != current).skip(kept.saturating_sub(1));
        for name in older.chain(drafts) {
            fs::remove_dir_all(self.folder.join(VERSIONS).join(name))?;
        }
        Ok(())
    }
}

fn lock_file(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder.join(VERSIONS))?;
    File::create(folder.join(LOCK))
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
#[derive(Debug, Clone, Default, Deserialize)]
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
    kept(folder)
}

/// Reads the state, or a part of it; documents that no build made have none.
fn kept<T: DeserializeOwned + Default>(folder: &Path) -> io::Result<T> {
    let file = publication(folder).join(STATE);
    let opened = match File::open(&file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error),
    };
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
    let parts = match fs::read_dir(folder.join(PARTS)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(documents),
        parts => parts?,
    };
    for entry in parts {
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
