//! Imports of events, and exports that are imported again as the same.

use crate::{
    CalendarCapability,
    types::{RESERVATIONS, Reservation},
};
use people_kit::calendar::Firmness;
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

const NOW: &str = "2026-11-01T09:00:00Z";

fn world() -> World {
    test::world().of::<CalendarCapability>().at(NOW)
}

fn file(parts: &[&str]) -> Value {
    let text = parts.join("\r\n");
    json!({ "ics": format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{text}\r\nEND:VCALENDAR\r\n") })
}

fn event(lines: &str) -> String {
    format!("BEGIN:VEVENT\r\n{}\r\nEND:VEVENT", lines.replace('\n', "\r\n"))
}

fn counts(answer: &Value) -> [u64; 4] {
    ["added", "replaced", "unchanged", "removed"].map(|name| answer[name].as_u64().unwrap())
}

/// Lists what begins in these days, with the length in minutes.
fn listed(world: &mut World, from: &str, to: &str) -> Vec<String> {
    let [start, end] = [from, to].map(|day| format!("{day}T00:00:00Z"));
    let range = json!({ "start": start, "end": end, "limit": 100 });
    let answer = world.call("list_events", &range).unwrap();
    let shown = |event: &Value| {
        let time = |name: &str| time::parse(event[name].as_str().unwrap()).unwrap();
        let minutes = (time("end") - time("start")) / time::MINUTE;
        format!("{} {minutes}", &event["start"].as_str().unwrap()[..16])
    };
    answer["items"].as_array().unwrap().iter().map(shown).collect()
}

/// Imports these events, and checks that another import and one of the export change nothing.
fn imported(events: &[&str]) -> (World, Value) {
    let mut world = world();
    let answer = world.call("import_ics", &file(events)).unwrap();
    let again = world.call("import_ics", &file(events)).unwrap();
    let added = answer["added"].as_u64().unwrap();
    assert_eq!(counts(&again), [0, 0, added, 0], "{again:#}");
    let exported = world.call("export_ics", &json!({})).unwrap();
    let again = world.call("import_ics", &json!({ "ics": exported["ics"] })).unwrap();
    // A changed occurrence whose event is gone has a UID of its own in the export.
    let own = again["skipped"]["own"].as_u64().unwrap();
    assert_eq!(counts(&again), [0, 0, added - own, 0], "{again:#} {}", exported["ics"]);
    (world, answer)
}

#[test]
fn rules_of_all_kinds_are_kept() {
    for (lines, expected) in [
        (
            "UID:a\nDTSTART:20200131T090000Z\nDURATION:PT1H\n\
                RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            vec!["2026-11-30T09:00 60", "2026-12-31T09:00 60"],
        ),
        (
            "UID:a\nDTSTART;VALUE=DATE:20200104\nRRULE:FREQ=YEARLY;BYMONTH=1,12",
            vec!["2026-12-04T00:00 1440"],
        ),
        (
            "UID:a\nDTSTART:20261102T090000Z\nDURATION:PT15M\n\
                RRULE:FREQ=HOURLY;INTERVAL=3;COUNT=3\nEXDATE:20261102T120000Z",
            vec!["2026-11-02T09:00 15", "2026-11-02T15:00 15"],
        ),
        (
            "UID:a\nDTSTART:20261102T090000Z\nDTEND:20261102T100000Z\n\
                RDATE;VALUE=PERIOD:20261103T090000Z/PT3H\nRDATE:20261104T090000Z,20200104T090000Z",
            vec!["2026-11-02T09:00 60", "2026-11-03T09:00 180", "2026-11-04T09:00 60"],
        ),
    ] {
        let (mut world, answer) = imported(&["X-WR-TIMEZONE:UTC", &event(lines)]);
        assert_eq!(answer["unsupported_count"], 0, "{answer:#}");
        assert_eq!(listed(&mut world, "2026-11-01", "2027-01-01"), expected, "{lines}");
    }
}

#[test]
fn a_change_of_all_later_occurrences_moves_them() {
    let weekly = event(
        "UID:a\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=5\n\
            EXDATE:20261123T090000Z",
    );
    let later = event(
        "UID:a\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261116T090000Z\n\
            DTSTART:20261117T100000Z\nDURATION:PT2H",
    );
    let expected = [
        "2026-11-02T09:00 60",
        "2026-11-09T09:00 60",
        "2026-11-17T10:00 120",
        "2026-12-01T10:00 120",
    ];
    for events in [[&weekly, &later], [&later, &weekly]] {
        let (mut world, answer) = imported(&events.map(String::as_str));
        assert_eq!(counts(&answer)[0], 2, "{answer:#}");
        assert_eq!(listed(&mut world, "2026-11-01", "2027-01-01"), expected);
    }
    let endless = event("UID:b\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY");
    let later = event(
        "UID:b\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261102T090000Z\n\
            DTSTART:20261102T100000Z\nDURATION:PT1H",
    );
    let (mut world, answer) = imported(&[&endless, &later]);
    assert_eq!(answer["unsupported"][0]["part"], "RANGE", "{answer:#}");
    assert_eq!(counts(&answer)[0], 1, "nothing of the event itself is left");
    assert_eq!(listed(&mut world, "2026-11-01", "2026-11-04").len(), 2);
    let cancelled = event(
        "UID:b\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261104T090000Z\n\
            DTSTART:20261104T090000Z\nSTATUS:CANCELLED",
    );
    let (mut world, _) = imported(&[&endless, &cancelled]);
    assert_eq!(listed(&mut world, "2026-11-01", "2026-12-01").len(), 2);
}

#[test]
fn a_zone_of_the_file_counts() {
    let part = |kind: &str, from: &str, to: &str, rule: &str| {
        format!(
            "BEGIN:{kind}\r\nDTSTART:16010101T020000\r\nTZOFFSETFROM:{from}\r\nTZOFFSETTO:{to}\r\n\
                RRULE:FREQ=YEARLY;{rule}\r\nEND:{kind}\r\n"
        )
    };
    let zone = format!(
        "BEGIN:VTIMEZONE\r\nTZID:Customized Time Zone\r\n{}{}END:VTIMEZONE",
        part("STANDARD", "-0400", "-0500", "BYDAY=1SU;BYMONTH=11"),
        part("DAYLIGHT", "-0500", "-0400", "BYDAY=2SU;BYMONTH=3"),
    );
    let daily = event(
        "UID:a\nDTSTART;TZID=Customized Time Zone:20270312T090000\nDURATION:PT1H\n\
            RRULE:FREQ=DAILY;COUNT=4",
    );
    let (mut world, answer) = imported(&[&zone, &daily]);
    assert_eq!(counts(&answer)[0], 1, "{answer:#}");
    assert_eq!(
        listed(&mut world, "2027-03-01", "2027-04-01"),
        [
            "2027-03-12T14:00 60",
            "2027-03-13T14:00 60",
            "2027-03-14T13:00 60",
            "2027-03-15T13:00 60"
        ]
    );
}

#[test]
fn what_is_free_or_cancelled_is_not_busy() {
    for (line, counted) in [
        ("TRANSP:TRANSPARENT", "transparent"),
        ("X-MICROSOFT-CDO-BUSYSTATUS:FREE", "transparent"),
        ("STATUS:cancelled", "cancelled"),
    ] {
        let (_, answer) =
            imported(&[&event(&format!("DTSTART:20261102T090000Z\nDURATION:PT1H\n{line}"))]);
        assert_eq!((&answer["skipped"][counted], counts(&answer)), (&json!(1), [0; 4]), "{line}");
    }
    for (line, tentative) in [
        ("X-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE", true),
        ("X-MICROSOFT-CDO-BUSYSTATUS:OOF", false),
        ("STATUS:CONFIRMED", false),
    ] {
        let (mut world, _) =
            imported(&[&event(&format!("DTSTART:20261102T090000Z\nDURATION:PT1H\n{line}"))]);
        let range = json!({ "start": "2026-11-02T00:00:00Z", "end": "2026-11-03T00:00:00Z" });
        let found = world.call("list_events", &range).unwrap();
        assert_eq!(found["items"][0]["tentative"], tentative, "{line}");
    }
}

#[test]
fn a_zone_that_nobody_knows_is_that_of_the_calendar() {
    let lines = "UID:a\nDTSTART;TZID=Mars/Olympus:20261102T090000\nDURATION:PT1H";
    let (mut world, answer) = imported(&["X-WR-TIMEZONE:Asia/Tokyo", &event(lines)]);
    assert_eq!(answer["unsupported"][0]["part"], "TZID", "{answer:#}");
    assert_eq!(listed(&mut world, "2026-11-01", "2026-12-01"), ["2026-11-02T00:00 60"]);
}

#[test]
fn times_without_a_zone_are_those_of_the_availability_and_otherwise_reported() {
    let floating = event("UID:a\nDTSTART:20261102T090000\nDURATION:PT1H");
    let (mut world, answer) = imported(&[&floating]);
    assert_eq!(answer["unsupported"][0]["part"], "DTSTART", "{answer:#}");
    assert!(answer["unsupported"][0]["instead"].as_str().unwrap().contains("UTC"), "{answer:#}");
    let hours = json!({
        "time_zone": "Asia/Tokyo", "rules": [{ "days": ["MO"], "from": "09:00", "to": "17:00" }],
    });
    world.call("set_availability", &hours).unwrap();
    let again = world.call("import_ics", &file(&[&floating])).unwrap();
    assert_eq!((counts(&again), &again["unsupported_count"]), ([0, 1, 0, 0], &json!(0)));
    assert_eq!(listed(&mut world, "2026-11-01", "2026-12-01"), ["2026-11-02T00:00 60"]);
}

#[test]
fn two_events_with_one_uid_are_reported_and_a_cancellation_removes_its_event() {
    let days =
        [18, 19].map(|day| event(&format!("UID:a\nDTSTART:202612{day}T090000Z\nDURATION:PT1H")));
    let (mut world, answer) = imported(&[&days[0], &days[1]]);
    assert_eq!((counts(&answer)[0], &answer["unsupported"][0]["part"]), (1, &json!("UID")));
    assert_eq!(listed(&mut world, "2026-12-01", "2027-01-01"), ["2026-12-19T09:00 60"]);
    let cancelled = world.call("import_ics", &file(&["METHOD:CANCEL", &days[1]])).unwrap();
    assert_eq!((counts(&cancelled), &cancelled["skipped"]["cancelled"]), ([0, 0, 0, 1], &json!(1)));
}

#[test]
fn a_second_rule_adds_occurrences() {
    let lines = "UID:a\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2\n\
        RRULE:FREQ=DAILY\\;COUNT=2";
    let (mut world, answer) = imported(&[&event(lines)]);
    assert_eq!(answer["unsupported_count"], 0, "{answer:#}");
    assert_eq!(
        listed(&mut world, "2026-11-01", "2026-12-01"),
        ["2026-11-02T09:00 60", "2026-11-03T09:00 60", "2026-11-09T09:00 60"]
    );
}

#[test]
fn an_event_with_an_error_is_named() {
    let good = event("DTSTART:20261102T090000Z\nDURATION:PT1H\nSUMMARY");
    let bad = [
        "UID:bad\nDTSTART:tomorrow",
        "UID:bad\nDTSTART:20261302T090000Z\nDURATION:PT1H",
        "UID:bad\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=SECONDLY",
        "UID:bad\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=1000000000",
        "UID:bad\nDTSTART:20261102T090000Z\nDURATION",
    ];
    let all: Vec<String> = bad.iter().map(|lines| event(lines)).chain([good]).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (mut world, answer) = imported(&all);
    let lines: Vec<_> = answer["skipped"]["entries"].as_array().unwrap().iter().collect();
    assert!(lines.iter().all(|entry| entry["uid"] == "bad"), "{answer:#}");
    assert_eq!(lines.iter().map(|entry| &entry["line"]).collect::<Vec<_>>(), [5, 9, 16, 22, 27]);
    assert_eq!((answer["skipped"]["faulty"].as_u64(), counts(&answer)[0]), (Some(5), 1));
    assert_eq!(answer["unsupported"][0]["part"], "SUMMARY", "{answer:#}");
    assert_eq!(listed(&mut world, "2026-11-01", "2026-12-01"), ["2026-11-02T09:00 60"]);
}

#[test]
fn an_occurrence_that_is_changed_and_excluded_is_none() {
    let daily = event(
        "UID:a\nDTSTART:20261102T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\n\
            EXDATE:20261103T090000Z",
    );
    let changed =
        event("UID:a\nRECURRENCE-ID:20261103T090000Z\nDTSTART:20261103T110000Z\nDURATION:PT1H");
    let (mut world, _) = imported(&[&daily, &changed]);
    assert_eq!(
        listed(&mut world, "2026-11-01", "2026-12-01"),
        ["2026-11-02T09:00 60", "2026-11-04T09:00 60"]
    );
}

#[test]
fn the_export_of_files_of_other_programs_changes_nothing() {
    let part = |kind: &str, from: &str, to: &str, rule: &str| {
        format!(
            "BEGIN:{kind}\r\nDTSTART:16010101T020000\r\nTZOFFSETFROM:{from}\r\nTZOFFSETTO:{to}\r\n\
                RRULE:FREQ=YEARLY;{rule}\r\nEND:{kind}\r\n"
        )
    };
    let zone = format!(
        "BEGIN:VTIMEZONE\r\nTZID:(UTC-05:00) Eastern Time\r\n{}{}END:VTIMEZONE",
        part("STANDARD", "-0400", "-0500", "BYDAY=1SU;BYMONTH=11"),
        part("DAYLIGHT", "-0500", "-0400", "BYDAY=2SU;BYMONTH=3"),
    );
    let payday = "UID:payday\nDTSTART;TZID=\"(UTC-05:00) Eastern Time\":20200131T090000\n\
        DURATION:PT1H\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1";
    let yearly = event(
        "UID:yearly\nDTSTART;VALUE=DATE:20200104\nRRULE:FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=4\n\
            SUMMARY:Yearly",
    );
    let more = event(
        "UID:more\nDTSTART:20990105T090000Z\nDTEND:20990105T100000Z\n\
            RDATE;VALUE=PERIOD:20990106T090000Z/PT3H\nSUMMARY:More",
    );
    let later = event("UID:b\nDTSTART:20990112T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4");
    let change = event(
        "UID:b\nRECURRENCE-ID;RANGE=THISANDFUTURE:20990114T090000Z\n\
            DTSTART:20990114T110000Z\nDURATION:PT1H",
    );
    imported(&[&zone, &event(payday), &yearly, &more, &later, &change]);
}

/// Returns events whose rules have 96 occurrences on each day.
fn frequent(names: &str) -> Vec<String> {
    let lines = |name: char| {
        let rule = "FREQ=MINUTELY;INTERVAL=15";
        event(&format!("UID:{name}\nDTSTART:20261102T090000Z\nDURATION:PT5M\nRRULE:{rule}"))
    };
    names.chars().map(lines).collect()
}

fn import(world: &mut World, events: &[String], replace_all: bool) -> Result<Value, Refusal> {
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let mut input = file(&events);
    input["replace_all"] = json!(replace_all);
    world.call("import_ics", &input)
}

#[test]
fn the_occurrences_of_a_day_are_limited_for_a_person_and_not_for_a_file() {
    let mut world = world();
    let first = import(&mut world, &frequent("abcdefghij"), false).unwrap();
    assert_eq!(counts(&first), [10, 0, 0, 0]);
    // A second file adds to the first one, and is left out where the day is full.
    let second = import(&mut world, &frequent("k"), false).unwrap();
    assert_eq!((counts(&second), &second["skipped"]["faulty"]), ([0; 4], &json!(1)));
    // An event that a file replaces does not count twice.
    let again = import(&mut world, &frequent("abcdefghij"), false).unwrap();
    assert_eq!(counts(&again), [0, 0, 10, 0], "{again:#}");
    let other = import(&mut world, &frequent("klmnopqrst"), true).unwrap();
    assert_eq!(counts(&other), [10, 0, 0, 10], "{other:#}");
    // An event that stays because of an error counts.
    let faulty = event("UID:k\nDTSTART:tomorrow");
    let with_faulty = [frequent("u"), vec![faulty]].concat();
    assert_eq!(import(&mut world, &with_faulty, false).unwrap_err().code, "daily_limit_reached");
}

#[test]
fn an_end_before_the_start_is_an_error_that_is_named() {
    let before = event("UID:before\nDTSTART:20261102T100000Z\nDTEND:20261102T090000Z");
    let empty = event("UID:empty\nDTSTART:20261102T100000Z\nDTEND:20261102T100000Z");
    let busy = "BEGIN:VFREEBUSY\r\nUID:fb\r\n\
        FREEBUSY:20261103T110000Z/20261103T100000Z,20261103T120000Z/PT1H\r\nEND:VFREEBUSY";
    let answer = world().call("import_ics", &file(&[&before, &empty, busy])).unwrap();
    let skipped = &answer["skipped"];
    assert_eq!((counts(&answer)[0], &skipped["empty"]), (1, &json!(1)), "{answer:#}");
    assert_eq!(skipped["faulty"], 2);
    assert_eq!(
        (&skipped["entries"][0]["uid"], &skipped["entries"][0]["line"]),
        (&json!("before"), &json!(6))
    );
}

#[test]
fn a_file_with_too_many_events_is_refused_with_their_number() {
    let events: Vec<String> = (0..401)
        .map(|number| event(&format!("UID:{number}\nDTSTART:20270102T100000Z\nDURATION:PT1H")))
        .collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let mut world = world();
    let block = json!({ "start": "2026-11-02", "end": "2026-11-03" });
    world.call("add_block", &block).unwrap();
    for (count, blocks) in [(401, 402), (400, 401)] {
        let refusal = world.call("import_ics", &file(&events[..count])).unwrap_err();
        assert_eq!(refusal.code, "block_limit_reached");
        let conflict = refusal.conflict.unwrap();
        assert_eq!((&conflict["limit"], &conflict["blocks"]), (&json!(400), &json!(blocks)));
    }
    assert_eq!(counts(&world.call("import_ics", &file(&events[..399])).unwrap())[0], 399);
}

#[test]
fn what_was_exported_from_this_calendar_is_not_imported() {
    let me = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    let reservation = |owner_id: &str| Reservation {
        owner_ids: vec![owner_id.to_owned()],
        kind: Firmness::Firm,
        title: None,
        title_by: None,
        begins: 0,
        ends: 1,
    };
    let mut world = world().owner(me).document(RESERVATIONS, "mtg_own", &reservation(me)).document(
        RESERVATIONS,
        "mtg_foreign",
        &reservation("own_01JZX8Q4M2N6P7R8S9T0V1W2X9"),
    );
    let block = json!({ "start": "2026-11-02T09:00:00Z", "end": "2026-11-02T10:00:00Z" });
    let block = world.call("add_block", &block).unwrap();
    let block_id = block["block_id"].as_str().unwrap().to_owned();
    let mut ids = vec![block_id, "mtg_own".to_owned(), "mtg_foreign".to_owned()];
    // More than are looked up at once.
    ids.extend((0..600).map(|number| format!("mtg_{number}")));
    let events = ids.iter().map(|id| {
        event(&format!(
            "UID:{id}@portolan\nDTSTART:20261103T090000Z\nDTEND:20261103T100000Z\n\
                TRANSP:TRANSPARENT"
        ))
    });
    let events: Vec<String> = events.collect();
    let answer = world.call("import_ics", &file(&[&events.join("\r\n")])).unwrap();
    let skipped = &answer["skipped"];
    assert_eq!((&skipped["own"], &skipped["transparent"]), (&json!(2), &json!(601)), "{answer:#}");
}
