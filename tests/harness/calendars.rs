//! Calendars, and the events and busy times in them.

use crate::harness::{Agent, Host, Options, Reply, relationships::Person};
use serde_json::{Value, json};

pub const CALENDAR: &str = "calendar";

/// Starts a host with the calendar and the components that it needs.
pub async fn host() -> Host {
    let names = [
        "calendar",
        "clerk",
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
    ];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

/// Returns the first object with the fields of the second added or replaced.
pub fn merged(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Calls an action of the calendar.
pub async fn call_calendar(agent: &Agent<'_>, action: &str, more: Value) -> Reply {
    agent.call(CALENDAR, merged(json!({ "action": action }), more)).await
}

pub async fn call_calendar_ok(agent: &Agent<'_>, action: &str, more: Value) -> Value {
    agent.result(CALENDAR, merged(json!({ "action": action }), more)).await
}

/// Returns the periods of a person's free and busy time, each as `start end kind`; the times have
/// no year and no seconds.
pub async fn periods(agent: &Agent<'_>, whose: &str, start: &str, end: &str) -> Vec<String> {
    let body = json!({ "owner_id": whose, "start": start, "end": end });
    let found = call_calendar_ok(agent, "get_freebusy", body).await;
    let short = |value: &Value| value.as_str().unwrap()[5..16].to_owned();
    let pieces = found["periods"].as_array().unwrap().iter();
    let text = |period: &Value| {
        format!(
            "{} {} {}",
            short(&period["start"]),
            short(&period["end"]),
            period["fbtype"].as_str().unwrap()
        )
    };
    pieces.map(text).collect()
}

/// Returns everything in a calendar in this time, read page by page.
pub async fn events(agent: &Agent<'_>, start: &str, end: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut body = json!({ "start": start, "end": end, "limit": 100 });
    loop {
        let mut page = call_calendar_ok(agent, "list_events", body.clone()).await;
        all.append(page["items"].as_array_mut().unwrap());
        body["cursor"] = page["next_cursor"].take();
        if body["cursor"].is_null() {
            return all;
        }
    }
}

/// Reserves people's time through another capability, the fixture `clerk`.
pub async fn reserve(by: &Person<'_>, more: Value) -> Reply {
    by.agent().call("clerk", merged(json!({ "action": "reserve", "kind": "firm" }), more)).await
}

/// Returns a calendar file with these lines in one `VCALENDAR`.
pub fn file(lines: &[&str]) -> String {
    let head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//EN"];
    let all = head.iter().chain(lines).chain(&["END:VCALENDAR"]);
    all.flat_map(|line| [*line, "\r\n"]).collect()
}

/// Returns the lines of an event with this `UID` line and these other lines.
pub fn event<'a>(uid: &'a str, lines: &[&'a str]) -> Vec<&'a str> {
    [&["BEGIN:VEVENT", uid, "DTSTAMP:20261101T120000Z"], lines, &["END:VEVENT"]].concat()
}
