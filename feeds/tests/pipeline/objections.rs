//! Objections: what somebody objects to is in no document, at once and in every later build.

use crate::support::{Answer, BOARD, BOARD_PATH, City, at, news, ok};
use portolan_feeds::{
    BuildError, Objection, ObjectionKind, Objections, Timestamp, check,
    descriptions::{FOLDER, unpack},
    gather::Progress,
    not_published,
    publish::Press,
    republish,
};
use serde_json::{Value, json};
use std::{cell::Cell, path::Path, time::Duration};

fn objection(kind: ObjectionKind, matched: &str) -> Objection {
    let date = Timestamp::from_millis(0);
    Objection { kind, matched: matched.to_owned(), reason: "asked".to_owned(), date }
}

fn add(folder: &Path, kind: ObjectionKind, matched: &str) {
    assert!(Objections::add(folder, &objection(kind, matched)).unwrap());
}

/// A city with a directory of founders, news about them, and an open role.
async fn city() -> (City, portolan_feeds::Sources) {
    let city = City::open().await;
    let directory = json!({ "companies": [{
        "name": "Copperleaf Robotics", "slug": "copperleaf", "url": "https://harbour.example/copperleaf",
        "founders": [
            { "fullName": "José Maren", "title": "CEO", "founderBio": "José Maren built Copperleaf with Ada Bell." },
            { "fullName": "Ada Bell", "title": "CTO", "founderBio": "Ada met Jose Maren at sea." },
        ],
    }]});
    city.registry.plays("/directory", [ok("", directory.to_string())]);
    city.paper.plays(
        "/news",
        [ok(
            "",
            news(&[
                (
                    "Jose Maren of Copperleaf Robotics speaks",
                    "https://paper.example/jose-maren",
                    "2026-11-20",
                ),
                (
                    "Copperleaf Robotics raises $5M seed round",
                    "https://paper.example/round",
                    "2026-11-20",
                ),
            ]),
        )],
    );
    let board = BOARD
        .replace("Build.", "Build with <b>José</b> Maren.")
        .replace("Backend Engineer", "Assistant to Jose Maren");
    city.board.plays(BOARD_PATH, [ok("", board)]);
    let text = city.sources().text.replace("opt_out_url = \"https://map.example/opt-out\"", "");
    let directory = format!(
        "\n[[directory]]\nid = \"harbour\"\nname = \"Harbour\"\nurl = \"{}/directory\"\n",
        city.registry.origin()
    );
    let sources = portolan_feeds::Sources::parse(&(text + &directory), None).unwrap();
    (city, sources)
}

/// Returns all documents in the folder, without the state.
fn everything(folder: &Path) -> String {
    let files = std::fs::read_dir(folder.join("current")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let is_document = |file: &std::path::PathBuf| {
        file.extension().is_some_and(|ending| ending == "json") && !file.ends_with("state.json")
    };
    let files = files.filter(is_document);
    let texts = files.map(|file| std::fs::read_to_string(file).unwrap());
    let parts = std::fs::read_dir(folder.join("current").join(FOLDER)).unwrap();
    let parts = parts.map(|part| unpack(&std::fs::read(part.unwrap().path()).unwrap()).unwrap());
    texts.chain(parts.map(|part| String::from_utf8(part).unwrap())).collect()
}

fn count(city: &City, file: &str) -> usize {
    let document = city.document(file);
    let field = if file == "sf-live-targets.json" { "features" } else { "items" };
    document[field].as_array().unwrap().len()
}

#[tokio::test]
async fn a_person_who_objects_is_named_nowhere_at_once_and_after_the_next_build() {
    let (mut city, sources) = city().await;
    let folder = city.folder.path().to_owned();
    portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    let before = everything(&folder);
    assert!(before.contains("José Maren") && before.contains("jose-maren"), "{before}");
    let person = city.document("sf-people.json")["items"][0].clone();
    assert_eq!(person["opt_out_url"], "https://map.example/map/objection");
    let asked = city.registry.asked().len() + city.paper.asked().len();

    add(&folder, ObjectionKind::Person, "JOSE MAREN");
    republish(&folder, crate::support::at(1), &|_| {}).unwrap();
    assert_eq!(city.registry.asked().len() + city.paper.asked().len(), asked);
    for day in 2..4 {
        let after = everything(&folder).to_lowercase();
        for trace in ["maren", "jose-"] {
            assert!(!after.contains(trace), "{trace}: {after}");
        }
        assert_eq!(check(&folder).unwrap(), []);
        assert_eq!(count(&city, "sf-people.json"), 1);
        assert_eq!(
            city.document("sf-people.json")["items"][0]["public_bio"],
            "Ada met [removed] at sea."
        );
        assert_eq!(count(&city, "sf-events.json"), 3, "the news stays, without the name");
        city.options.now = crate::support::at(day);
        portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    }
    // The publication before the objection cannot be brought back.
    let versions = std::fs::read_dir(folder.join("versions")).unwrap();
    for version in versions {
        let people = std::fs::read_to_string(version.unwrap().path().join("sf-people.json"));
        assert!(!people.unwrap().contains("Maren"));
    }
    let gone = not_published(&folder).unwrap().gone;
    assert!(gone.keys().any(|id| id.starts_with("per_")), "{gone:?}");
}

#[tokio::test]
async fn a_company_that_objects_is_gone_with_its_records_and_comes_back_when_it_is_taken_back() {
    let (mut city, sources) = city().await;
    let folder = city.folder.path().to_owned();
    portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    add(&folder, ObjectionKind::Company, "https://www.copperleaf.example/");
    republish(&folder, crate::support::at(1), &|_| {}).unwrap();
    assert_eq!(check(&folder).unwrap(), []);
    let counts = [
        "sf-live-targets.json",
        "sf-job-roles.json",
        "sf-people.json",
        "sf-events.json",
        "live-signal-feed.json",
    ]
    .map(|file| count(&city, file));
    assert_eq!(counts, [1, 0, 0, 0, 0]);
    // The signals are not remembered either.
    let state: Value =
        serde_json::from_slice(&std::fs::read(folder.join("current/state.json")).unwrap()).unwrap();
    assert_eq!(state["absent_signals"], json!([]));

    std::fs::remove_file(folder.join("objections.toml")).unwrap();
    city.options.now = crate::support::at(2);
    portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    assert_eq!(count(&city, "sf-live-targets.json"), 2);
    assert_eq!(count(&city, "sf-job-roles.json"), 1);
    assert!(!not_published(&folder).unwrap().gone.keys().any(|id| id.starts_with("rol_")));
}

#[tokio::test]
async fn one_record_is_removed_and_what_depends_on_it_is_right() {
    let mut city = City::open().await;
    let folder = city.folder.path().to_owned();
    city.build().await.unwrap();
    let roles = city.document("sf-job-roles.json");
    let id = roles["items"][0]["id"].as_str().unwrap().to_owned();
    add(&folder, ObjectionKind::Record, &id);
    republish(&folder, crate::support::at(1), &|_| {}).unwrap();
    assert_eq!(check(&folder).unwrap(), []);
    assert!(!everything(&folder).contains(&id));
    let targets = city.document("sf-live-targets.json");
    let open: Vec<_> = targets["features"]
        .as_array()
        .unwrap()
        .iter()
        .map(|target| &target["properties"]["open_roles_count"])
        .collect();
    assert!(open.iter().all(|count| **count == 0), "{open:?}");
    assert!(not_published(&folder).unwrap().gone.contains_key(&id));
    // Also on a machine whose clock is behind.
    republish(&folder, crate::support::at(-5), &|_| {}).unwrap();
    city.options.now = crate::support::at(2);
    city.board.plays(BOARD_PATH, [ok("", BOARD)]);
    city.build().await.unwrap();
    assert_eq!(count(&city, "sf-job-roles.json"), 0);
}

#[tokio::test]
async fn nothing_is_published_while_the_list_cannot_be_read() {
    let city = City::open().await;
    let folder = city.folder.path().to_owned();
    assert!(matches!(republish(&folder, city.options.now, &|_| {}), Err(BuildError::NotBuilt)));
    std::fs::write(folder.join("objections.toml"), "[[objection]]\nkind = \"persn\"\n").unwrap();
    assert!(matches!(city.build().await, Err(BuildError::Objections(_))));
    assert!(!folder.join("current").exists());
    assert!(city.registry.asked().is_empty());
}

/// Returns whether a publication or a snapshot in the folder has a file with this text.
fn is_anywhere(folder: &Path, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let entries = entries.map(|entry| entry.unwrap().path());
    entries.filter(|path| !path.is_symlink()).any(|path| {
        if path.is_dir() {
            return is_anywhere(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap();
        let bytes = match path.extension().is_some_and(|ending| ending == "gz") {
            true => unpack(&bytes).unwrap(),
            false => bytes,
        };
        !path.ends_with("state.json") && String::from_utf8(bytes).unwrap().contains(text)
    })
}

#[tokio::test]
async fn an_objection_acts_while_a_build_asks_its_sources_and_in_what_that_build_publishes() {
    let (mut city, sources) = city().await;
    let folder = city.folder.path().to_owned();
    portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    let asked = city.paper.asked().len();
    city.paper.plays("/news", [Answer::Silence]);
    city.options.now = at(1);
    let is_built = Cell::new(false);
    let building = async {
        portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
        is_built.set(true);
    };
    let objecting = async {
        while city.paper.asked().len() == asked {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        add(&folder, ObjectionKind::Person, "José Maren");
        // The clock of the one who objects is ahead.
        let report = republish(&folder, at(2), &|_| {}).unwrap();
        assert!(!is_built.get(), "the build still waits for an answer");
        assert_eq!(report.objected.unwrap().records, [("people", 1)].into());
        assert!(!everything(&folder).contains("Maren"));
        assert!(!is_anywhere(&folder.join("versions"), "Maren"));
    };
    tokio::join!(building, objecting);
    assert!(!everything(&folder).contains("Maren"));
    assert!(!is_anywhere(&folder.join("versions"), "Maren"));
    assert_eq!(check(&folder).unwrap(), []);
    assert_eq!(count(&city, "sf-people.json"), 1);
}

#[tokio::test]
async fn a_build_reads_the_list_after_its_last_source() {
    let (mut city, sources) = city().await;
    let folder = city.folder.path().to_owned();
    portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    city.options.now = at(1);
    let list = folder.clone();
    let object = move |progress: Progress| {
        if matches!(progress, Progress::Read { left: 0, .. }) {
            add(&list, ObjectionKind::Person, "José Maren");
        }
    };
    let report = portolan_feeds::build(&sources, &city.options, &object).await.unwrap();
    assert_eq!(report.objected.unwrap().records, [("people", 1)].into());
    assert!(!everything(&folder).contains("Maren"));
    assert!(!is_anywhere(&folder.join("versions"), "Maren"));
    assert!(!is_anywhere(&folder.join("snapshots"), "Maren"));
}

#[tokio::test]
async fn one_at_a_time_publishes() {
    let (city, sources) = city().await;
    let folder = city.folder.path().to_owned();
    portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    add(&folder, ObjectionKind::Person, "José Maren");
    let press = Press::open(&folder).unwrap();
    let other = folder.clone();
    let objecting = std::thread::spawn(move || republish(&other, at(1), &|_| {}).unwrap());
    std::thread::sleep(Duration::from_millis(50));
    assert!(!objecting.is_finished() && everything(&folder).contains("Maren"));
    drop(press);
    objecting.join().unwrap();
    assert!(!everything(&folder).contains("Maren"));
}

#[tokio::test]
async fn an_objection_says_what_it_removes_and_one_that_matches_nothing_costs_nothing() {
    let (mut city, sources) = city().await;
    let folder = city.folder.path().to_owned();
    for day in 0..3 {
        city.options.now = at(day);
        portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    }
    let versions = || std::fs::read_dir(folder.join("versions")).unwrap().count();
    let snapshots = || portolan_feeds::snapshots::list(&folder).unwrap().len();
    assert_eq!((versions(), snapshots()), (2, 2));
    for matched in ["Jo Marren", "https://www.linkedin.example/in/nobody"] {
        add(&folder, ObjectionKind::Person, matched);
        let report = republish(&folder, at(3), &|_| {}).unwrap();
        assert!(report.objected.unwrap().is_nothing());
        assert_eq!((versions(), snapshots()), (2, 3));
    }
    add(&folder, ObjectionKind::Person, "jose maren");
    let objected = republish(&folder, at(4), &|_| {}).unwrap().objected.unwrap();
    assert_eq!(objected.records, [("people", 1)].into());
    assert!(objected.texts > 3 && objected.is_past_forgotten, "{objected:?}");
    assert_eq!((versions(), snapshots()), (1, 0));
    let report = republish(&folder, at(5), &|_| {}).unwrap();
    assert_eq!(report.objected, None, "it has acted");
    assert_eq!(snapshots(), 1);
    // To take an objection back costs nothing either.
    std::fs::remove_file(folder.join("objections.toml")).unwrap();
    let report = republish(&folder, at(6), &|_| {}).unwrap();
    assert_eq!(report.objected, None);
    assert_eq!(snapshots(), 2);
}

#[tokio::test]
async fn an_objection_to_what_only_snapshots_have_deletes_them() {
    let (mut city, sources) = city().await;
    let folder = city.folder.path().to_owned();
    portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    let gone = json!({ "companies": [{
        "name": "Copperleaf Robotics", "slug": "copperleaf", "url": "https://harbour.example/copperleaf",
        "founders": [{ "fullName": "Ada Bell", "title": "CTO" }],
    }]});
    city.registry.plays("/directory", [ok("", gone.to_string())]);
    for day in 1..4 {
        city.options.now = at(day);
        portolan_feeds::build(&sources, &city.options, &|_| {}).await.unwrap();
    }
    add(&folder, ObjectionKind::Record, "rol_00000000000000000000000000");
    assert!(republish(&folder, at(4), &|_| {}).unwrap().objected.unwrap().is_nothing());
    // The profile of the person is not published now; only the name in texts would be found by it.
    let people = portolan_feeds::snapshots::open(&folder, "2026-11-21", "sf-people.json");
    let people: Value =
        serde_json::from_reader(flate2::read::GzDecoder::new(people.unwrap().unwrap())).unwrap();
    let id = people["items"][0]["id"].as_str().unwrap();
    assert!(!everything(&folder).contains(id));
    add(&folder, ObjectionKind::Person, id);
    let objected = republish(&folder, at(5), &|_| {}).unwrap().objected.unwrap();
    assert_eq!((objected.records.len(), objected.texts), (0, 0));
    assert!(objected.is_past_forgotten);
    assert!(!is_anywhere(&folder.join("versions"), "\"full_name\":\"José Maren\""));
    assert!(portolan_feeds::snapshots::list(&folder).unwrap().is_empty());
}
