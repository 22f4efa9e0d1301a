//! Snapshots: the last publication of each day, compressed, for some days. They are beside the
//! publications, because a snapshot never changes.

use crate::{
    descriptions::FOLDER as PARTS,
    document::INDEX,
    files::{found, link, readable, sync_folder},
    parts::etag,
    record::FEEDS,
    timestamp::{Timestamp, days},
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufReader, Read as _, Write as _},
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

/// Keeps a publication as the snapshot of its day, if the next one is of a later day, and removes snapshots
/// that are too old. `folder` is that of the feeds, and `made` is when the publication was made.
pub(crate) fn keep(
    folder: &Path,
    publication: &Path,
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
    for file in documents() {
        let Some(bytes) = found(fs::read(publication.join(file)))? else { continue };
        let packed = File::create(draft.path().join(format!("{file}{PACKED}")))?;
        let mut encoder = GzEncoder::new(packed, Compression::default());
        encoder.write_all(&bytes)?;
        encoder.finish()?.sync_all()?;
    }
    let parts = draft.path().join(PARTS);
    fs::create_dir(&parts)?;
    for part in found(fs::read_dir(publication.join(PARTS)))?.into_iter().flatten() {
        let part = part?;
        link(&part.path(), &parts.join(part.file_name()))?;
    }
    for folder in [&parts, draft.path()] {
        readable(folder)?;
        sync_folder(folder)?;
    }
    fs::rename(draft.keep(), snapshot)?;
    sync_folder(&all)?;
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

/// Removes all snapshots. The empty folder stays, so that copies of it on other hosts become empty too.
pub(crate) fn forget(folder: &Path) -> io::Result<()> {
    let all = folder.join(FOLDER);
    match found(fs::remove_dir_all(&all))? {
        Some(()) => fs::create_dir(&all),
        None => Ok(()),
    }
}

/// Returns the file names of the documents without their parts.
fn documents() -> impl Iterator<Item = &'static str> {
    FEEDS.iter().map(|feed| feed.file).chain([INDEX])
}

/// Returns the days of the snapshots in a folder of feeds, the newest first.
pub fn list(folder: &Path) -> io::Result<Vec<String>> {
    let entries = found(fs::read_dir(folder.join(FOLDER)))?;
    let mut days = Vec::new();
    for entry in entries.into_iter().flatten() {
        days.extend(entry?.file_name().into_string().ok().filter(|name| is_day(name)));
    }
    days.sort_by(|one, other| other.cmp(one));
    Ok(days)
}

/// Opens a document of a snapshot, which is compressed with gzip; `None` if there is none. `file` is its name
/// below `data/`.
pub fn open(folder: &Path, day: &str, file: &str) -> io::Result<Option<File>> {
    let Some(place) = place(day, file) else { return Ok(None) };
    found(File::open(folder.join(FOLDER).join(place)))
}

/// Returns the entity tags of the plain bytes of a snapshot's documents and parts, by their names below
/// `data/`; `None` if there is no snapshot of this day. They are those that its index lists.
pub fn etags(folder: &Path, day: &str) -> io::Result<Option<BTreeMap<String, String>>> {
    #[derive(Deserialize)]
    struct Listed {
        items: Vec<Tagged>,
    }
    #[derive(Deserialize)]
    struct Tagged {
        path: String,
        etag: String,
        #[serde(default)]
        parts: Vec<Tagged>,
    }
    let Some(file) = open(folder, day, INDEX)? else { return Ok(None) };
    let mut index = Vec::new();
    GzDecoder::new(BufReader::new(file)).read_to_end(&mut index)?;
    let Listed { items } = serde_json::from_slice(&index)?;
    let mut etags = BTreeMap::from([(INDEX.to_owned(), etag(&index))]);
    let with_parts = items.into_iter().flat_map(|mut feed| {
        let parts = std::mem::take(&mut feed.parts);
        parts.into_iter().chain([feed])
    });
    for Tagged { path, etag, .. } in with_parts {
        let name = path.split_once("/data/").map_or(&*path, |(_city, name)| name);
        etags.insert(name.to_owned(), etag);
    }
    Ok(Some(etags))
}

/// Returns the path of a document of a snapshot; `None` for what is not a document's name.
fn place(day: &str, file: &str) -> Option<PathBuf> {
    let part = file.strip_prefix(PARTS).and_then(|name| name.strip_prefix('/'));
    let is_part = part.is_some_and(|name| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        name.strip_suffix(".json").is_some_and(|stem| stem.bytes().all(is_plain))
    });
    let known = is_day(day) && (is_part || documents().any(|known| known == file));
    known.then(|| Path::new(day).join(format!("{file}{PACKED}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::MetadataExt as _;
    use tempfile::tempdir;

    const PART: &str = "parts/roles-01.json";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// Returns the folder of a publication.
    fn publication(folder: &Path, made: &str) -> PathBuf {
        let publication = folder.join("versions").join(made);
        fs::create_dir_all(publication.join(PARTS)).unwrap();
        fs::write(publication.join("sf-people.json"), made).unwrap();
        fs::write(publication.join("state.json"), "secret").unwrap();
        fs::write(publication.join(format!("{PART}{PACKED}")), made).unwrap();
        publication
    }

    fn kept(folder: &Path, made: &str, now: &str) {
        keep(folder, &publication(folder, made), at(made), at(now)).unwrap();
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
        let opened = |file: &str| open(folder, "2026-11-01", file).unwrap();
        let mut people = String::new();
        let packed = opened("sf-people.json").unwrap();
        GzDecoder::new(packed).read_to_string(&mut people).unwrap();
        assert_eq!(people, "2026-11-01T23:00:00Z");
        assert!(opened(PART).is_some());
        assert!(opened("sf-events.json").is_none());
        kept(folder, "2026-11-15T10:00:00Z", "2026-11-16T00:00:00Z");
        assert_eq!(list(folder).unwrap(), ["2026-11-15", "2026-11-02"]);
    }

    #[test]
    fn a_snapshot_has_the_parts_that_the_publication_has_on_the_disk() {
        let folder = tempdir().unwrap();
        let folder = folder.path();
        let made = "2026-11-01T08:00:00Z";
        kept(folder, made, "2026-11-02T09:00:00Z");
        let published = folder.join("versions").join(made).join(format!("{PART}{PACKED}"));
        let part = open(folder, "2026-11-01", PART).unwrap().unwrap();
        assert_eq!(part.metadata().unwrap().ino(), fs::metadata(published).unwrap().ino());
        let files = fs::read_dir(folder.join(FOLDER).join("2026-11-01")).unwrap();
        assert_eq!(files.count(), 2, "the people and the folder of parts");
    }

    #[test]
    fn the_entity_tags_of_a_snapshot_are_those_of_its_index() {
        let folder = tempdir().unwrap();
        let folder = folder.path();
        let publication = publication(folder, "2026-11-01T08:00:00Z");
        let part = json!({ "path": format!("/map/data/{PART}"), "etag": "\"p\"" });
        let index = json!({ "items": [{ "path": "/map/data/sf-job-roles.json", "etag": "\"r\"", "parts": [part] }] });
        fs::write(publication.join(INDEX), index.to_string()).unwrap();
        keep(folder, &publication, at("2026-11-01T08:00:00Z"), at("2026-11-02T00:00:00Z")).unwrap();
        let etags = etags(folder, "2026-11-01").unwrap().unwrap();
        let own = etag(index.to_string().as_bytes());
        let expected = [(INDEX, &*own), (PART, "\"p\""), ("sf-job-roles.json", "\"r\"")];
        assert_eq!(etags, expected.map(|(name, tag)| (name.to_owned(), tag.to_owned())).into());
        for day in ["2026-11-02", "../versions"] {
            assert_eq!(super::etags(folder, day).unwrap(), None, "{day}");
        }
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
