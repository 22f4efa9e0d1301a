//! Texts that one person leaves with every shipped capability: both exports contain each of them, and those
//! of others none that is not for them. After the erasure, the database, new backups, what is restored from
//! older ones, and what others read contain none.

use crate::{
    cases::{
        data_rights::{RIGHTS, download},
        personal::{back_up, erase, export, restore, stop},
        personal_canaries_planting::Pair,
        plugins, signal_verification as signals,
    },
    harness::{
        Host, Options, Process, canaries::Canaries, canary_people::NUMBER,
        conversations::wait_until, database::Database, feeds::city, inbox::Reader, postgres,
        relationships::Person,
    },
};
use portolan_vocabulary::HELD_EVENTS;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The canaries in each capability that stores something about people.
const PLANTED: [(&str, &[&str]); 25] = [
    ("agent_credits", &["entry"]),
    (
        "agent_listings",
        &[
            "title",
            "description",
            "label of a place",
            "title of a draft",
            "title of a withdrawn listing",
            "attribute",
            "criterion",
        ],
    ),
    (
        "applications",
        &[
            "letter",
            "headline",
            "summary",
            "skill",
            "location",
            "answer",
            "question",
            "decision",
            "message of an enquiry",
        ],
    ),
    ("approvals", &["rule", "waiting call"]),
    ("availability_finder", &["title of a group", "title of a link"]),
    ("calendar", &["label of a block", "id of an imported event", "title of an imported event"]),
    ("conversations", &["message", "edited message", "end of a mute"]),
    ("data_rights", &["export"]),
    ("handoff_resolve", &["redeemed token"]),
    ("intros", &["note of an introducer", "reason"]),
    ("matching_sessions", &["session", "reason of a decision", "criterion"]),
    ("media", &["title"]),
    ("owner_verification", &["verification"]),
    (
        "owners",
        &[
            "name of a revoked agent",
            "software of a revoked agent",
            "name of an agent",
            "reason of a return",
            "display name",
            "headline",
            "biography",
            "city",
            "link",
            "idempotency key",
        ],
    ),
    ("pairings", &["message of a proposal", "answer before a connection"]),
    ("references", &["draft"]),
    ("reports", &["report", "appeal"]),
    ("saved_searches", &["name", "words", "filter"]),
    (
        "signal_verification",
        &[
            "note of evidence",
            "note of the operator",
            "reason of a confirmation",
            "reason of a dispute",
        ],
    ),
    ("social_org", &["name of an organisation", "domain"]),
    ("social_permissions", &["end of a grant"]),
    ("social_relationships", &["note", "mute"]),
    ("svc_phone_binding", &["masked number"]),
    ("svc_webhooks", &["address", "description"]),
    (
        "thread_meetings",
        &[
            "title",
            "location",
            "note of a counter",
            "reason of a cancellation",
            "reason of a tentative answer",
        ],
    ),
];

const NOWHERE: [&str; 0] = [];

fn options() -> Options {
    let names = plugins::names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let settings =
        format!("feeds_dir = {:?}\n[limits]\ncall_wall_time_ms = 30000\n", city().join("feeds"));
    Options::with(&names).configuration(&settings)
}

/// Asserts that the table names each capability of which a collection names people, and where texts are.
async fn check_table(host: &Host, canaries: &Canaries) {
    let table = PLANTED
        .map(|(capability, places)| (capability, BTreeSet::from_iter(places.iter().copied())));
    assert_eq!(canaries.table(), BTreeMap::from(table));
    let personal = "SELECT DISTINCT capability FROM collections WHERE people <> '[]'";
    for capability in host.database().texts(personal).await {
        // Test mode has collections of its own; the host's are those of a capability with a colon.
        let id = capability.trim_end_matches(" (test)").replace(['.', '-'], "_");
        let is_planted = PLANTED.iter().any(|(planted, _)| *planted == id);
        assert!(is_planted || id.starts_with(':'), "{capability} stores something about people");
    }
}

/// Items of an export, by kind and by the value that distinguishes them.
type Items = BTreeMap<String, Value>;

/// Returns the items of these kinds without those of `data_rights` itself, and without what an export causes.
fn comparable(items: impl Iterator<Item = (String, Value)>) -> Items {
    let of_rights = |item: &Value| {
        let is_named =
            |field: &str| item[field].as_str().is_some_and(|text| text.starts_with("data_"));
        is_named("capability") || is_named("event_type")
    };
    let key = |kind: &str, item: &Value| {
        let part = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
        let fields = ["capability", "collection", "id", "agent_id", "action", "key", "name"];
        format!("{kind} {}", fields.map(part).join(" "))
    };
    items
        .filter(|(_, item)| !of_rights(item))
        .map(|(kind, mut item)| {
            // The time at which held events are told is set anew once they are.
            if kind == "timer" && item["capability"] == HELD_EVENTS {
                item["at"] = json!(null);
            }
            (kind, item)
        })
        .map(|(kind, item)| (key(&kind, &item), item))
        .collect()
}

/// Returns a value with fewer digits, because those of a score can differ in the last place.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            json!((number.as_f64().unwrap() * 1e9).round() / 1e9)
        }
        Value::Array(elements) => elements.iter().map(rounded).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(name, value)| (name.clone(), rounded(value))).collect()
        }
        _ => value.clone(),
    }
}

/// Asserts that the person's archive and the operator's export have all texts and the same items.
async fn check_exports(host: &Host, ada: &Person<'_>, sealed: &[String], canaries: &mut Canaries) {
    let export_id =
        ada.agent().result(RIGHTS, json!({ "action": "export" })).await["export_id"].clone();
    canaries.note_id(RIGHTS, "export", export_id.as_str().unwrap());
    let state = async || {
        let status = ada.agent().result(RIGHTS, json!({ "action": "status" })).await;
        status["export"]["state"].clone()
    };
    wait_until("the archive is ready", async || state().await == "ready").await;
    let files = download(ada.agent(), &export_id).await;
    let all: String = files.values().cloned().collect();
    assert_eq!(canaries.missing_in(&all), NOWHERE, "in the archive");

    let exported = export(host, &ada.id).await;
    assert_eq!(exported.status, 200, "{}", exported.text);
    assert_eq!(canaries.missing_in(&exported.text), NOWHERE, "in the operator's export");
    for text in sealed.iter().map(String::as_str).chain([NUMBER]) {
        assert!(all.contains(text) && exported.text.contains(text), "contact data is opened");
    }
    let in_files =
        files.iter().filter(|(name, _)| name.ends_with(".json")).flat_map(|(_, text)| {
            let file: Value = serde_json::from_str(text).unwrap();
            file["items"].as_array().unwrap().clone()
        });
    let in_files = comparable(in_files.map(|mut item| {
        let kind = item.as_object_mut().unwrap().remove("kind").unwrap();
        (kind.as_str().unwrap().to_owned(), item)
    }));
    let lists = ["document", "event", "webhook", "answer", "timer"];
    let in_lists = comparable(lists.into_iter().flat_map(|kind| {
        let items = exported.body[format!("{kind}s")].as_array().unwrap().clone();
        items.into_iter().map(move |item| (kind.to_owned(), item))
    }));
    assert_eq!(in_files.keys().collect::<Vec<_>>(), in_lists.keys().collect::<Vec<_>>());
    // Of an answer that is kept for an idempotency key, the call is told: it may have secrets.
    let mut answers = in_lists.iter().filter(|(key, _)| key.starts_with("answer ")).peekable();
    assert!(answers.peek().is_some());
    assert!(answers.all(|(_, item)| item["kept_until"].is_string() && item["answer"].is_null()));
    for (key, item) in &in_files {
        assert_eq!(rounded(item), rounded(&in_lists[key]), "{key}");
    }
}

/// Returns everything that lists of a person show, and their inbox.
async fn views(person: &Person<'_>) -> String {
    let range = json!({ "start": "2026-12-20T00:00:00Z", "end": "2027-01-31T00:00:00Z" });
    let (signal, _) = signals::signal("hiring", "lead");
    let mut calls = vec![("calendar", "list_events", range)];
    let lists: [(&str, &[&str]); 20] = [
        ("agent_credits", &["balance", "statement"]),
        ("agent_listings", &["search", "list_mine"]),
        ("applications", &["list"]),
        ("approvals", &["list", "get_policy"]),
        ("availability_finder", &["list", "list_polls", "list_bookings", "list_links"]),
        ("calendar", &["export_ics"]),
        ("conversations", &["list"]),
        ("intros", &["list"]),
        ("matching_sessions", &["list", "rounds"]),
        ("owners", &["me", "get_preferences"]),
        ("owner_verification", &["status"]),
        ("pairings", &["list"]),
        ("references", &["encounters", "shown_to"]),
        ("reports", &["list_mine"]),
        ("saved_searches", &["list"]),
        ("signal_verification", &["list_mine"]),
        ("social_org", &["list_mine", "search"]),
        ("social_permissions", &["list_grants"]),
        ("social_relationships", &["list", "blocked"]),
        ("thread_meetings", &["list"]),
    ];
    for (capability, actions) in lists {
        calls.extend(actions.iter().map(|action| (capability, *action, json!({}))));
    }
    calls.push(("signal_verification", "get", json!({ "signal_id": signal })));
    let listed = person.agent().result("conversations", json!({ "action": "list" })).await;
    for thread in listed["items"].as_array().unwrap() {
        calls.push(("conversations", "messages", json!({ "thread_id": thread["thread_id"] })));
    }
    let mut all = person.reader.page("wait=0&cursor=0&limit=100").await.to_string();
    for (capability, action, mut body) in calls {
        body["action"] = json!(action);
        let reply = person.agent().call(capability, body).await;
        assert_eq!(reply.status, 200, "{capability} {action}: {}", reply.text);
        all += &reply.text;
    }
    all
}

/// Asserts that the export of another person, and what they can read, name the erased one nowhere and have none
/// of the texts but these.
async fn check_other(
    host: &Host,
    person: &Person<'_>,
    ada: &str,
    canaries: &Canaries,
    own: &[&str],
) {
    for text in [export(host, &person.id).await.text, views(person).await] {
        let found = canaries.in_text(&text);
        assert!(found.iter().all(|place| own.contains(&&**place)), "{found:?}");
        assert!(!text.contains(ada), "{text}");
    }
}

/// Returns all documents and timers of matching.
async fn matching_texts(host: &Host) -> String {
    let of_matching = "WHERE capability LIKE 'matching_sessions%'";
    let documents = format!(
        "SELECT d.id || ' ' || d.body FROM documents d JOIN collections c ON c.id = d.collection
         {of_matching} AND d.body IS NOT NULL"
    );
    let timers = format!("SELECT name || ' ' || input FROM timers {of_matching}");
    let mut texts = host.database().texts(&documents).await;
    texts.extend(host.database().texts(&timers).await);
    texts.join("\n")
}

async fn check_erasure(options: Options) {
    let host = Process::start(options);
    let Pair { ada, bo, mut canaries, sealed, unread, matched } = Pair::plant(&host).await;
    check_exports(&host, &ada, &sealed, &mut canaries).await;
    check_table(&host, &canaries).await;
    assert!(canaries.places().len() >= 30, "{}", canaries.places().len());
    assert_eq!(canaries.in_database(&host.database()), canaries.places(), "all are found at first");
    let unread = sealed.iter().chain(&unread).map(String::as_str);
    let unread: Vec<&str> = unread.chain([&NUMBER[1..]]).collect();
    assert_eq!(host.database().texts_found(&unread), NOWHERE);
    let events = host.database().texts("SELECT data FROM events").await.join("\n");
    assert_eq!(canaries.written_in(&events), NOWHERE, "events have no texts");
    let held = format!("SELECT owner_id FROM held_events WHERE owner_id = '{}'", ada.id);
    assert!(!host.database().texts(&held).await.is_empty());
    for text in [export(&host, &bo.id).await.text, views(&bo).await] {
        assert_eq!(canaries.private_in(&text), NOWHERE, "{text}");
        assert!(!sealed.iter().any(|sealed| text.contains(sealed)), "{text}");
        assert!(!text.contains(&format!("rel_mute_{}", ada.id)), "{text}");
    }
    let in_matching = matching_texts(&host).await;
    assert!(matched.iter().all(|id| in_matching.contains(id)), "{in_matching}");
    back_up(host.folder.path(), "old");

    let erased = erase(&host, &ada.id).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    assert_eq!(canaries.left_in(&host.database()), NOWHERE);
    assert_eq!(host.database().texts_found(&[&ada.id]), NOWHERE);
    let in_matching = matching_texts(&host).await;
    assert!(!matched.iter().any(|id| in_matching.contains(id)), "{in_matching}");
    back_up(host.folder.path(), "new");
    let stranger = host.test_agent().await;
    let id = stranger.claim(NUMBER).await.as_str().unwrap().to_owned();
    assert_ne!(id, ada.id);
    let reader = Reader { agent: stranger, id: String::new() };
    let stranger = Person { reader, id };
    check_other(&host, &bo, &ada.id, &canaries, &[]).await;
    // Both have proved the same number.
    let own = ["svc_phone_binding: masked number"];
    check_other(&host, &stranger, &ada.id, &canaries, &own).await;

    let (ada, bo) = (ada.id.clone(), bo.id.clone());
    let folder = stop(host);
    restore(folder.path(), "new");
    assert_eq!(canaries.left_in(&Database::of(folder.path())), NOWHERE);
    restore(folder.path(), "old");
    assert_eq!(canaries.in_database(&Database::of(folder.path())), canaries.places());
    let host = Process::start_in(folder);
    assert_eq!(canaries.left_in(&host.database()), NOWHERE, "after the backup is opened");
    assert_eq!(host.database().texts_found(&[&ada]), NOWHERE);
    assert_eq!(export(&host, &ada).await.status, 404);
    assert_eq!(export(&host, &bo).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_leaves_none_of_a_persons_texts_in_sqlite() {
    check_erasure(options()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_leaves_none_of_a_persons_texts_in_postgresql() {
    check_erasure(options().postgres(&postgres::database().await)).await;
}
