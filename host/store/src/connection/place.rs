//! Whether a file that is open is still in its place: a file that was deleted or replaced takes writes that nobody
//! will ever read.

use crate::error::DbError;
use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// A file as it was when it was opened.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Place {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() })
    }

    /// Ensures that the path still leads to the same file.
    pub(super) fn ensure_unchanged(&self) -> Result<(), DbError> {
        let own = (self.device, self.inode);
        match fs::metadata(&self.path) {
            Ok(metadata) if (metadata.dev(), metadata.ino()) == own => Ok(()),
            _ => Err(DbError::Replaced(self.path.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_file_and_another_one_in_its_place_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "first").unwrap();
        let place = Place::of(&path).unwrap();
        fs::write(&path, "changed").unwrap();
        assert!(place.ensure_unchanged().is_ok());
        // The deleted file keeps its number as long as it is open.
        let _open = fs::File::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(matches!(place.ensure_unchanged(), Err(DbError::Replaced(_))));
        fs::write(&path, "second").unwrap();
        assert!(matches!(place.ensure_unchanged(), Err(DbError::Replaced(_))));
    }
}
