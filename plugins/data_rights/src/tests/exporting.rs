//! Exports: their parts, the download, and the end of the archive.

use super::*;
use crate::documents::*;
use portolan_sdk::test::PeopleRequest;
use sha2::{Digest as _, Sha256};

fn item(capability: &str, text: &str) -> Value {
    json!({ "kind": "document", "capability": capability, "collection": "c", "version": 1, "text": text })
}

/// Sends a part of an export, as the host does.
fn send(world: World, export_id: &Value, part: u32, last: bool, items: &Value) -> World {
    let mut world = world.system();
    let part = json!({
        "export_id": export_id, "about": { "owner_id": ADA }, "part": part, "last": last,
        "items": items,
    });
    world.call("keep", &part).unwrap();
    world.owner(ADA)
}

/// Returns a world with an archive of one part of the host, and the export's id.
fn exported(text: &str) -> (World, Value) {
    let mut world = world();
    let export_id = call(&mut world, "export")["export_id"].clone();
    let items = json!([item("owners", text), item("calendar", "free")]);
    (send(world, &export_id, 1, true, &items), export_id)
}

fn download(world: &mut World, export_id: &Value, part: u64, limit: u64) -> Value {
    let input = json!({ "export_id": export_id, "part": part, "limit": limit });
    world.call("download", &input).unwrap()
}

/// Returns the files of an archive, as an agent writes them.
fn files(world: &mut World, export_id: &Value) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut part = json!(1);
    while let Some(number) = part.as_u64() {
        let parts = download(world, export_id, number, 2);
        for item in parts["items"].as_array().unwrap() {
            let text = item["text"].as_str().unwrap();
            let digest = people_kit::hex::encode(&Sha256::digest(text));
            assert_eq!(item["sha256"], digest);
            match item["offset"].as_u64().unwrap() {
                0 => files.push((item["file"].as_str().unwrap().to_owned(), text.to_owned())),
                offset => {
                    let (name, begun) = files.last_mut().unwrap();
                    assert_eq!(
                        (item["file"].as_str(), offset),
                        (Some(&**name), begun.len() as u64)
                    );
                    begun.push_str(text);
                }
            }
        }
        part = parts["next_part"].clone();
    }
    files
}

fn names(files: &[(String, String)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn an_export_is_asked_of_the_host_and_its_archive_is_announced_and_downloaded() {
    let mut world = world();
    let started = call(&mut world, "export");
    assert_eq!(started["state"], "received");
    let export_id = started["export_id"].clone();
    let about = json!({ "owner_id": ADA });
    let id = export_id.as_str().unwrap().to_owned();
    let request = PeopleRequest::Export { export_id: id, action: "keep".into(), about };
    assert_eq!(world.people_requests(), [request]);

    let world = send(world, &export_id, 1, false, &json!([item("owners", "Ada")]));
    let mut world =
        send(world, &export_id, 2, true, &json!([item("owners", "L."), item("calendar", "free")]));
    let status = call(&mut world, "status")["export"].clone();
    assert_eq!((&status["state"], &status["parts"]), (&json!("ready"), &json!(4)));
    assert_eq!(status["expires_at"], rfc3339(NOW + 7 * DAY));
    assert_eq!(status["contents"][1]["folder"], "capabilities/owners");
    assert_eq!(status["contents"][1]["items"], 2);
    assert_eq!(event_types(&world), ["data_export.ready"]);
    let files = files(&mut world, &export_id);
    assert_eq!(
        names(&files),
        [
            "capabilities/owners/0001.json",
            "capabilities/calendar/0001.json",
            "capabilities/owners/0002.json",
            "index.md",
        ]
    );
    let owners: Value = serde_json::from_str(&files[0].1).unwrap();
    assert_eq!(owners["items"][0]["text"], "Ada");
    let total: usize =
        files.iter().filter(|(name, _)| name != "index.md").map(|(_, text)| text.len()).sum();
    assert_eq!(status["bytes"], total);
}

#[test]
fn a_large_file_is_put_together_again() {
    let text = "é".repeat(PART_BYTES);
    let (mut world, export_id) = exported(&text);
    let files = files(&mut world, &export_id);
    assert_eq!(names(&files).len(), 3);
    let owners = files.iter().find(|(name, _)| name.contains("owners")).unwrap();
    let owners: Value = serde_json::from_str(&owners.1).unwrap();
    assert_eq!(owners["items"][0]["text"], text);
}

#[test]
fn what_the_host_sends_again_replaces_what_came_before() {
    let mut world = world();
    let export_id = call(&mut world, "export")["export_id"].clone();
    let items =
        json!([item("owners", "first"), item("calendar", "first"), item("pairings", "first")]);
    let world = send(world, &export_id, 1, false, &items);
    // A part that does not follow is not kept.
    let world = send(world, &export_id, 3, true, &json!([]));
    let mut world = send(world, &export_id, 1, true, &json!([item("owners", "second")]));
    let files = files(&mut world, &export_id);
    assert_eq!(names(&files), ["capabilities/owners/0001.json", "index.md"]);
    assert!(files[0].1.contains("second"), "{files:?}");
    // Once it is ready, nothing is changed any more.
    let mut world = send(world, &export_id, 1, true, &json!([item("owners", "third")]));
    assert!(self::files(&mut world, &export_id)[0].1.contains("second"));
    // The archive ends with all parts that were ever stored.
    let world = run_timer(world, "expire");
    assert!(world.documents(PARTS).is_empty());
}

#[test]
fn only_the_person_downloads_and_only_an_archive_that_is_ready() {
    let mut world = world();
    let export_id = call(&mut world, "export")["export_id"].clone();
    let input = json!({ "export_id": export_id, "part": 1, "limit": 1 });
    assert_eq!(world.call("download", &input).unwrap_err().code, "invalid_transition");
    let world = send(world, &export_id, 1, true, &json!([]));
    let mut other = world.owner(BO);
    assert_eq!(other.call("download", &input).unwrap_err().code, "export_not_found");
    let mut world = other.owner(ADA);
    let beyond = json!({ "export_id": export_id, "part": 2, "limit": 1 });
    assert_eq!(world.call("download", &beyond).unwrap_err().code, "validation_failed");
    let parts = download(&mut world, &export_id, 1, 10);
    assert_eq!((&parts["parts"], &parts["next_part"]), (&json!(1), &Value::Null));
}

#[test]
fn one_export_runs_at_a_time_and_one_is_made_a_day() {
    let mut world = world();
    let export_id = call(&mut world, "export")["export_id"].clone();
    assert_eq!(world.call("export", &json!({})).unwrap_err().code, "export_running");
    let mut world = send(world, &export_id, 1, true, &json!([item("owners", "Ada")]));
    assert_eq!(world.call("export", &json!({})).unwrap_err().code, "export_too_soon");
    world.advance(DAY);
    let second = call(&mut world, "export")["export_id"].clone();
    assert_ne!(second, export_id);
    let mut world = run_timer(world, "expire");
    assert!(world.documents(PARTS).is_empty());
    assert_eq!(world.documents(EXPORTS).len(), 1);
    assert_eq!(call(&mut world, "status")["export"]["export_id"], second);
}

#[test]
fn an_archive_expires_after_a_week() {
    let (mut world, export_id) = exported("Ada");
    assert!(!world.documents(PARTS).is_empty());
    assert_eq!(timers(&world), [("expire".to_owned(), 7)]);
    world.advance(7 * DAY - 1);
    let mut early = world.system();
    early.call("expire", &json!({ "export_id": export_id })).unwrap();
    assert!(!early.documents(PARTS).is_empty());
    let mut world = run_timer(early, "expire");
    assert!(world.documents(PARTS).is_empty());
    assert_eq!(call(&mut world, "status")["export"]["state"], "expired");
    let input = json!({ "export_id": export_id, "part": 1, "limit": 1 });
    assert_eq!(world.call("download", &input).unwrap_err().code, "invalid_transition");
}

#[test]
fn an_export_that_the_host_does_not_complete_is_given_up() {
    let mut world = world();
    let export_id = call(&mut world, "export")["export_id"].clone();
    let world = send(world, &export_id, 1, false, &json!([item("owners", "Ada")]));
    let mut world = run_timer(world, "give_up");
    assert_eq!(call(&mut world, "status")["export"]["state"], "failed");
    assert_eq!(event_types(&world), ["data_export.failed"]);
    let mut world = run_timer(world, "expire");
    assert!(world.documents(PARTS).is_empty());
    assert_eq!(call(&mut world, "export")["state"], "received");
}

#[test]
fn many_parts_are_removed_in_several_calls() {
    let text = "x".repeat(PART_BYTES * 250);
    let (world, _) = exported(&text);
    let world = run_timer(world, "expire");
    assert!((1..100).contains(&world.documents(PARTS).len()));
    let world = run_timer(world, "expire");
    assert!(world.documents(PARTS).is_empty());
}

#[test]
fn an_agent_that_nobody_has_claimed_has_no_data_to_export() {
    let mut world = world().anonymous();
    assert_eq!(call(&mut world, "status"), json!({ "export": null, "erasure": null }));
}
