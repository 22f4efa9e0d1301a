//! Notes in a file of the data folder which desired versions this node has installed, so that each is
//! installed once: a file that is changed or removed in the catalog folder afterwards stays so until there is
//! another desired version.

use crate::refusal::LoadError;
use portolan_store::{DesiredVersion, create_private_folder};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The number of times that the host must have ended while it installed a version before the version is left
/// out.
const MAX_ENDED_INSTALLATIONS: u32 = 2;
/// After how long an installation that failed for a reason outside of the component is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// The versions that this node has installed.
#[derive(Debug)]
pub(crate) struct InstallationNote {
    path: PathBuf,
    content: Content,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    /// The last installed version of each capability: the number of its entry, and its digest, because a
    /// database that was restored from a backup assigns some numbers again.
    installed: BTreeMap<String, (i64, String)>,
    /// How often the installation of a version was begun and did not end, by the number of its entry.
    begun: BTreeMap<i64, u32>,
}

/// A desired version that this node cannot install.
#[derive(Debug)]
pub(crate) struct Unapplied {
    pub(crate) seq: i64,
    pub(crate) file: String,
    pub(crate) error: LoadError,
    since: Instant,
}

impl InstallationNote {
    /// Reads the note. If there is none that can be read, nothing counts as installed.
    pub(crate) fn open(path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_default();
        let content = serde_json::from_slice(&text).unwrap_or_default();
        Self { path: path.to_owned(), content }
    }

    pub(crate) fn has_installed(&self, desired: &DesiredVersion) -> bool {
        let installed = self.content.installed.get(&desired.capability_id);
        installed.is_some_and(|(seq, digest)| *seq == desired.seq && *digest == desired.digest)
    }

    /// Notes that an installation begins. Returns `false` if it must not, because the host has ended twice
    /// during it.
    pub(crate) fn begin(&mut self, seq: i64) -> io::Result<bool> {
        let begun = self.content.begun.entry(seq).or_default();
        if *begun >= MAX_ENDED_INSTALLATIONS {
            return Ok(false);
        }
        *begun += 1;
        self.write()?;
        Ok(true)
    }

    /// Notes that an installation that was begun did not end the host.
    pub(crate) fn finish(&mut self, seq: i64) -> io::Result<()> {
        match self.content.begun.remove(&seq) {
            Some(_) => self.write(),
            None => Ok(()),
        }
    }

    pub(crate) fn record_installed(&mut self, id: &str, seq: i64, digest: &str) -> io::Result<()> {
        self.content.installed.insert(id.to_owned(), (seq, digest.to_owned()));
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        create_private_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&self.content)?)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

impl Unapplied {
    pub(crate) fn new(desired: DesiredVersion, error: LoadError) -> Self {
        Self { seq: desired.seq, file: desired.file, error, since: Instant::now() }
    }

    /// Returns whether it is time for another attempt. Only a failure of the database or the folder can end
    /// by itself.
    pub(crate) fn is_due(&self) -> bool {
        let is_transient =
            matches!(self.error, LoadError::Store(_) | LoadError::FolderNotWritable(_));
        is_transient && self.since.elapsed() >= RETRY
    }

    /// Returns whether a decision of the operator, or the removal of another file, can end the failure.
    pub(crate) fn can_be_resolved(&self) -> bool {
        self.error.can_be_decided()
            || matches!(
                self.error,
                LoadError::DuplicateId { .. }
                    | LoadError::DuplicateToolName { .. }
                    | LoadError::FileTaken { .. }
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_store::{Arrival, VersionState};

    #[test]
    fn installed_versions_are_remembered_and_those_that_end_the_host_are_excluded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        let desired = |seq| DesiredVersion {
            seq,
            capability_id: "weather".to_owned(),
            digest: String::new(),
            file: "weather.wasm".to_owned(),
            arrival: Arrival::Published,
            state: VersionState::Accepted,
        };
        let mut note = InstallationNote::open(&path);
        assert!(!note.has_installed(&desired(3)));
        assert!(note.begin(3).unwrap());
        note.finish(3).unwrap();
        note.record_installed("weather", 3, "").unwrap();
        let mut note = InstallationNote::open(&path);
        assert!(note.has_installed(&desired(3)) && !note.has_installed(&desired(4)));
        assert!(note.begin(4).unwrap());
        assert!(InstallationNote::open(&path).begin(4).unwrap());
        assert!(!InstallationNote::open(&path).begin(4).unwrap());
    }
}
