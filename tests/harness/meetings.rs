//! People who agree on a time.

use crate::harness::{
    Host, Options, Reply,
    calendars::{self, call_calendar_ok},
    conversations::wait_until,
    listings::action_body,
    relationships::Person,
};
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};
use std::sync::LazyLock;

pub const MEETINGS: &str = "thread_meetings";

/// Well-formed ids of things that do not exist.
pub const NO_MEETING: &str = "mtg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub const NO_SLOT: &str = "slot_01JZX8Q4M2N6P7R8S9T0V1W2X3";

pub async fn host() -> Host {
    let names = [
        "calendar",
        "conversations",
        "owners",
        "social_org",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
        "thread_meetings",
    ];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

/// A full hour two days from now.
static BEGIN: LazyLock<Timestamp> = LazyLock::new(|| {
    let now = Timestamp::now().as_second();
    Timestamp::from_second(now - now % 3_600 + 48 * 3_600).unwrap()
});

pub fn text(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// Returns the instant this many minutes after `BEGIN`, as text.
pub fn minute(minutes: i64) -> String {
    text(*BEGIN + minutes.minutes())
}

/// Returns a slot of half an hour that begins this many minutes after `BEGIN`.
pub fn slot(minutes: i64) -> Value {
    json!({ "start": minute(minutes), "end": minute(minutes + 30) })
}

/// Returns the input of a proposal with slots that begin these numbers of minutes after `BEGIN`.
pub fn proposal(thread_id: &str, slots: &[i64]) -> Value {
    json!({
        "thread_id": thread_id, "title": "A first look", "duration_min": 30,
        "slots": slots.iter().map(|minutes| slot(*minutes)).collect::<Vec<_>>(),
        "time_zone": "America/Los_Angeles",
    })
}

/// Returns the id of the meeting's slot with this index.
pub fn slot_id(meeting: &Value, number: usize) -> Value {
    meeting["slots"][number]["slot_id"].clone()
}

pub fn of(meeting: &Value) -> Value {
    json!({ "meeting_id": meeting["meeting_id"] })
}

pub fn id(meeting: &Value) -> &str {
    meeting["meeting_id"].as_str().unwrap()
}

impl Person<'_> {
    pub async fn call_meeting(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(MEETINGS, action_body(action, &fields)).await
    }

    pub async fn call_meeting_ok(&self, action: &str, fields: Value) -> Value {
        let reply = self.call_meeting(action, fields).await;
        assert_eq!(reply.status, 200, "{action}: {}", reply.text);
        reply.body["result"].clone()
    }

    /// Proposes a meeting with slots that begin these numbers of minutes after `BEGIN`.
    pub async fn propose(&self, thread_id: &str, slots: &[i64]) -> Value {
        self.call_meeting_ok("propose", proposal(thread_id, slots)).await
    }

    pub async fn accept(&self, meeting: &Value, number: usize) -> Reply {
        let slot_id = slot_id(meeting, number);
        let sequence = &meeting["sequence"];
        let accept = json!({
            "meeting_id": meeting["meeting_id"], "slot_id": slot_id, "sequence": sequence,
        });
        self.call_meeting("accept", accept).await
    }

    pub async fn accept_ok(&self, meeting: &Value, number: usize) -> Value {
        let reply = self.accept(meeting, number).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["result"].clone()
    }

    pub async fn counter(&self, meeting: &Value, slots: &[i64]) -> Reply {
        let slots: Vec<_> = slots.iter().map(|minutes| slot(*minutes)).collect();
        let counter = json!({ "meeting_id": meeting["meeting_id"], "slots": slots });
        self.call_meeting("counter", counter).await
    }

    /// Returns a meeting as this person sees it now.
    pub async fn meeting(&self, meeting: &Value) -> Value {
        self.call_meeting_ok("get", of(meeting)).await
    }

    /// Returns the type and data of each event about the meeting in the inbox so far.
    pub async fn meeting_events(&self, meeting: &Value) -> Vec<(String, Value)> {
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let about = |event: &&Value| event["data"]["meeting_id"] == meeting["meeting_id"];
        let pair =
            |event: &Value| (event["type"].as_str().unwrap().to_owned(), event["data"].clone());
        events.filter(about).map(pair).collect()
    }

    pub async fn meeting_event_types(&self, meeting: &Value) -> Vec<String> {
        self.meeting_events(meeting).await.into_iter().map(|(name, _)| name).collect()
    }

    /// Waits for an event of this type about the meeting, and returns its data.
    pub async fn wait_for_meeting_event(&self, meeting: &Value, event: &str) -> Value {
        wait_until(event, async || {
            self.meeting_event_types(meeting).await.iter().any(|event_type| event_type == event)
        })
        .await;
        let events = self.meeting_events(meeting).await;
        events.into_iter().find(|(name, _)| name == event).unwrap().1
    }

    /// Returns when the meetings in this person's calendar begin.
    pub async fn meeting_starts(&self) -> Vec<String> {
        let range = json!({ "start": minute(-2_880), "end": minute(40_000) });
        let listed = call_calendar_ok(self.agent(), "list_events", range).await;
        let listed = listed["items"].as_array().unwrap().iter();
        let meetings = listed.filter(|event| event["kind"] == "meeting");
        meetings.map(|event| event["start"].as_str().unwrap().to_owned()).collect()
    }

    /// Blocks time in this person's calendar, between two numbers of minutes after `BEGIN`.
    pub async fn block_time(&self, from: i64, to: i64) {
        let block = json!({ "start": minute(from), "end": minute(to) });
        let reply = calendars::call_calendar(self.agent(), "add_block", block).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }

    /// Returns whether this person may see when the other one is busy.
    pub async fn can_see_busy_time_of(&self, other: &Self) -> bool {
        let question = json!({
            "action": "check", "relation": "can_see_freebusy", "object": format!("owner:{}", other.id),
        });
        self.agent().result("social_permissions", question).await["allowed"].as_bool().unwrap()
    }
}

/// Moves a meeting with one slot, in the database, so that it begins this many minutes from now.
pub async fn begins_in(host: &Host, meeting: &Value, minutes: i64) {
    let (id, database) = (id(meeting), host.database());
    let is_it = format!("id = '{id}' AND body LIKE '%organizer%'");
    let begin = "CAST(json_extract(body, '$.slots[0].start') AS TEXT)";
    let begin = database.texts(&format!("SELECT {begin} FROM documents WHERE {is_it}")).await;
    let wanted = Timestamp::now().as_millisecond() + minutes * 60_000;
    let by = wanted - begin[0].parse::<i64>().unwrap();
    let paths = ["slots[0].start", "slots[0].end", "chosen.start", "chosen.end"];
    // `json_replace` ignores paths that do not exist.
    let moved = paths.map(|path| format!("'$.{path}', json_extract(body, '$.{path}') + {by}"));
    let moved = format!("body = json_replace(body, {})", moved.join(", "));
    let sql = format!("UPDATE documents SET {moved} WHERE {is_it}");
    assert_eq!(database.execute(&sql).await, 1, "{id}");
}

/// Makes a timer of this meeting due; `ID` in the timer's name stands for the meeting's id.
pub async fn due(host: &Host, timer: &str, meeting: &Value) {
    let name = timer.replace("ID", id(meeting));
    let due = format!("UPDATE timers SET at = 1, due_at = 1 WHERE name LIKE '%{name}'");
    assert_eq!(host.database().execute(&due).await, 1, "{name}");
}

/// Returns the names of a meeting's timers.
pub async fn timer_names(host: &Host, meeting: &Value) -> Vec<String> {
    let sql = format!("SELECT name FROM timers WHERE name LIKE '%{}%' ORDER BY name", id(meeting));
    host.database().texts(&sql).await
}
