//! Notes which file a start is loading, so that a file is left out if the process has ended in two starts
//! while they loaded it.
//!
//! The first start in which the process ends does not show which file was the reason, because several files
//! are loaded at once. The next start loads the files one after the other, and notes each of them.

use crate::file::Fingerprint;
use portolan_store::create_private_folder;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

/// The number of starts that must have ended over a file before it is left out.
const MAX_ENDED_STARTS: u32 = 2;

/// The note of a start, in a file of the data folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Note {
    /// Whether the start has not finished.
    unfinished: bool,
    /// The file that is being loaded, if files are loaded one after the other.
    loading: Option<String>,
    /// The number of starts that ended over each file. A key contains the fingerprint of the file, so that
    /// other content is counted anew.
    ended: BTreeMap<String, u32>,
}

/// One start.
#[derive(Debug)]
pub(super) struct StartAttempt {
    path: PathBuf,
    note: Note,
    /// Whether the start before this one did not finish.
    is_careful: bool,
}

impl StartAttempt {
    /// Begins a start. If there is no note that can be read, the start before counts as finished.
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        let text = fs::read(path).unwrap_or_default();
        let mut note: Note = serde_json::from_slice(&text).unwrap_or_default();
        let is_careful = note.unfinished;
        if let Some(file) = note.loading.take() {
            *note.ended.entry(file).or_default() += 1;
        }
        note.unfinished = true;
        let attempt = Self { path: path.to_owned(), note, is_careful };
        attempt.write()?;
        Ok(attempt)
    }

    /// Returns whether files are loaded one after the other, and each is noted.
    pub(super) const fn is_careful(&self) -> bool {
        self.is_careful
    }

    /// Returns whether a file is left out, because too many starts ended over it with this content.
    pub(super) fn is_excluded(&self, file: &str, content: Fingerprint) -> bool {
        self.note
            .ended
            .get(&note_key(file, content))
            .is_some_and(|ended| *ended >= MAX_ENDED_STARTS)
    }

    /// Notes that a file is about to be loaded, if files are loaded one after the other.
    pub(super) fn note_load(&mut self, file: &str, content: Fingerprint) -> io::Result<()> {
        if self.is_careful {
            self.note.loading = Some(note_key(file, content));
            self.write()?;
        }
        Ok(())
    }

    /// Notes that the start has finished. A file that was left out stays left out as long as it is in the
    /// folder with the same content.
    pub(super) fn finish(mut self, present: &BTreeMap<String, Fingerprint>) -> io::Result<()> {
        let names: Vec<_> =
            present.iter().map(|(file, content)| note_key(file, *content)).collect();
        self.note.ended.retain(|name, ended| *ended >= MAX_ENDED_STARTS && names.contains(name));
        (self.note.unfinished, self.note.loading) = (false, None);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        // With PostgreSQL, nothing else may have made the data folder yet.
        create_private_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&self.note)?)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

fn note_key(file: &str, content: Fingerprint) -> String {
    format!("{file} {content:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_ended_two_starts_is_excluded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("start");
        let [good, bad] = ["good", "bad"].map(|name| {
            fs::write(folder.path().join(name), name).unwrap();
            Fingerprint::of(&fs::metadata(folder.path().join(name)).unwrap())
        });
        let present = BTreeMap::from([("good".to_owned(), good), ("bad".to_owned(), bad)]);
        let mut first = StartAttempt::begin(&path).unwrap();
        assert!(!first.is_careful());
        first.note_load("bad", bad).unwrap();
        for _ended_over_it in 0..2 {
            let mut next = StartAttempt::begin(&path).unwrap();
            assert!(next.is_careful() && !next.is_excluded("bad", bad));
            next.note_load("good", good).unwrap();
            next.note_load("bad", bad).unwrap();
        }
        let without = StartAttempt::begin(&path).unwrap();
        assert!(without.is_excluded("bad", bad) && !without.is_excluded("good", good));
        // Other content is loaded, and the start after a finished one is not careful.
        assert!(!without.is_excluded("bad", good));
        without.finish(&present).unwrap();
        let later = StartAttempt::begin(&path).unwrap();
        assert!(!later.is_careful() && later.is_excluded("bad", bad));
        later.finish(&BTreeMap::new()).unwrap();
        assert!(!StartAttempt::begin(&path).unwrap().is_excluded("bad", bad));
    }
}
