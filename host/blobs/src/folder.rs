//! The folder of contents: one file for each content, in 256 folders by the first digits of the digest, and those
//! that arrive now in the folder `incoming`.

use portolan_store::create_private_folder;
use portolan_vocabulary::{Timestamp, made_at, new_identifier};
use std::{
    fs,
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

/// The folder of uploads that arrive now.
const INCOMING: &str = "incoming";
/// The file that says which database the folder belongs to.
const OWNER: &str = "owner";
/// The prefix of the identifier with which a file's name ends. It says when the name was made.
const FILE: &str = "obj";
/// The maximum number of bytes for which memory is taken before a file is read.
const RESERVED: usize = 1 << 20;

/// The folder of contents.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Opens the folder, and creates it if it does not exist.
    pub(crate) fn open(root: PathBuf) -> io::Result<Self> {
        create_private_folder(&root)?;
        create_private_folder(&root.join(INCOMING))?;
        Ok(Self { root })
    }

    /// Returns a new name for the file of a content. No other file ever has it.
    pub(crate) fn new_name(digest: &str, now: Timestamp) -> String {
        format!("{digest}-{}", new_identifier(FILE, now, rand::random()))
    }

    /// Creates a temporary file for an upload. It is deleted on drop.
    pub(crate) async fn create(&self, now: Timestamp) -> io::Result<NamedTempFile> {
        let folder = self.root.join(INCOMING);
        let prefix = format!("{}-", new_identifier(FILE, now, rand::random()));
        blocking(move || tempfile::Builder::new().prefix(&prefix).tempfile_in(folder)).await
    }

    /// Moves a file, whose bytes are on the disk, to this name, and waits until the name is on the disk too.
    pub(crate) async fn keep(&self, file: NamedTempFile, name: &str) -> io::Result<()> {
        let (path, root) = (self.path(name)?, self.root.clone());
        blocking(move || {
            let folder = path.parent().unwrap_or(Path::new("."));
            if !folder.exists() {
                create_private_folder(folder)?;
                fs::File::open(root)?.sync_all()?;
            }
            file.persist(&path).map_err(|error| error.error)?;
            fs::File::open(folder)?.sync_all()
        })
        .await
    }

    /// Stores a content under this name.
    pub(crate) async fn store(
        &self,
        content: Vec<u8>,
        name: &str,
        now: Timestamp,
    ) -> io::Result<()> {
        let mut file = self.create(now).await?;
        let file = blocking(move || {
            io::Write::write_all(&mut file, &content)?;
            file.as_file().sync_all()?;
            Ok(file)
        })
        .await?;
        self.keep(file, name).await
    }

    /// Reads at most `length` bytes from `offset` on.
    pub(crate) async fn read(&self, name: &str, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let path = self.path(name)?;
        // In one step: each operation of an asynchronous file is handed to another thread.
        blocking(move || {
            let size = usize::try_from(length).unwrap_or(usize::MAX);
            let mut bytes = Vec::with_capacity(size.min(RESERVED));
            let mut file = fs::File::open(path)?;
            file.seek(io::SeekFrom::Start(offset))?;
            file.take(length).read_to_end(&mut bytes)?;
            Ok(bytes)
        })
        .await
    }

    /// Returns whether there is a file of this name.
    pub(crate) async fn has(&self, name: &str) -> io::Result<bool> {
        tokio::fs::try_exists(self.path(name)?).await
    }

    /// Removes the file of this name. It is no error if there is none.
    pub(crate) async fn remove(&self, name: &str) -> io::Result<()> {
        match tokio::fs::remove_file(self.path(name)?).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Returns the text about the database that the folder belongs to.
    pub(crate) async fn owner(&self) -> io::Result<Option<Vec<u8>>> {
        match tokio::fs::read(self.root.join(OWNER)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Replaces the text about the database that the folder belongs to.
    pub(crate) async fn set_owner(&self, text: Vec<u8>, now: Timestamp) -> io::Result<()> {
        let (mut file, root) = (self.create(now).await?, self.root.clone());
        blocking(move || {
            io::Write::write_all(&mut file, &text)?;
            file.as_file().sync_all()?;
            file.persist(root.join(OWNER)).map_err(|error| error.error)?;
            fs::File::open(root)?.sync_all()
        })
        .await
    }

    /// Removes what has arrived before this time and was neither kept nor removed, such as after a crash.
    pub(crate) async fn remove_incoming(&self, before: Timestamp) -> io::Result<()> {
        let folder = self.root.join(INCOMING);
        for name in names_in(folder.clone()).await? {
            let is_old = name.get(..OBJECT_ID).and_then(made_at).is_none_or(|at| at < before);
            if is_old {
                remove_found(&folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Returns the folders of contents, each by the two digits with which its digests begin. The folder can have others,
    /// such as those of the system.
    pub(crate) async fn parts(&self) -> io::Result<Vec<String>> {
        let mut parts = names_in(self.root.clone()).await?;
        let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        parts.retain(|name| name.len() == 2 && name.chars().all(is_digit));
        Ok(parts)
    }

    /// Returns the names of the files in one of these folders.
    pub(crate) async fn names(&self, part: &str) -> io::Result<Vec<String>> {
        names_in(self.root.join(part)).await
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match name.get(..2) {
            Some(part) if name.chars().all(is_plain) => Ok(self.root.join(part).join(name)),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no name of a content")),
        }
    }
}

/// The length of the identifier in a file's name: the prefix, an underscore and a ULID.
const OBJECT_ID: usize = FILE.len() + 1 + 26;

/// Returns the names in a folder; none if there is no such folder.
async fn names_in(folder: PathBuf) -> io::Result<Vec<String>> {
    blocking(move || {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        entries.map(name).collect()
    })
    .await
}

fn remove_found(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(run).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_content_is_stored_read_listed_and_removed() {
        let root = tempfile::TempDir::new().unwrap();
        let folder = Folder::open(root.path().join("media")).unwrap();
        let now = Timestamp::from_millis(1_000);
        let name = Folder::new_name("abcd", now);
        folder.store(b"content".to_vec(), &name, now).await.unwrap();
        assert_eq!(folder.read(&name, 3, 100).await.unwrap(), b"tent");
        std::fs::create_dir(root.path().join("media/lost+found")).unwrap();
        std::fs::write(root.path().join("media/.DS_Store"), "").unwrap();
        assert_eq!(folder.parts().await.unwrap(), ["ab"]);
        assert_eq!(folder.names("ab").await.unwrap(), std::slice::from_ref(&name));
        assert!(folder.has(&name).await.unwrap());
        folder.remove(&name).await.unwrap();
        folder.remove(&name).await.unwrap();
        assert!(!folder.has(&name).await.unwrap());
        assert!(folder.read(&name, 0, 1).await.is_err());
        for bad in ["", "../../etc/passwd", "a", "ab/../x"] {
            assert!(folder.read(bad, 0, 1).await.is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn what_a_crash_has_left_is_removed_after_its_time() {
        let root = tempfile::TempDir::new().unwrap();
        let folder = Folder::open(root.path().to_owned()).unwrap();
        let left = folder.create(Timestamp::from_millis(1_000)).await.unwrap().into_temp_path();
        folder.remove_incoming(Timestamp::from_millis(1_000)).await.unwrap();
        assert!(left.exists());
        folder.remove_incoming(Timestamp::from_millis(1_001)).await.unwrap();
        assert!(!left.exists());
    }
}
