//! Recorded calls: which are kept, who sees what of them, and that nothing is left of a person who is erased.

use crate::harness::{Agent, Host, Options, PATIENCE, Reply, operators::NOBODY, publishing::post};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A setting with which all calls are recorded.
pub const ALL: &str = "[recording]\nshare = 1.0\n";

/// Waits until there are this many recordings, and returns them, the newest first.
pub async fn recorded(host: &Host, query: &str, count: usize) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let reply = host.operate(&format!("/recordings?limit=10000&{query}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let found = reply.body["recordings"].as_array().unwrap().clone();
        if found.len() >= count {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{} of {count}: {}", found.len(), reply.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs a recorded call again, and returns what differs.
pub async fn replay(host: &Host, request_id: &str) -> Value {
    let reply = post(host, &format!("/recordings/{request_id}/replay"), Vec::new()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

fn put(id: &str, title: &str) -> Value {
    json!({ "action": "put", "id": id, "note": { "title": title, "body": "" } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_failure_is_recorded_and_replayed_with_its_frames() {
    let configuration = "[recording]\nshare = 0.0\n";
    let host =
        Host::start(Options::with(&["misbehaves", "notes"]).configuration(configuration)).await;
    let agent = host.claimed_agent().await;
    agent.result("notes", put("a", "Tea")).await;
    agent
        .call("notes", json!({ "action": "get", "id": "none" }))
        .await
        .assert_refused(404, "note_not_found");
    for (action, code) in [
        ("panics", "capability_trapped"),
        ("traps", "capability_trapped"),
        ("breaks_schema", "capability_answer_invalid"),
        ("recurses", "capability_trapped"),
    ] {
        let reply = agent.call("misbehaves", json!({ "action": action })).await;
        assert_eq!(reply.body["error_code"], code, "{}", reply.text);
        let recording = recorded(&host, "failed=true", 1).await;
        let newest = recording.iter().find(|recording| recording["action"] == action);
        let newest = match newest {
            Some(newest) => newest.clone(),
            None => {
                let all = recorded(&host, "failed=true", recording.len() + 1).await;
                all.iter().find(|recording| recording["action"] == action).unwrap().clone()
            }
        };
        assert_eq!((&newest["outcome"], &newest["failed"]), (&json!(code), &json!(true)));
        let replayed = replay(&host, newest["request_id"].as_str().unwrap()).await;
        assert_eq!(replayed["same"], true, "{replayed:#}");
        if code == "capability_trapped" {
            let text = replayed["runs"][0]["replayed"]["failed"]["text"].as_str().unwrap();
            assert!(text.contains("; in "), "{text}");
        }
    }
    // Calls that succeed or refuse are no failures.
    let kept = recorded(&host, "", 4).await;
    assert!(kept.iter().all(|recording| recording["capability"] == "misbehaves"), "{kept:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_shows_texts_only_to_administrators_who_ask() {
    let host = Host::start(Options::with(&["notes"]).configuration(ALL)).await;
    let agent = host.claimed_agent().await;
    agent.result("notes", put("a", "Sister's wedding")).await;
    agent.result("notes", json!({ "action": "get", "id": "a" })).await;
    let recordings = recorded(&host, "capability=notes", 2).await;
    let id = recordings.iter().find(|recording| recording["action"] == "get").unwrap();
    let id = id["request_id"].as_str().unwrap();
    let [operate, admin] =
        [host.add_operator("bo", "operate").await, host.add_operator("ada", "admin").await];
    let [shown, whole] = ["", "/whole"].map(|part| format!("/recordings/{id}{part}"));
    let redacted = host.send_as(Some(&operate), &Method::GET, &shown).await;
    assert_eq!(redacted.status, 200, "{}", redacted.text);
    assert!(!redacted.text.contains("wedding") && redacted.text.contains("documents.get"));
    let replayed = host.send_as(Some(&operate), &Method::POST, &format!("{shown}/replay")).await;
    assert_eq!(replayed.body["same"], true, "{}", replayed.text);
    assert!(!replayed.text.contains("wedding"), "{}", replayed.text);
    for path in [whole.clone(), format!("{whole}/replay")] {
        let method = if path.ends_with("replay") { Method::POST } else { Method::GET };
        host.send_as(Some(&operate), &method, &path).await.assert_refused(403, "not_permitted");
        let reply = host.send_as(Some(&admin), &method, &path).await;
        assert!(reply.text.contains("wedding"), "{}", reply.text);
    }
    // With the seed, codes that a run has drawn can be drawn again.
    let seed =
        host.send_as(Some(&admin), &Method::GET, &whole).await.body["runs"][0]["seed"].clone();
    assert_eq!(seed.as_str().unwrap().len(), 64, "{seed}");
    assert!(!redacted.text.contains(seed.as_str().unwrap()), "{}", redacted.text);
    let rows = host.rows_of_operator("ada").await;
    let actions: Vec<_> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        ["operator:show_recording", "operator:replay_whole_call", "operator:show_recording"]
    );
    assert!(rows.iter().all(|row| row["version"] == id), "{rows:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_recorded_is_left_of_a_person_who_is_erased() {
    let host = Host::start(Options::with(&["notes"]).configuration(ALL)).await;
    let (owner, another) = (NOBODY, "own_01JZX8Q4M2N6P7R8S9T0V1W2X4");
    let (agent, other) = (agent_of(&host, owner).await, agent_of(&host, another).await);
    agent.result("notes", put("a", "canary of the erased")).await;
    other.result("notes", put("b", "canary of the other")).await;
    recorded(&host, "capability=notes", 2).await;
    let database = host.database();
    let keys = format!("SELECT name FROM recording_keys WHERE name = '{owner}'");
    assert_eq!(database.texts(&keys).await.len(), 1);
    let sealed = "SELECT hex(content) FROM recordings ORDER BY request_id";
    let sealed = database.texts(sealed).await;
    assert!(sealed.iter().all(|content| !content.contains(&hex_of("canary"))));
    let agents = "SELECT name FROM recording_keys WHERE name LIKE 'agt%'";
    assert_eq!(database.texts(agents).await.len(), 2);
    let ids = "SELECT request_id FROM recording_people WHERE person = ";
    let ids = database.texts(&format!("{ids}'{owner}'")).await;
    assert_eq!(ids.len(), 1, "{ids:?}");

    let url = format!("{}/people/{owner}", host.admin_url);
    assert_eq!(host.operate(&format!("/people/{owner}")).await.body["recordings"], 1);
    let reply = Reply::read(host.operator.delete(url).send().await.unwrap()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(database.texts(&keys).await, Vec::<String>::new());
    let left = recorded(&host, "capability=notes", 1).await;
    assert!(left.iter().all(|recording| recording["request_id"] != ids[0]), "{left:#?}");
    let gone = host.operate(&format!("/recordings/{}", ids[0])).await;
    gone.assert_refused(404, "not_found");
    // The recording of the other person can still be read.
    let other = left.iter().find(|recording| recording["action"] == "put").unwrap();
    assert_eq!(replay(&host, other["request_id"].as_str().unwrap()).await["same"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_recording_cannot_be_read_without_the_key_of_a_person_in_it() {
    let host = Host::start(Options::with(&["notes"]).configuration(ALL)).await;
    let agent = agent_of(&host, NOBODY).await;
    agent.result("notes", put("a", "canary")).await;
    let recordings = recorded(&host, "capability=notes", 1).await;
    let id = recordings[0]["request_id"].as_str().unwrap();
    // The rows that a copy of the database elsewhere still has after the key is destroyed.
    let destroy = format!("DELETE FROM recording_keys WHERE name = '{NOBODY}'");
    host.database().execute(&destroy).await;
    let gone = host.operate(&format!("/recordings/{id}")).await;
    gone.assert_refused(410, "resource_gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recordings_are_bounded_in_number_and_age() {
    let configuration = "[recording]\nshare = 1.0\ncalls = 5\ndays = 2\n";
    let options = Options::with(&["notes"]).configuration(configuration);
    let host = Host::start_at_fixed_time(options).await;
    let agent = host.claimed_agent().await;
    for number in 0..12 {
        agent.result("notes", put(&format!("note{number}"), "Tea")).await;
    }
    recorded(&host, "capability=notes", 5).await;
    // The sweep removes what is beyond the bounds.
    wait_for_count(&host, 5, Duration::from_secs(3700)).await;
    wait_for_count(&host, 0, Duration::from_secs(3 * 24 * 3600)).await;
    assert_eq!(host.database().texts("SELECT person FROM recording_people").await.len(), 0);
}

/// Advances the clock until there are this many recordings.
async fn wait_for_count(host: &Host, count: usize, step: Duration) {
    let started = Instant::now();
    loop {
        host.advance(step).await;
        let ids = host.database().texts("SELECT request_id FROM recordings").await;
        if ids.len() <= count {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{} recordings", ids.len());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_takes_too_much_is_not_kept_and_counted() {
    let configuration = "[recording]\nshare = 1.0\ncall_bytes = 2048\n";
    let host = Host::start(Options::with(&["notes"]).configuration(configuration)).await;
    let agent = host.claimed_agent().await;
    agent.result("notes", put("long", &"x".repeat(4000))).await;
    agent.result("notes", put("short", "x")).await;
    let kept = recorded(&host, "capability=notes", 1).await;
    assert_eq!(kept.len(), 1, "{kept:#?}");
    let reply = host.operate("/recordings").await.body;
    assert_eq!(reply["lost_since_start"]["too_large"], 1, "{reply:#}");
}

/// Registers an agent that this person has claimed.
async fn agent_of<'a>(host: &'a Host, owner: &str) -> Agent<'a> {
    let agent = host.register().await;
    host.claim_for(agent["agent_id"].as_str().unwrap(), owner).await;
    Agent { host, token: host.token_of(&agent, "svc.read svc.write").await }
}

fn hex_of(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}
