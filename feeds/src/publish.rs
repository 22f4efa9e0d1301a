//! Publishes all documents at once: writes and syncs a new folder, then replaces the link `current` by
//! one to it. The publication before it is kept.

use crate::{
    document::Documents,
    identifier::hexadecimal,
    state::{Quarantined, State},
    timestamp::Timestamp,
};
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};
use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

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
    pub documents: Documents,
}

impl Press {
    /// Locks the folder. A second builder is refused and does not wait.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder.join(VERSIONS))?;
        let lock = File::create(folder.join(LOCK))?;
        lock.try_lock().map_err(|_| {
            io::Error::new(ErrorKind::WouldBlock, "another build is running in this folder")
        })?;
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
        Ok(Published { state: kept(&self.folder)?, documents: documents(&current)? })
    }

    /// Publishes the documents, and returns the folder of the publication.
    pub fn publish(
        &self,
        documents: &Documents,
        state: &State,
        now: Timestamp,
    ) -> io::Result<PathBuf> {
        let versions = self.folder.join(VERSIONS);
        let draft = tempfile::Builder::new().prefix(".draft-").tempdir_in(&versions)?;
        let mut digest = Sha256::new();
        let mut file = BufWriter::new(File::create(draft.path().join(STATE))?);
        serde_json::to_writer(Hashed { writer: &mut file, digest: &mut digest }, state)?;
        file.into_inner()?.sync_all()?;
        for (name, bytes) in documents {
            digest.update(bytes);
            let mut file = File::create(draft.path().join(name))?;
            file.write_all(bytes)?;
            file.sync_all()?;
        }
        let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        let digest = hexadecimal(&digest.finalize());
        let name = format!("{stamp}-{}", digest.get(..12).unwrap_or_default());
        let version = versions.join(&name);
        if !version.exists() {
            File::open(draft.path())?.sync_all()?;
            readable(draft.path())?;
            fs::rename(draft.keep(), &version)?;
            File::open(&versions)?.sync_all()?;
        }
        self.replace_link(&name)?;
        self.sweep(&name)?;
        Ok(version)
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
    fn sweep(&self, current: &str) -> io::Result<()> {
        let versions = fs::read_dir(self.folder.join(VERSIONS))?;
        let mut names: Vec<String> =
            versions.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_by(|one, other| other.cmp(one));
        let (drafts, finished): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.starts_with('.'));
        let older = finished.into_iter().filter(|name| name != current).skip(KEPT - 1);
        for name in older.chain(drafts) {
            fs::remove_dir_all(self.folder.join(VERSIONS).join(name))?;
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

/// Lets everybody read a finished draft: the host that serves it may run as another user.
fn readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

/// Returns the folder of the publication in a folder, or the folder itself.
fn publication(folder: &Path) -> PathBuf {
    let current = folder.join(CURRENT);
    if current.exists() { current } else { folder.to_owned() }
}

/// Returns the records that the last build in a folder did not publish.
pub fn quarantined(folder: &Path) -> io::Result<Vec<Quarantined>> {
    /// The state, of which only this field is read.
    #[derive(Default, Deserialize)]
    struct Kept {
        #[serde(default)]
        quarantined: Vec<Quarantined>,
    }
    kept(folder).map(|Kept { quarantined }| quarantined)
}

/// Reads the state, or a part of it; documents that no build made have none.
fn kept<T: DeserializeOwned + Default>(folder: &Path) -> io::Result<T> {
    let file = publication(folder).join(STATE);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error),
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        io::Error::new(ErrorKind::InvalidData, format!("{}: {error}", file.display()))
    })
}

/// Reads the documents in a folder, or those published in it.
pub fn documents(folder: &Path) -> io::Result<Documents> {
    let folder = publication(folder);
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
