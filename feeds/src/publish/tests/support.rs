//! Invented documents, how they are published, and a reader that follows them.

use super::super::*;
use crate::{
    changes::{Bounds, Cursor, Follower, Log, Page, Wanted, cursor_of},
    parts::{records_of, together},
    record::FEEDS,
};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use std::collections::BTreeMap;

const HOUR: i64 = 3_600_000;
pub(super) const PAGE: Bounds = Bounds { changes: 7, bytes: 2_000, read: 4_000 };
pub(super) const ALL: Bounds = Bounds { changes: 100_000, bytes: 100_000_000, read: 100_000_000 };

/// Numbers without an order, the same in every run.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most.max(1)
    }
}

/// The records of each feed, each with its identifier and its content.
pub(super) type World = BTreeMap<&'static str, Vec<(String, usize)>>;

pub(super) fn change(world: &mut World, chance: &mut Chance) {
    for (feed, records) in world {
        for _ in 0..chance.below(4) {
            let (at, to) = (chance.below(records.len()), chance.below(records.len() + 1));
            match chance.below(5) {
                0 | 1 => records.insert(to, (format!("{feed}\"é_{}", chance.0), 0)),
                2 if !records.is_empty() => records[at].1 += 1,
                3 if !records.is_empty() => drop(records.remove(at)),
                4 if !records.is_empty() => {
                    let record = records.remove(at);
                    records.insert(to.min(records.len()), record);
                }
                _ => {}
            }
        }
    }
}

pub(super) fn documents_of(world: &World, now: Timestamp) -> Documents {
    let mut documents = Documents::new();
    for feed in &FEEDS {
        let records: Vec<Box<RawValue>> = world[feed.id]
            .iter()
            .map(|(id, content)| to_raw_value(&json!({ "id": id, "content": content })).unwrap())
            .collect();
        let mut head = json!({ "_meta": { "count": records.len() } });
        head[records_of(feed.file)] = json!([]);
        head["last"] = json!("field");
        documents.insert(feed.file.to_owned(), together(feed.file, &head, &records).unwrap());
    }
    let index = json!({ "_meta": { "generated_at": now }, "changes": { "cursor": Cursor::default().to_string() } });
    documents.insert(INDEX.to_owned(), format!("{index}\n").into_bytes());
    documents
}

/// A follower of all feeds, which knows the documents only from where it began.
pub(super) struct Reader {
    cursor: Cursor,
    followers: BTreeMap<&'static str, Follower>,
}

impl Reader {
    pub(super) fn new(folder: &Path) -> Self {
        let published = documents(folder).unwrap();
        let follower = |file: &str| Follower::new(file, &published[file]).unwrap();
        Self {
            cursor: cursor_of(&published[INDEX]).unwrap(),
            followers: FEEDS.iter().map(|feed| (feed.id, follower(feed.file))).collect(),
        }
    }

    fn apply(&mut self, page: Page) {
        for change in page.changes {
            let parsed: Value = serde_json::from_str(&change.text).unwrap();
            assert_eq!(parsed["cursor"], change.cursor.to_string());
            self.followers
                .get_mut(parsed["feed"].as_str().unwrap())
                .unwrap()
                .apply(&change.text)
                .unwrap();
        }
        self.cursor = page.next;
    }

    /// Reads all pages, and compares the documents with those that are published. Returns whether it had to
    /// begin again, because its cursor is not known any more.
    pub(super) fn read(&mut self, folder: &Path) -> bool {
        let published = documents(folder).unwrap();
        let log = log(folder);
        loop {
            let Some(page) = log.page(&self.cursor, &Wanted::default(), PAGE).unwrap() else {
                *self = Self::new(folder);
                return true;
            };
            assert!(page.changes.len() <= PAGE.changes);
            let has_more = page.has_more;
            self.apply(page);
            if !has_more {
                break;
            }
        }
        assert_eq!(&self.cursor, log.end());
        for feed in &FEEDS {
            let document = self.followers[feed.id].document().unwrap();
            let (own, public) = (
                String::from_utf8_lossy(&document),
                String::from_utf8_lossy(&published[feed.file]),
            );
            assert_eq!(own, public);
        }
        false
    }
}

pub(super) fn log(folder: &Path) -> Log {
    let publication = folder.join(CURRENT);
    let index = fs::read(publication.join(INDEX)).unwrap();
    Log::open(&publication, cursor_of(&index).unwrap()).unwrap()
}

/// Returns a folder in memory, if there is one: the tests sync thousands of files.
pub(super) fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub(super) fn at(hours: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + hours * HOUR)
}

pub(super) fn empty() -> World {
    FEEDS.iter().map(|feed| (feed.id, Vec::new())).collect()
}

/// Publishes, and is killed after this step.
pub(super) fn publish_until(
    folder: &Path,
    files: &Documents,
    past: Past,
    hours: i64,
    last: Option<Step>,
) {
    let press = Press::open(folder).unwrap();
    let after = |step| match Some(step) == last {
        true => {
            // A draft is not removed by a process that is killed.
            for name in names(&folder.join(VERSIONS)).iter().filter(|name| name.starts_with('.')) {
                let versions = folder.join(VERSIONS);
                fs::rename(versions.join(name), versions.join(format!("{name}-left"))).unwrap();
            }
            Err(io::Error::other("killed"))
        }
        false => Ok(()),
    };
    let done = press.publish_in_steps(files, &State::default(), past, at(hours), &after);
    assert_eq!(done.is_ok(), last.is_none());
}

pub(super) fn publish(folder: &Path, files: &Documents, hours: i64) {
    publish_until(folder, files, Past::Kept, hours, None);
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the lines of all files in a folder and below it, but for tombstones.
pub(super) fn lines(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            all += &lines(&path);
        } else if path.is_file() {
            let mut text = fs::read(&path).unwrap();
            if path.extension().is_some_and(|ending| ending == "gz") {
                text = crate::descriptions::unpack(&text).unwrap();
            }
            let text = String::from_utf8(text).unwrap();
            all.extend(text.lines().filter(|line| !line.contains("\"op\":\"removed\"")));
        }
    }
    all
}

/// Removes a record to which somebody objects, and returns its identifier as it is written.
pub(super) fn object(world: &mut World, chance: &mut Chance) -> Option<String> {
    let people = world.get_mut("people").unwrap();
    let at = chance.below(people.len());
    let removed = (at < people.len()).then(|| people.remove(at).0)?;
    Some(serde_json::to_string(&removed).unwrap())
}
