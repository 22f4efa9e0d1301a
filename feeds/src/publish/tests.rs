//! Followers that read only the log of changes, while publications are made, interrupted and taken back.

use super::*;
use crate::{
    changes::{Bounds, Cursor, Follower, Log, Page, Wanted, cursor_of},
    parts::{etag, records_of, together},
    record::FEEDS,
};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use std::collections::BTreeMap;

const HOUR: i64 = 3_600_000;
const PAGE: Bounds = Bounds { changes: 7, bytes: 2_000, read: 4_000 };
const ALL: Bounds = Bounds { changes: 100_000, bytes: 100_000_000, read: 100_000_000 };

/// Numbers without an order, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most.max(1)
    }
}

/// The records of each feed, each with its identifier and its content.
type World = BTreeMap<&'static str, Vec<(String, usize)>>;

fn change(world: &mut World, chance: &mut Chance) {
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

fn documents_of(world: &World, now: Timestamp) -> Documents {
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
struct Reader {
    cursor: Cursor,
    followers: BTreeMap<&'static str, Follower>,
}

impl Reader {
    fn new(folder: &Path) -> Self {
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

    /// Reads all pages, and compares the documents with those that are published.
    fn read(&mut self, folder: &Path) {
        let published = documents(folder).unwrap();
        let log = log(folder);
        loop {
            let page = log.page(&self.cursor, &Wanted::default(), PAGE).unwrap().unwrap();
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
    }
}

fn log(folder: &Path) -> Log {
    let publication = folder.join(CURRENT);
    let index = fs::read(publication.join(INDEX)).unwrap();
    Log::open(&publication, cursor_of(&index).unwrap()).unwrap()
}

/// Returns a folder in memory, if there is one: the tests sync thousands of files.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn at(hours: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + hours * HOUR)
}

fn empty() -> World {
    FEEDS.iter().map(|feed| (feed.id, Vec::new())).collect()
}

/// Publishes like `Press::publish`, but is killed after some of the steps.
fn publish(folder: &Path, files: &Documents, hours: i64, steps: usize) {
    let press = Press::open(folder).unwrap();
    if steps == 0 {
        let half = folder.join(VERSIONS).join(format!(".draft-{hours}"));
        fs::create_dir(&half).unwrap();
        fs::write(half.join(INDEX), "{").unwrap();
        return;
    }
    let (draft, name) = press.draft(files, &State::default(), Past::Kept, at(hours)).unwrap();
    match steps {
        1 => return drop(draft.keep()),
        _ => press.settle(draft, &name).unwrap(),
    }
    if steps > 2 {
        press.replace_link(&name).unwrap();
    }
    if steps > 3 {
        press.sweep(&name, KEPT).unwrap();
    }
}

#[test]
fn a_follower_of_200_builds_that_may_be_killed_has_the_same_documents() {
    for seed in 0..3 {
        let (folder, mut chance) = (scratch(), Chance(seed));
        let mut world = empty();
        change(&mut world, &mut chance);
        publish(folder.path(), &documents_of(&world, at(0)), 0, 4);
        let mut eager = Reader::new(folder.path());
        let mut lazy = Reader::new(folder.path());
        for hours in 1..=200 {
            change(&mut world, &mut chance);
            let files = documents_of(&world, at(hours));
            let steps = chance.below(6);
            publish(folder.path(), &files, hours, steps.min(4));
            eager.read(folder.path());
            if chance.below(20) == 0 {
                lazy.read(folder.path());
            }
        }
        publish(folder.path(), &documents_of(&world, at(201)), 201, 4);
        eager.read(folder.path());
        lazy.read(folder.path());
        let names = fs::read_dir(folder.path().join(VERSIONS)).unwrap();
        assert_eq!(names.count(), KEPT);
    }
}

#[test]
fn nothing_that_is_published_without_a_difference_is_a_change() {
    let (folder, mut world) = (scratch(), empty());
    change(&mut world, &mut Chance(1));
    publish(folder.path(), &documents_of(&world, at(0)), 0, 4);
    let before = log(folder.path()).end().clone();
    publish(folder.path(), &documents_of(&world, at(1)), 1, 4);
    assert_eq!(log(folder.path()).end(), &before);
    assert_eq!(fs::read_dir(folder.path().join(CURRENT).join(changes::FOLDER)).unwrap().count(), 0);
}

#[test]
fn changes_name_what_happened_and_can_be_chosen_by_feed_and_record() {
    let (folder, mut world) = (scratch(), empty());
    let record = |name: &str, content| (name.to_owned(), content);
    world.insert("roles", vec![record("a", 0), record("b", 0), record("c", 0)]);
    publish(folder.path(), &documents_of(&world, at(0)), 0, 4);
    let begin = log(folder.path()).end().clone();
    world.insert("roles", vec![record("d", 0), record("b", 1), record("c", 0)]);
    world.insert("people", vec![record("p", 0)]);
    publish(folder.path(), &documents_of(&world, at(1)), 1, 4);
    let log = log(folder.path());
    let read = |wanted: Wanted| {
        let page = log.page(&begin, &wanted, ALL).unwrap().unwrap();
        assert_eq!((page.next, page.has_more), (log.end().clone(), false));
        page.changes
            .iter()
            .map(|change| serde_json::from_str(&change.text).unwrap())
            .collect::<Vec<Value>>()
    };
    let roles = read(Wanted { feeds: vec!["roles".to_owned()], id: None });
    let ops: Vec<_> = roles
        .iter()
        .map(|change| (change["op"].as_str().unwrap(), &change["id"], &change["after"]))
        .collect();
    assert_eq!(
        ops,
        [
            ("removed", &json!("a"), &Value::Null),
            ("added", &json!("d"), &Value::Null),
            ("changed", &json!("b"), &json!("d")),
            ("document", &Value::Null, &Value::Null),
        ]
    );
    assert!(roles[0].get("record").is_none() && roles[0].get("after").is_none());
    assert_eq!(roles[2]["record"], json!({ "id": "b", "content": 1 }));
    assert_eq!(roles[3]["etag"], etag(&documents(folder.path()).unwrap()["sf-job-roles.json"]));
    assert_eq!(read(Wanted { feeds: Vec::new(), id: Some("p".to_owned()) }).len(), 1);
    assert_eq!(read(Wanted::default()).len(), 6);
}

#[test]
fn an_old_cursor_and_that_of_an_abandoned_publication_are_not_known() {
    let (folder, mut world) = (scratch(), empty());
    let build = |hours: i64, world: &World| {
        publish(folder.path(), &documents_of(world, at(hours)), hours, 4);
        let link = fs::read_link(folder.path().join(CURRENT)).unwrap();
        (log(folder.path()).end().clone(), link)
    };
    let with = |world: &mut World, id: &str| {
        world.get_mut("roles").unwrap().push((id.to_owned(), 0));
    };
    let (begin, first) = build(0, &world);
    with(&mut world, "a");
    let (abandoned, _) = build(24, &world);
    // The operator goes back, and the same numbers are given to other changes.
    let next = folder.path().join("next");
    std::os::unix::fs::symlink(first, &next).unwrap();
    fs::rename(next, folder.path().join(CURRENT)).unwrap();
    with(&mut world, "b");
    let (second, _) = build(2 * 24, &world);
    with(&mut world, "c");
    let (third, _) = build(31 * 24, &world);
    let kept = log(folder.path());
    let page = |cursor: &Cursor| kept.page(cursor, &Wanted::default(), ALL).unwrap();
    assert!(page(&begin).is_some(), "its changes are 29 days old");
    assert_eq!(page(&abandoned), None);
    assert!(page(&second).is_some());
    assert_eq!(page(&Cursor { seq: third.seq + 1, ..third.clone() }), None);
    with(&mut world, "d");
    build(33 * 24, &world);
    let kept = log(folder.path());
    assert_eq!(kept.page(&begin, &Wanted::default(), ALL).unwrap(), None, "expired");
    assert_eq!(kept.begin(), &second);
}
