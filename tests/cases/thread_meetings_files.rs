//! Meetings as calendar files, read by programs of other authors; and every action in every state.

use crate::{
    cases::{clients::clients_folder, states::Table},
    harness::{
        Host, Reply,
        conversations::{open_thread, wait_until},
        meetings::{MEETINGS, begins_in, due, host, id, of, proposal, slot, slot_id, text},
        next_steps::FollowedSteps,
        relationships::Person,
    },
};
use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use serde_json::{Value, json};
use std::{path::Path, process::Command};

/// Returns the instant at which the clocks of Los Angeles are next put back, at least a day ahead.
fn clocks_go_back() -> Timestamp {
    let now = Timestamp::now();
    let of = |year: i16| {
        let november = Date::new(year, 11, 1).unwrap();
        let sunday = november.nth_weekday_of_month(1, jiff::civil::Weekday::Sunday).unwrap();
        sunday.at(9, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp()
    };
    let year = now.to_zoned(TimeZone::UTC).year();
    [of(year), of(year + 1)].into_iter().find(|change| *change > now + 24.hours()).unwrap()
}

/// Returns the lines of a file, unfolded.
fn lines(file: &Value) -> Vec<String> {
    let text = file["ics"].as_str().unwrap();
    assert!(text.ends_with("\r\n") && text.split("\r\n").all(|line| line.len() <= 75), "{text}");
    text.replace("\r\n ", "").lines().map(str::to_owned).collect()
}

fn has(file: &Value, line: &str) -> bool {
    lines(file).iter().any(|other| other == line)
}

fn line(file: &Value, start: &str) -> Option<String> {
    lines(file).into_iter().find(|line| line.starts_with(start))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_has_the_right_times_when_clocks_are_put_back() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let back = clocks_go_back();
    let day = back.to_zoned(TimeZone::UTC).date().strftime("%Y%m%d").to_string();
    for (hours, shown) in [
        (-2, format!("DTSTART;TZID=America/Los_Angeles:{day}T000000")),
        // The hour from one o'clock happens twice, so these instants are written in UTC.
        (-1, format!("DTSTART:{day}T080000Z")),
        (0, format!("DTSTART:{day}T090000Z")),
        (1, format!("DTSTART;TZID=America/Los_Angeles:{day}T020000")),
        (9, format!("DTSTART;TZID=America/Los_Angeles:{day}T100000")),
    ] {
        let start = back + hours.hours();
        let mut asked = proposal(&thread, &[0]);
        asked["slots"] = json!([{ "start": text(start), "end": text(start + 30.minutes()) }]);
        let meeting = ada.call_meeting_ok("propose", asked).await;
        let file = bo.call_meeting_ok("ics", of(&meeting)).await;
        assert!(has(&file, &shown), "{shown}\n{:#?}", lines(&file));
        let expected = json!({
            "method": "REQUEST", "status": "TENTATIVE", "sequence": 0, "uid": meeting["uid"],
            "start": text(start), "end": text(start + 30.minutes()), "organizer": ada.id,
            "attendees": { (ada.id.as_str()): ["ACCEPTED", null], (bo.id.as_str()): ["NEEDS-ACTION", null] },
            "summary": "A first look", "location": null,
        });
        others_agree(&file, &expected);
        bo.call_meeting_ok("decline", of(&meeting)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_meeting_state_is_exported_as_a_readable_file() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let name = "Ada \"Augusta\", Countess; of: Lovelace^1 \u{1f468}\u{200d}\u{1f469}";
    let named = json!({ "action": "update_profile", "display_name": name });
    ada.agent().result("owners", named).await;
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let mut asked = proposal(&thread, &[0, 60]);
    asked["title"] =
        json!("Coffee, cake; and a look \\ at \u{201c}the\u{201d} room in the long street");
    asked["location"] =
        json!({ "kind": "place", "text": "Caf\u{e9} Nero, Market Street; upstairs" });
    let meeting = ada.call_meeting_ok("propose", asked.clone()).await;
    let mut expected = json!({
        "method": "REQUEST", "status": "TENTATIVE", "sequence": 0, "uid": meeting["uid"],
        "start": slot(0)["start"], "end": slot(0)["end"], "organizer": ada.id,
        "attendees": { (ada.id.as_str()): ["ACCEPTED", name], (bo.id.as_str()): ["NEEDS-ACTION", null] },
        "summary": asked["title"], "location": asked["location"]["text"],
    });
    let file = bo.call_meeting_ok("ics", of(&meeting)).await;
    assert!(line(&file, "X-PORTOLAN-SLOT").is_some(), "{:#?}", lines(&file));
    others_agree(&file, &expected);

    let countered = bo.counter(&meeting, &[120]).await.body["result"].clone();
    (expected["method"], expected["start"], expected["end"]) =
        (json!("COUNTER"), slot(120)["start"].clone(), slot(120)["end"].clone());
    expected["attendees"][&ada.id][0] = json!("NEEDS-ACTION");
    expected["attendees"][&bo.id][0] = json!("TENTATIVE");
    others_agree(&ada.call_meeting_ok("ics", of(&meeting)).await, &expected);

    let slot_id = &countered["counter"]["slots"][0]["slot_id"];
    let accept = json!({ "meeting_id": meeting["meeting_id"], "slot_id": slot_id });
    ada.call_meeting_ok("accept_counter", accept).await;
    (expected["method"], expected["status"], expected["sequence"]) =
        (json!("REQUEST"), json!("CONFIRMED"), json!(1));
    for person in [&ada, &bo] {
        expected["attendees"][&person.id][0] = json!("ACCEPTED");
    }
    let file = ada.call_meeting_ok("ics", of(&meeting)).await;
    others_agree(&file, &expected);
    assert!(line(&file, "X-PORTOLAN-SLOT").is_none());
    // The addresses in the file cannot be used to contact anybody.
    for address in lines(&file)
        .iter()
        .filter(|line| line.starts_with("ATTENDEE") || line.starts_with("ORGANIZER"))
    {
        assert!(address.contains(":urn:portolan:own_") && !address.contains('@'), "{address}");
    }

    bo.call_meeting_ok("cancel", of(&meeting)).await;
    (expected["method"], expected["status"], expected["sequence"]) =
        (json!("CANCEL"), json!("CANCELLED"), json!(2));
    others_agree(&ada.call_meeting_ok("ics", of(&meeting)).await, &expected);
    // After a block, the other person's name is not in the file.
    ada.call_ok("block", &bo.id).await;
    let file = bo.call_meeting_ok("ics", of(&meeting)).await;
    assert!(!file["ics"].as_str().unwrap().contains("Augusta"), "{file:#}");
}

/// Lets third-party programs read the file and compare it with the expected values.
fn others_agree(file: &Value, expected: &Value) {
    let folder = tempfile::TempDir::new().unwrap();
    let modules = folder.path().join("node_modules");
    std::os::unix::fs::symlink(clients_folder().join("node_modules"), modules).unwrap();
    std::fs::write(folder.path().join("meeting.ics"), file["ics"].as_str().unwrap()).unwrap();
    std::fs::write(folder.path().join("expected.json"), expected.to_string()).unwrap();
    for (language, program) in [("python3", "meeting_reader.py"), ("node", "meeting_reader.mjs")] {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
        std::fs::copy(programs.join(program), folder.path().join(program)).unwrap();
        let output = Command::new(language)
            .current_dir(folder.path())
            .args([program, "meeting.ics", "expected.json"])
            .env("PYTHONPATH", clients_folder().join("python"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{program}: {text}\n{}", file["ics"].as_str().unwrap());
    }
}

/// Actions that timers and other people run.
const NOT_TRIED: [&str; 4] = ["expire", "finish", "on_member_changed", "part"];

/// Creates a meeting in this state that the first person has proposed to the second, or countered.
async fn in_state<'a>(host: &'a Host, state: &str) -> (Person<'a>, Person<'a>, Value) {
    let (ada, bo) = (Person::new(host).await, Person::new(host).await);
    let thread = open_thread(host, &[&ada, &bo]).await;
    let meeting = match state {
        "countered" => bo.propose(&thread, &[0]).await,
        _ => ada.propose(&thread, &[0]).await,
    };
    match state {
        "countered" => drop(ada.counter(&meeting, &[60]).await),
        "declined" => drop(bo.call_meeting_ok("decline", of(&meeting)).await),
        "cancelled" => drop(ada.call_meeting_ok("cancel", of(&meeting)).await),
        "expired" => {
            begins_in(host, &meeting, -60).await;
            due(host, "expire/ID", &meeting).await;
        }
        "confirmed" | "completed" | "no_show" => {
            bo.accept_ok(&meeting, 0).await;
            begins_in(host, &meeting, -10).await;
        }
        _ => {}
    }
    if state == "completed" || state == "no_show" {
        let report = json!({ "meeting_id": id(&meeting), "outcome": state });
        ada.call_meeting_ok("report_outcome", report).await;
        begins_in(host, &meeting, -60).await;
        due(host, "finish/ID", &meeting).await;
    }
    wait_until(state, async || ada.meeting(&meeting).await["state"] == *state).await;
    let meeting = ada.meeting(&meeting).await;
    (ada, bo, meeting)
}

async fn act(person: &Person<'_>, action: &str, meeting: &Value) -> Reply {
    let mut fields = of(meeting);
    match action {
        "accept" => {
            fields["slot_id"] = slot_id(meeting, 0);
            fields["sequence"] = meeting["sequence"].clone();
        }
        "accept_counter" => {
            let countered = &meeting["counter"]["slots"][0]["slot_id"];
            let known = if countered.is_null() { slot_id(meeting, 0) } else { countered.clone() };
            fields["slot_id"] = known;
        }
        "counter" | "reschedule" => fields["slots"] = json!([slot(240)]),
        "report_outcome" => fields["outcome"] = json!("completed"),
        _ => {}
    }
    person.call_meeting(action, fields).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_meeting_in_every_state_by_either_side() {
    let host = host().await;
    let table = Table::read(&host, MEETINGS, "meeting").await;
    let actions: Vec<_> =
        table.actions().into_iter().filter(|action| !NOT_TRIED.contains(action)).collect();
    let (mut faults, mut followed, mut tried) = (Vec::new(), FollowedSteps::default(), 0);
    for state in &table.states {
        for action in &actions {
            for role in ["asking", "asked"] {
                let (asking, asked, meeting) = in_state(&host, state).await;
                let person = if role == "asking" { &asking } else { &asked };
                let before = person.meeting(&meeting).await;
                let reply = act(person, action, &meeting).await;
                tried += 1;
                faults.extend(followed.follow(person.agent(), &reply).await);
                let after = person.meeting(&meeting).await["state"].clone();
                let expected = table.leads(state, action, Some(role));
                let fits = match &expected {
                    Some(to) => reply.status == 200 && to.iter().any(|state| after == **state),
                    None => {
                        let codes = ["invalid_transition", "not_permitted"];
                        codes.iter().any(|code| reply.body["error_code"] == *code)
                            && reply.body["conflict"]["current"] == **state
                            && reply.body["conflict"]["allowed_actions"]
                                == before["allowed_actions"]
                            && after == **state
                    }
                };
                let listed = before["allowed_actions"].as_array().unwrap().contains(&json!(action));
                if !fits || listed != expected.is_some() {
                    let text = &reply.text;
                    faults
                        .push(format!("{action} by the {role} of a {state}, now {after}: {text}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried > 100, "{tried}");
}
