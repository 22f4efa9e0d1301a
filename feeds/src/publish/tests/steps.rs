//! Publications that are interrupted, and what is left of them.

use super::{super::*, support::*};
use std::collections::BTreeMap;

#[test]
fn builds_may_be_killed_at_any_step_and_followers_have_the_same_documents() {
    const STEPS: [Step; 5] =
        [Step::Drafted, Step::Settled, Step::PastHandled, Step::Linked, Step::Swept];
    for seed in 0..3 {
        let (folder, mut chance) = (scratch(), Chance(seed));
        let folder = folder.path();
        let mut world = empty();
        change(&mut world, &mut chance);
        publish(folder, &documents_of(&world, at(0)), 0);
        let (mut eager, mut lazy) = (Reader::new(folder), Reader::new(folder));
        // The objection that is on the list and not published yet, and those that are.
        let (mut waiting, mut objected) = (None, Vec::new());
        let (mut is_forgotten, mut had_snapshots) = (false, false);
        for hours in 1..=200 {
            change(&mut world, &mut chance);
            if waiting.is_none() && chance.below(9) == 0 {
                waiting = object(&mut world, &mut chance);
            }
            let past = if waiting.is_some() { Past::Forgotten } else { Past::Kept };
            let files = documents_of(&world, at(hours));
            let last = STEPS.get(chance.below(9)).copied();
            publish_until(folder, &files, past, hours, last);
            if last.is_none_or(|step| step == Step::Linked || step == Step::Swept)
                && let Some(id) = waiting.take()
            {
                is_forgotten = true;
                if last == Some(Step::Linked) {
                    drop(Press::open(folder).unwrap());
                }
                objected.push(id);
                let left = lines(folder);
                assert!(!objected.iter().any(|id| left.contains(id)), "{hours}: {objected:?}");
            }
            assert!(!eager.read(folder), "it knows the publication before");
            if chance.below(20) == 0 {
                let begins_again = lazy.read(folder);
                assert!(!begins_again || is_forgotten);
                is_forgotten = false;
            }
            had_snapshots |= !snapshots::list(folder).unwrap().is_empty();
            // What is left over does not pile up.
            drop(Press::open(folder).unwrap());
            assert!(names(&folder.join(VERSIONS)).len() <= 2);
        }
        publish(folder, &documents_of(&world, at(201)), 201);
        assert!(objected.len() > 5, "{}", objected.len());
        eager.read(folder);
        lazy.read(folder);
        assert_eq!(names(&folder.join(VERSIONS)).len(), 2);
        assert!(had_snapshots);
    }
}

#[test]
fn half_a_draft_is_removed() {
    let (folder, world) = (scratch(), empty());
    publish(folder.path(), &documents_of(&world, at(0)), 0);
    let half = folder.path().join(VERSIONS).join(".draft-x");
    fs::create_dir(&half).unwrap();
    fs::write(half.join(INDEX), "{").unwrap();
    drop(Press::open(folder.path()).unwrap());
    assert!(!half.exists() && folder.path().join(CURRENT).exists());
}

#[test]
fn a_publication_without_a_link_is_not_removed() {
    let (folder, world) = (scratch(), empty());
    publish(folder.path(), &documents_of(&world, at(0)), 0);
    publish(folder.path(), &documents_of(&world, at(1)), 1);
    fs::remove_file(folder.path().join(CURRENT)).unwrap();
    drop(Press::open(folder.path()).unwrap());
    assert_eq!(names(&folder.path().join(VERSIONS)).len(), 2);
}

#[test]
fn a_snapshot_that_cannot_be_kept_does_not_stop_a_publication() {
    let (folder, world) = (scratch(), empty());
    publish(folder.path(), &documents_of(&world, at(0)), 0);
    fs::write(folder.path().join(snapshots::FOLDER), "not a folder").unwrap();
    for day in 1..4 {
        let press = Press::open(folder.path()).unwrap();
        let files = documents_of(&world, at(day * 24));
        let printed = press.publish(&files, &State::default(), Past::Kept, at(day * 24)).unwrap();
        assert!(printed.no_snapshot.is_some());
        assert_eq!(
            press.folder.join(CURRENT).canonicalize().unwrap(),
            printed.folder.canonicalize().unwrap()
        );
        assert_eq!(names(&folder.path().join(VERSIONS)).len(), 2);
    }
}

#[test]
fn only_its_owner_reads_the_state() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, world) = (scratch(), empty());
    let press = Press::open(folder.path()).unwrap();
    let origin = crate::state::Origin {
        sources: "url = \"https://api.example/feed?key=SECRET\"".to_owned(),
        corrections: String::new(),
        roads: crate::record::Roads::of_host("", None),
    };
    let gone = BTreeMap::from([("rol_1".to_owned(), at(0))]);
    let state = State { origin: Some(origin), gone: gone.clone(), ..State::default() };
    press.publish(&documents_of(&world, at(0)), &state, Past::Kept, at(0)).unwrap();
    let current = folder.path().join(CURRENT);
    for name in names(&current) {
        let path = current.join(name);
        let is_open = fs::metadata(&path).unwrap().permissions().mode() & 0o077 != 0;
        let has_secret = path.is_file() && fs::read_to_string(&path).unwrap().contains("SECRET");
        assert_eq!(is_open, !has_secret, "{}", path.display());
    }
    assert_eq!(not_published(folder.path()).unwrap().gone, gone);
}
