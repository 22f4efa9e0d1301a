//! Programs by other authors read exported calendars, and find the same times in them.

use crate::{
    cases::{
        calendar_files::{import_counts, import_lines, listed_events},
        clients::clients_folder,
    },
    harness::{
        Agent,
        calendars::{call_calendar, call_calendar_ok, event, events, host, merged},
        relationships::Person,
    },
};
use jiff::{
    Timestamp, ToSpan as _,
    civil::{Date, Weekday},
    tz::TimeZone,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use std::{path::Path, process::Command};

const LA: &str = "America/Los_Angeles";

/// Returns a random block that begins within 500 days; its label needs escapes and folded lines.
fn random_block(random: &mut StdRng, first: Date) -> Value {
    const ZONES: [&str; 7] = [
        LA,
        "Europe/Berlin",
        "Australia/Sydney",
        "Australia/Lord_Howe",
        "Asia/Kolkata",
        "Africa/Casablanca",
        "UTC",
    ];
    const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    let day = first.checked_add(random.random_range(0..500_i64).days()).unwrap();
    // Clocks are changed in the night to a Sunday. If a series begins in such a night, ical.js
    // gives every event the exact length of the first, while other programs go by the clock.
    let day = match day.weekday() {
        Weekday::Saturday => day.tomorrow().unwrap(),
        _ => day,
    };
    let all_day = random.random_bool(0.2);
    let (start, end) = match all_day {
        true => {
            let end = day.checked_add(random.random_range(1..4_i64).days()).unwrap();
            (day.to_string(), end.to_string())
        }
        false => {
            // No block begins in hours that clocks skip or repeat, because programs treat those
            // differently.
            let (hour, length) = match random.random_bool(0.3) {
                true => (random.random_range(20..24), random.random_range(540..660_i64)),
                false => (random.random_range(4..20), random.random_range(15..300_i64)),
            };
            let start = day.at(hour, random.random_range(0..60), 0, 0);
            (start.to_string(), start.checked_add(length.minutes()).unwrap().to_string())
        }
    };
    let zone = if all_day { "UTC" } else { ZONES[random.random_range(0..ZONES.len())] };
    let weekday = DAYS[usize::try_from(day.weekday().to_monday_zero_offset()).unwrap()];
    let interval = random.random_range(1..5);
    let nth = (day.day() - 1) / 7 + 1;
    let rule = match random.random_range(0..8) {
        0 => None,
        1 => Some("FREQ=DAILY".to_owned()),
        2 => Some("FREQ=WEEKLY".to_owned()),
        3 => Some(format!("FREQ=WEEKLY;BYDAY={weekday},{}", DAYS[random.random_range(0..7)])),
        4 => Some("FREQ=MONTHLY".to_owned()),
        5 => Some(format!("FREQ=MONTHLY;BYDAY={nth}{weekday}")),
        6 => Some("FREQ=YEARLY".to_owned()),
        _ => Some(format!("FREQ=DAILY;BYDAY={weekday}")),
    };
    let rule = rule.map(|rule| format!("{rule};INTERVAL={interval}"));
    let until = day.checked_add(random.random_range(1..400_i64).days()).unwrap();
    let rule = rule.map(|rule| match random.random_range(0..4) {
        0 => format!("{rule};COUNT={}", random.random_range(1..40)),
        1 => format!("{rule};UNTIL={}", until.strftime("%Y%m%d")),
        2 => format!("{rule};UNTIL={}", until.strftime("%Y%m%dT170000Z")),
        _ => rule,
    });
    let mut block = json!({
        "start": start, "end": end, "time_zone": zone,
        "label": format!("Grüße, {day}; a\\b \u{1f468}\u{200d}\u{1f469} {}", "long ".repeat(random.random_range(1..20))),
    });
    if let Some(rule) = rule {
        block["rrule"] = json!(rule);
    }
    block
}

/// Runs a program by other authors, which compares the calendar file with the expected events.
fn compare_with_program(language: &str, program: &str, folder: &Path) {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    std::fs::copy(programs.join(program), folder.join(program)).unwrap();
    let output = Command::new(language)
        .current_dir(folder)
        .args([program, "calendar.ics", "expected.json"])
        .env("PYTHONPATH", clients_folder().join("python"))
        // The time zones of the release that requirements.txt names, whatever the machine has.
        .env("PYTHONTZPATH", "")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let tail: String =
        text.chars().rev().take(3_000).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(output.status.success(), "{program}: {tail}");
}

/// Exports the calendar, and checks that other programs find the events in it that the host lists
/// between these days.
async fn check_export(agent: &Agent<'_>, first: Date, days: i64) {
    let instant = |day: i64| {
        let date = first.checked_add(day.days()).unwrap();
        format!("{:.3}", date.to_zoned(TimeZone::UTC).unwrap().timestamp())
    };
    let (mut listed, mut from) = (Vec::new(), 0);
    while from < days {
        let to = (from + 60).min(days);
        listed.extend(events(agent, &instant(from), &instant(to)).await);
        from = to;
    }
    let shown = |event: &Value, name: &str| {
        let text = event[name].as_str().unwrap();
        if event["all_day"] == true { text[..10].to_owned() } else { text.to_owned() }
    };
    let mut occurrences: Vec<_> = listed
        .iter()
        .map(|event| {
            let uid = format!("{}@portolan", event["id"].as_str().unwrap());
            [uid, shown(event, "start"), shown(event, "end")]
        })
        .collect();
    occurrences.sort();
    // An event that reaches from one range into the next is listed in both.
    occurrences.dedup();
    let exported = call_calendar_ok(agent, "export_ics", json!({})).await;
    let titles: Vec<_> = listed
        .iter()
        .filter(|event| event["title"].is_string())
        .map(|event| &event["title"])
        .collect();
    let expected = json!({
        "from": instant(0), "to": instant(days), "events": exported["events"], "titles": titles,
        "occurrences": occurrences,
    });
    assert!(occurrences.len() > 20, "{}", occurrences.len());
    let folder = tempfile::TempDir::new().unwrap();
    std::os::unix::fs::symlink(
        clients_folder().join("node_modules"),
        folder.path().join("node_modules"),
    )
    .unwrap();
    std::fs::write(folder.path().join("calendar.ics"), exported["ics"].as_str().unwrap()).unwrap();
    std::fs::write(folder.path().join("expected.json"), expected.to_string()).unwrap();
    compare_with_program("python3", "calendar_reader.py", folder.path());
    compare_with_program("node", "calendar_reader.mjs", folder.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn other_libraries_find_the_same_times_in_an_export() {
    let host = host().await;
    let year = Timestamp::now().to_zoned(TimeZone::UTC).year() + 1;
    let first = Date::new(year, 1, 1).unwrap();
    for seed in [1, 2, 3] {
        let ada = Person::new(&host).await;
        let mut random = StdRng::seed_from_u64(seed);
        for _ in 0..25 {
            let block = random_block(&mut random, first);
            let reply = call_calendar(ada.agent(), "add_block", block.clone()).await;
            // Only a block whose rule ends before its first event is refused.
            if reply.status != 200 {
                assert_eq!(
                    reply.body["conflict"]["errors"][0]["rule"], "until_after_start",
                    "{block:#}"
                );
            }
        }
        let meeting = json!({
            "action": "reserve", "kind": "firm", "ref": format!("mtg_{seed}"), "owner_ids": [ada.id],
            "start": format!("{year}-12-31T23:30:00Z"), "end": format!("{}-01-01T00:30:00Z", year + 1),
            "title": "Über \"uns\": a, b; c",
        });
        // A tentative meeting can be reserved whatever else is at that time.
        let meeting = merged(meeting, json!({ "kind": "tentative" }));
        ada.agent().result("clerk", meeting).await;
        check_export(ada.agent(), first, 730).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_is_exported_unchanged() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let weekly = event(
        "UID:weekly@example.com",
        &[
            "DTSTART;TZID=America/Los_Angeles:20990105T090000",
            "DURATION:PT1H",
            "RRULE:FREQ=WEEKLY;BYDAY=MO",
            "EXDATE;TZID=America/Los_Angeles:20990112T090000",
        ],
    );
    let moved = event(
        "UID:weekly@example.com",
        &["RECURRENCE-ID:20990119T170000Z", "DTSTART:20990120T190000Z", "DURATION:PT1H"],
    );
    import_lines(ada.agent(), &[weekly, moved].concat()).await;
    let block = json!({ "start": "2099-01-07", "end": "2099-01-08", "label": "Own" });
    call_calendar_ok(ada.agent(), "add_block", block).await;
    let exported = call_calendar_ok(ada.agent(), "export_ics", json!({})).await;
    let text = exported["ics"].as_str().unwrap();
    for line in [
        "UID:weekly@example.com",
        "RECURRENCE-ID;TZID=America/Los_Angeles:20990119T090000",
        "EXDATE;TZID=America/Los_Angeles:20990112T090000",
        "DTSTART;VALUE=DATE:20990107",
        "RRULE:FREQ=WEEKLY;BYDAY=MO",
        // The zone is first used in 2099, and its clock changes apply then too.
        "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
        "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
    ] {
        assert!(text.contains(&format!("\r\n{line}\r\n")), "{line}: {text}");
    }
    assert!(!text.contains("EXDATE;TZID=America/Los_Angeles:20990119"), "{text}");
    let again = call_calendar_ok(ada.agent(), "export_ics", json!({})).await;
    assert_eq!(again["ics"], exported["ics"], "it is stable");
    // A person's own export changes nothing when it is imported; another person gets new events at
    // the same times.
    let own = call_calendar_ok(ada.agent(), "import_ics", json!({ "ics": text })).await;
    assert_eq!((import_counts(&own), &own["skipped"]["own"]), ([0, 0, 2, 0], &json!(1)), "{own:#}");
    let other = call_calendar_ok(bo.agent(), "import_ics", json!({ "ics": text })).await;
    assert_eq!(import_counts(&other), [3, 0, 0, 0], "{other:#}");
    let starts = async |agent: &Agent<'_>| {
        let found = listed_events(agent, "01-01", "02-20").await;
        found.iter().map(|start| start[..11].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(starts(ada.agent()).await, starts(bo.agent()).await);
}
