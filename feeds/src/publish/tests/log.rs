//! Followers that read only the log of changes, and what its cursors mean.

use super::{super::*, support::*};
use crate::{
    changes::{Bounds, Cursor, Log, Wanted},
    parts::{etag, together},
};
use serde_json::{Value, json, value::RawValue};

#[test]
fn nothing_that_is_published_without_a_difference_is_a_change() {
    let (folder, mut world) = (scratch(), empty());
    change(&mut world, &mut Chance(1));
    publish(folder.path(), &documents_of(&world, at(0)), 0);
    let before = log(folder.path()).end().clone();
    publish(folder.path(), &documents_of(&world, at(1)), 1);
    assert_eq!(log(folder.path()).end(), &before);
    assert_eq!(fs::read_dir(folder.path().join(CURRENT).join(changes::FOLDER)).unwrap().count(), 0);
}

/// Publishes a world with many large roles, and then another in which all are changed.
fn large_change(folder: &Path) -> Cursor {
    let mut world = empty();
    let roles = |content| (0..60).map(move |at| (format!("{at}{}", "x".repeat(100_000)), content));
    world.insert("roles", roles(0).collect());
    publish(folder, &documents_of(&world, at(0)), 0);
    let begin = log(folder).end().clone();
    world.insert("roles", roles(1).collect());
    publish(folder, &documents_of(&world, at(1)), 1);
    begin
}

#[test]
fn a_large_change_is_in_small_segments_and_what_is_skipped_counts_as_read() {
    let folder = scratch();
    let begin = large_change(folder.path());
    let segments = folder.path().join(CURRENT).join(changes::FOLDER);
    let files = names(&segments).into_iter().map(|name| fs::read(segments.join(name)).unwrap());
    let sizes: Vec<usize> =
        files.map(|file| crate::descriptions::unpack(&file).unwrap().len()).collect();
    // The long identifiers are three times in a line.
    assert!(sizes.len() > 2 && sizes.iter().all(|size| *size <= 6 << 20), "{sizes:?}");
    let log = log(folder.path());
    let (mut cursor, mut count) = (begin, 0);
    // The limit is that of two lines, and all but the first lines of a segment are behind others.
    let bounds = Bounds { read: 400_000, ..ALL };
    let mut pages = Vec::new();
    loop {
        let page = log.page(&cursor, &Wanted::default(), bounds).unwrap().unwrap();
        count += page.changes.len();
        pages.push(page.changes.len());
        cursor = page.next;
        if !page.has_more {
            break;
        }
    }
    assert_eq!(count, 61);
    assert!(pages.iter().filter(|count| **count == 1).count() > 30, "{pages:?}");
}

#[test]
fn what_the_log_cannot_carry_is_not_published_and_what_it_carries_is_read() {
    let (folder, mut world) = (scratch(), empty());
    publish(folder.path(), &documents_of(&world, at(0)), 0);
    let mut reader = Reader::new(folder.path());
    let press = Press::open(folder.path()).unwrap();
    world.insert("roles", vec![("x".repeat(changes::MOST_RECORD), 0)]);
    let refused = press.publish(&documents_of(&world, at(1)), &State::default(), Past::Kept, at(1));
    assert!(refused.unwrap_err().to_string().contains("too large"));
    drop(press);
    // The fields besides the records have no limit of their own.
    world.insert("roles", vec![("x".repeat(changes::MOST_RECORD - 100), 0)]);
    let mut files = documents_of(&world, at(2));
    let file = "public-social-signals.json";
    let none: [Box<RawValue>; 0] = [];
    let head = json!({ "_meta": { "count": 0 }, "items": [], "last": "y".repeat(5 << 20) });
    files.insert(file.to_owned(), together(file, &head, &none).unwrap());
    publish(folder.path(), &files, 2);
    assert!(!reader.read(folder.path()));
}

#[test]
fn the_log_is_read_after_its_publication_was_removed_but_not_what_was_forgotten() {
    let (folder, mut world) = (scratch(), empty());
    let (folder, mut chance) = (folder.path(), Chance(7));
    publish(folder, &documents_of(&world, at(0)), 0);
    let begin = log(folder).end().clone();
    change(&mut world, &mut chance);
    publish(folder, &documents_of(&world, at(1)), 1);
    let served = folder.join(CURRENT).canonicalize().unwrap();
    let log = Log::open(&served, log(folder).end().clone()).unwrap();
    let page = || log.page(&begin, &Wanted::default(), ALL).unwrap();
    let before = page();
    for hours in 2..5 {
        change(&mut world, &mut chance);
        publish(folder, &documents_of(&world, at(hours)), hours);
    }
    assert!(!served.exists());
    assert!(before.is_some());
    assert_eq!(page(), before);
    change(&mut world, &mut chance);
    publish_until(folder, &documents_of(&world, at(5)), Past::Forgotten, 5, None);
    assert_eq!(page(), None);
}

#[test]
fn the_first_cursor_of_a_folder_is_not_known_in_another_one() {
    let (mut world, mut begins) = (empty(), Vec::new());
    for hours in [0, 1] {
        let folder = scratch();
        publish(folder.path(), &documents_of(&world, at(hours)), hours);
        let log = log(folder.path());
        begins.push(log.end().clone());
        for cursor in begins.iter().chain([&Cursor::default()]) {
            let page = log.page(cursor, &Wanted::default(), ALL).unwrap();
            assert_eq!(page.is_some(), cursor == log.end(), "{cursor}");
        }
        // Without the link, the folder has nothing published.
        fs::remove_file(folder.path().join(CURRENT)).unwrap();
        change(&mut world, &mut Chance(3));
        publish(folder.path(), &documents_of(&world, at(hours + 5)), hours + 5);
        let page = super::support::log(folder.path()).page(log.end(), &Wanted::default(), ALL);
        assert_eq!(page.unwrap(), None);
    }
}

#[test]
fn changes_name_what_happened_and_can_be_chosen_by_feed_and_record() {
    let (folder, mut world) = (scratch(), empty());
    let record = |name: &str, content| (name.to_owned(), content);
    world.insert("roles", vec![record("a", 0), record("b", 0), record("c", 0)]);
    publish(folder.path(), &documents_of(&world, at(0)), 0);
    let begin = log(folder.path()).end().clone();
    world.insert("roles", vec![record("d", 0), record("b", 1), record("c", 0)]);
    world.insert("people", vec![record("p", 0)]);
    publish(folder.path(), &documents_of(&world, at(1)), 1);
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
        publish(folder.path(), &documents_of(world, at(hours)), hours);
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
