//! Remembers which components cannot be compiled or do not describe themselves, and why, so that the host
//! does not compile such a file again at its next start, or when the file is copied.
//!
//! A note is valid for one content, under one version of the host and its engine and the same limits, and for
//! a day, because a busy machine may have been the reason.

use crate::{
    known_failure::{Kind, KnownFailure},
    refusal::LoadError,
};
use portolan_sandbox::{CompileError, Sandbox};
use portolan_store::create_private_folder;
use portolan_vocabulary::{Digest, Timestamp, one_line};
use std::{
    collections::BTreeMap,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// How long a note is valid.
const NOTE_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum number of notes, and of bytes of the text of each.
const MAX_NOTES: usize = 256;
const TEXT_BYTES: usize = 2_000;

/// The notes, in a file of the data folder.
#[derive(Debug)]
pub(super) struct Failures {
    path: PathBuf,
    notes: Mutex<BTreeMap<String, KnownFailure>>,
}

/// Returns the kind of a refusal that is remembered; `None` if it is found out fast or is not the component's
/// fault.
fn remembered_kind(error: &LoadError) -> Option<Kind> {
    match error {
        LoadError::Compile(CompileError::Invalid(_)) => Some(Kind::Invalid),
        LoadError::Compile(CompileError::OutOfTime(_)) => Some(Kind::CompileTimeout),
        LoadError::Compile(CompileError::Crashed(_)) => Some(Kind::CompileFailed),
        LoadError::Describe(error) if error.is_host_failure() => None,
        LoadError::Describe(error) if error.is_too_large() => Some(Kind::DescriptionTooLarge),
        LoadError::Describe(error) if error.has_last_words() => Some(Kind::DescribeTrapped),
        LoadError::Describe(_) => Some(Kind::Describe),
        _ => None,
    }
}

/// Returns the conditions beside the component on which failures depend.
pub(super) fn conditions(sandbox: &Sandbox) -> String {
    let limits = sandbox.limits();
    format!(
        "{} {} {} {} {}",
        env!("CARGO_PKG_VERSION"),
        sandbox.compatibility(),
        limits.compile_time_ms,
        limits.call_wall_time_ms,
        limits.call_output_bytes
    )
}

impl Failures {
    /// Reads the notes. A file that cannot be read or parsed counts as empty.
    pub(super) fn open(path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_default();
        let notes = serde_json::from_slice(&text).unwrap_or_default();
        Self { path: path.to_owned(), notes: Mutex::new(notes) }
    }

    /// Returns why a component failed before, if the note is valid under these conditions.
    pub(super) fn find(
        &self,
        digest: Digest,
        conditions: &str,
        now: Timestamp,
    ) -> Option<KnownFailure> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = notes.get(&digest.hex())?;
        let is_valid = known.conditions == conditions && known.noted_at.plus(NOTE_LIFETIME) > now;
        is_valid.then(|| known.clone())
    }

    /// Notes a refusal if it is one that is remembered.
    pub(super) fn note(
        &self,
        digest: Digest,
        conditions: String,
        error: &LoadError,
        now: Timestamp,
    ) -> io::Result<()> {
        let Some(kind) = remembered_kind(error) else { return Ok(()) };
        let message = one_line(&error.to_string(), TEXT_BYTES);
        let known = KnownFailure { kind, message, conditions, noted_at: now };
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.retain(|_, known| known.noted_at.plus(NOTE_LIFETIME) > now);
        notes.insert(digest.hex(), known);
        while notes.len() > MAX_NOTES {
            let oldest = notes.iter().min_by_key(|(_, known)| known.noted_at);
            let Some(oldest) = oldest.map(|(digest, _)| digest.clone()) else { break };
            notes.remove(&oldest);
        }
        self.write(&notes)
    }

    fn write(&self, notes: &BTreeMap<String, KnownFailure>) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        create_private_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(notes)?)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn timeout() -> LoadError {
        LoadError::Compile(CompileError::OutOfTime(7))
    }

    #[test]
    fn a_failure_is_known_under_its_conditions_for_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/failures");
        let (slow, other) = (Digest::of(b"slow"), Digest::of(b"other"));
        Failures::open(&path).note(slow, "these".to_owned(), &timeout(), NOW).unwrap();
        let failures = Failures::open(&path);
        let known = failures.find(slow, "these", NOW).unwrap();
        assert_eq!(known.kind, Kind::CompileTimeout);
        assert!(known.to_string().contains("longer than 7 ms"), "{known}");
        assert_eq!(failures.find(slow, "those", NOW), None);
        assert_eq!(failures.find(other, "these", NOW), None);
        assert_eq!(failures.find(slow, "these", NOW.plus(NOTE_LIFETIME)), None);
    }

    #[test]
    fn failures_of_the_host_are_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let failures = Failures::open(&folder.path().join("failures"));
        let digest = Digest::of(b"unlucky");
        let full = io::Error::from(io::ErrorKind::StorageFull);
        for error in [LoadError::Compile(CompileError::Host(full)), LoadError::Empty] {
            failures.note(digest, "these".to_owned(), &error, NOW).unwrap();
        }
        assert_eq!(failures.find(digest, "these", NOW), None);
    }

    #[test]
    fn the_oldest_of_too_many_failures_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let failures = Failures::open(&folder.path().join("failures"));
        let digest = |number: usize| Digest::of(&number.to_le_bytes());
        for number in 0..=MAX_NOTES {
            let at = NOW.plus(Duration::from_secs(number as u64));
            failures.note(digest(number), "these".to_owned(), &timeout(), at).unwrap();
        }
        assert_eq!(failures.find(digest(0), "these", NOW), None);
        assert!(failures.find(digest(1), "these", NOW).is_some());
        assert_eq!(Failures::open(&failures.path).notes.into_inner().unwrap().len(), MAX_NOTES);
    }
}
