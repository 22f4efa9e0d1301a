//! Snapshots: the last publication of each day, compressed, for some days. They are beside the
//! publications, because a snapshot never changes.

use crate::{
    descriptions::{FOLDER as PARTS, is_part},
    parts::Documents,
    record::FEEDS,
    timestamp::{Timestamp, days},
};
use flate2::{Compression, write::GzEncoder};
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

/// The folder of all snapshots, and the file name of their list as it is served.
pub const FOLDER: &str = "snapshots";
/// How many days they are kept.
pub const KEPT_DAYS: u64 = 14;
const PACKED: &str = ".gz";

/// Returns the day of an instant, in UTC, such as `2026-11-28`.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// Returns whether this is the name of a snapshot.
fn is_day(name: &str) -> bool {
    let matches = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    name.len() == 10 && name.bytes().enumerate().all(matches)
}

/// Keeps the current publication as the snapshot of its day, if the next one is of a later day, and removes
/// snapshots that are too old. `made` is when it was made.
pub(crate) fn keep(
    folder: &Path,
    documents: impl FnOnce() -> io::Result<Documents>,
    made: Timestamp,
    now: Timestamp,
) -> io::Result<()> {
    let all = folder.join(FOLDER);
    let snapshot = all.join(day(made));
    if day(made) >= day(now) || snapshot.exists() {
        return Ok(());
    }
    fs::create_dir_all(&all)?;
    let draft = tempfile::Builder::new().prefix(".draft-").tempdir_in(&all)?;
    fs::create_dir(draft.path().join(PARTS))?;
    for (name, bytes) in documents()? {
        if is_part(&name) {
            fs::write(draft.path().join(&name), bytes)?;
            continue;
        }
        let file = File::create(draft.path().join(format!("{name}{PACKED}")))?;
        let mut encoder = GzEncoder::new(file, Compression::default());
        encoder.write_all(&bytes)?;
        encoder.finish()?.sync_all()?;
    }
    readable(&draft.path().join(PARTS))?;
    readable(draft.path())?;
    fs::rename(draft.keep(), snapshot)?;
    File::open(&all)?.sync_all()?;
    let oldest = day(now.before(days(KEPT_DAYS)));
    for entry in fs::read_dir(&all)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') || (is_day(&name) && name < oldest) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Removes all snapshots.
pub(crate) fn forget(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(FOLDER)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Lets everybody read a finished draft: the host that serves it may run as another user.
pub(crate) fn readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

/// Returns the days of the snapshots in a folder of feeds, the newest first.
pub fn list(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder.join(FOLDER)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut days = Vec::new();
    for entry in entries {
        days.extend(entry?.file_name().into_string().ok().filter(|name| is_day(name)));
    }
    days.sort_by(|one, other| other.cmp(one));
    Ok(days)
}

/// Returns a document of a snapshot, compressed with gzip; `None` if there is none. `file` is its name below
/// `/map/data/`.
pub fn packed(folder: &Path, day: &str, file: &str) -> io::Result<Option<Vec<u8>>> {
    let Some(place) = place(day, file) else { return Ok(None) };
    match fs::read(folder.join(FOLDER).join(place)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the path of a document of a snapshot; `None` for what is not a document's name.
fn place(day: &str, file: &str) -> Option<PathBuf> {
    let is_document = file == "agent-index.json" || FEEDS.iter().any(|feed| feed.file == file);
    let part = file.strip_prefix(PARTS).and_then(|name| name.strip_prefix('/'));
    let is_part = part.is_some_and(|name| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        name.strip_suffix(".json").is_some_and(|stem| stem.bytes().all(is_plain))
    });
    let known = is_day(day) && (is_document || is_part);
    known.then(|| Path::new(day).join(format!("{file}{PACKED}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptions::unpack;
    use tempfile::tempdir;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn kept(folder: &Path, made: &str, now: &str) {
        let documents = || {
            let part = ("parts/roles-01.json.gz".to_owned(), made.as_bytes().to_vec());
            Ok([("sf-people.json".to_owned(), made.as_bytes().to_vec()), part].into())
        };
        keep(folder, documents, at(made), at(now)).unwrap();
    }

    #[test]
    fn the_last_publication_of_a_day_is_kept_for_two_weeks() {
        let folder = tempdir().unwrap();
        let folder = folder.path();
        kept(folder, "2026-11-01T08:00:00Z", "2026-11-01T09:00:00Z");
        assert!(list(folder).unwrap().is_empty());
        kept(folder, "2026-11-01T23:00:00Z", "2026-11-02T00:00:00Z");
        kept(folder, "2026-11-02T10:00:00Z", "2026-11-04T00:00:00Z");
        assert_eq!(list(folder).unwrap(), ["2026-11-02", "2026-11-01"]);
        let people = packed(folder, "2026-11-01", "sf-people.json").unwrap().unwrap();
        assert_eq!(unpack(&people).unwrap(), b"2026-11-01T23:00:00Z");
        assert!(packed(folder, "2026-11-01", "parts/roles-01.json").unwrap().is_some());
        assert_eq!(packed(folder, "2026-11-01", "sf-events.json").unwrap(), None);
        kept(folder, "2026-11-15T10:00:00Z", "2026-11-16T00:00:00Z");
        assert_eq!(list(folder).unwrap(), ["2026-11-15", "2026-11-02"]);
    }

    #[test]
    fn only_documents_of_snapshots_have_a_place() {
        assert!(place("2026-11-01", "sf-people.json").is_some());
        for (day, file) in [
            ("2026-11-01", "state.json"),
            ("2026-11-01", "../../state.json"),
            ("2026-11-01", "parts/../state.json"),
            ("2026-11-01", "parts//etc/passwd"),
            ("2026-11-01", "parts/.json.gz"),
            ("../current", "sf-people.json"),
            ("..........", "sf-people.json"),
            ("", "sf-people.json"),
        ] {
            assert_eq!(place(day, file), None, "{day} {file}");
        }
    }
}
