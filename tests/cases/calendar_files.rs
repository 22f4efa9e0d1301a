//! Calendar files: what is imported from other programs, and how hostile files are refused.

use crate::harness::{
    Agent,
    calendars::{call_calendar, call_calendar_ok, event, events, file, host, periods},
    relationships::Person,
};
use serde_json::{Value, json};

pub async fn import_lines(agent: &Agent<'_>, lines: &[&str]) -> Value {
    call_calendar_ok(agent, "import_ics", json!({ "ics": file(lines) })).await
}

pub fn import_counts(answer: &Value) -> [u64; 4] {
    ["added", "replaced", "unchanged", "removed"].map(|name| answer[name].as_u64().unwrap())
}

/// Lists the starts and titles of the events between two days of 2099.
pub async fn listed_events(agent: &Agent<'_>, start: &str, end: &str) -> Vec<String> {
    let (start, end) = (format!("2099-{start}T00:00:00Z"), format!("2099-{end}T00:00:00Z"));
    let text = |event: &Value| {
        let title = event["title"].as_str().unwrap_or("-");
        format!("{} {title}", &event["start"].as_str().unwrap()[5..16])
    };
    events(agent, &start, &end).await.iter().map(text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_other_calendars_become_blocks() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let zone = [
        "BEGIN:VTIMEZONE",
        "TZID:Home",
        "X-LIC-LOCATION:Europe/Berlin",
        "BEGIN:STANDARD",
        "DTSTART:19701025T030000",
        "TZOFFSETFROM:+0200",
        "TZOFFSETTO:+0100",
        "END:STANDARD",
        "END:VTIMEZONE",
    ];
    let weekly = event(
        "UID:weekly",
        &[
            "DTSTART;TZID=America/Los_Angeles:20990105T090000",
            "DURATION:PT1H30M",
            "RRULE:FREQ=WEEKLY;WKST=SU;BYDAY=MO;COUNT=5",
            "EXDATE;TZID=America/Los_Angeles:20990112T090000",
            "SUMMARY:Yoga\\, with\\nBo",
            "BEGIN:VALARM",
            "TRIGGER:-PT15M",
            "ACTION:DISPLAY",
            "END:VALARM",
        ],
    );
    let moved = event(
        "UID:weekly",
        &[
            "RECURRENCE-ID:20990119T170000Z",
            "DTSTART;TZID=America/Los_Angeles:20990120T110000",
            "DTEND;TZID=America/Los_Angeles:20990120T120000",
            "SUMMARY:Yoga\\, moved",
        ],
    );
    let dropped = event(
        "UID:weekly",
        &[
            "RECURRENCE-ID;TZID=America/Los_Angeles:20990126T090000",
            "DTSTART;TZID=America/Los_Angeles:20990126T090000",
            "STATUS:CANCELLED",
        ],
    );
    let trip = event(
        "UID:trip",
        &["DTSTART;VALUE=DATE:20990301", "DTEND;VALUE=DATE:20990304", "SUMMARY:Trip"],
    );
    let day = event("UID:day", &["DTSTART;VALUE=DATE:20990310", "SUMMARY:Day"]);
    let alias = event(
        "UID:alias",
        &["DTSTART;TZID=Home:20990401T120000", "DTEND;TZID=Home:20990401T130000"],
    );
    let outlook = event(
        "UID:outlook",
        &[
            "DTSTART;TZID=Pacific Standard Time:20990402T090000",
            "DTEND:20990402T170000Z",
            "STATUS:TENTATIVE",
        ],
    );
    let show = event(
        "UID:show",
        &["DTSTART:20990403T090000Z", "DTEND:20990403T100000Z", "TRANSP:TRANSPARENT"],
    );
    let off = event(
        "UID:off",
        &["DTSTART:20990403T090000Z", "DTEND:20990403T100000Z", "STATUS:CANCELLED"],
    );
    let over = event("UID:over", &["DTSTART:20200403T090000Z", "DTEND:20200403T100000Z"]);
    let instant = event("UID:instant", &["DTSTART:20990403T090000Z"]);
    let birthday = event(
        "UID:birthday",
        &["DTSTART;VALUE=DATE:19650415", "RRULE:FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=15"],
    );
    let busy = [
        "BEGIN:VFREEBUSY",
        "UID:fb",
        "FREEBUSY:20990501T090000Z/20990501T100000Z,20990501T110000Z/PT30M",
        "FREEBUSY;FBTYPE=FREE:20990501T120000Z/PT1H",
        "FREEBUSY;FBTYPE=BUSY-TENTATIVE:20990501T130000Z/PT1H",
        "END:VFREEBUSY",
    ];
    let all = [
        &zone[..],
        &moved,
        &weekly,
        &dropped,
        &trip,
        &day,
        &alias,
        &outlook,
        &show,
        &off,
        &over,
        &instant,
        &birthday,
        &busy,
    ]
    .concat();
    let answer = import_lines(ada.agent(), &all).await;
    assert_eq!(import_counts(&answer), [10, 0, 0, 0], "{answer:#}");
    let skipped = json!({
        "transparent": 2, "cancelled": 2, "past": 1, "empty": 1, "own": 0, "faulty": 0,
        "entries": [],
    });
    assert_eq!(answer["skipped"], skipped, "{answer:#}");
    // A whole day of a file without a time zone.
    assert_eq!(answer["unsupported_count"], 1, "{answer:#}");
    assert_eq!(answer["unsupported"][0]["part"], "DTSTART", "{answer:#}");
    assert_eq!(
        listed_events(ada.agent(), "01-01", "02-20").await,
        ["01-05T17:00 Yoga, with Bo", "01-20T19:00 Yoga, moved", "02-02T17:00 Yoga, with Bo"]
    );
    assert_eq!(
        listed_events(ada.agent(), "02-20", "03-31").await,
        ["03-01T00:00 Trip", "03-10T00:00 Day"]
    );
    assert_eq!(
        listed_events(ada.agent(), "04-01", "05-02").await,
        [
            "04-01T10:00 -",
            "04-02T16:00 -",
            "04-15T00:00 -",
            "05-01T09:00 -",
            "05-01T11:00 -",
            "05-01T13:00 -"
        ]
    );
    let yoga = &events(ada.agent(), "2099-01-05T00:00:00Z", "2099-01-06T00:00:00Z").await[0];
    assert_eq!(
        (&yoga["source"], &yoga["trust"], &yoga["end"]),
        (&json!("imported"), &json!("untrusted_user_content"), &json!("2099-01-05T18:30:00.000Z"))
    );
    assert_eq!(
        periods(ada.agent(), "me", "2099-05-01T12:00:00Z", "2099-05-01T15:00:00Z").await,
        [
            "05-01T12:00 05-01T13:00 FREE",
            "05-01T13:00 05-01T14:00 BUSY-TENTATIVE",
            "05-01T14:00 05-01T15:00 FREE",
        ]
    );

    // The same file again changes nothing. An event with the same UID replaces the former one, or
    // removes it if it is cancelled.
    assert_eq!(import_counts(&import_lines(ada.agent(), &all).await), [0, 0, 10, 0]);
    let later = event("UID:trip", &["DTSTART;VALUE=DATE:20990302", "SUMMARY:Trip"]);
    let cancelled = event("UID:day", &["DTSTART;VALUE=DATE:20990310", "STATUS:CANCELLED"]);
    let answer = import_lines(ada.agent(), &[later.clone(), cancelled].concat()).await;
    assert_eq!(import_counts(&answer), [0, 1, 0, 1]);
    assert_eq!(listed_events(ada.agent(), "02-20", "03-31").await, ["03-02T00:00 Trip"]);
    let plain = event("UID:weekly", &["DTSTART:20990105T170000Z", "DURATION:PT1H"]);
    assert_eq!(import_counts(&import_lines(ada.agent(), &plain).await), [0, 1, 0, 1]);
    assert_eq!(listed_events(ada.agent(), "01-01", "02-20").await, ["01-05T17:00 -"]);
    let only = json!({ "ics": file(&later), "replace_all": true });
    assert_eq!(
        import_counts(&call_calendar_ok(ada.agent(), "import_ics", only).await),
        [0, 0, 1, 7]
    );
    let trip = &events(ada.agent(), "2099-03-01T00:00:00Z", "2099-04-01T00:00:00Z").await[0];
    call_calendar_ok(ada.agent(), "remove_block", json!({ "block_id": trip["id"] })).await;
    assert_eq!(listed_events(ada.agent(), "02-20", "03-31").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_that_cannot_be_imported_are_reported() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let times = ["DTSTART:20990105T090000Z", "DTEND:20990105T100000Z"];
    for (line, part) in [
        ("RECURRENCE-ID;TZID=Mars/Olympus:20990105T090000", "TZID"),
        ("RRULE:FREQ=YEARLY;COUNT=2\r\nRRULE:FREQ=YEARLY;INTERVAL=2", "RRULE"),
        ("EXRULE:FREQ=DAILY", "EXRULE"),
        ("SUMMARY", "SUMMARY"),
        ("DURATION:PT3H", "DURATION"),
        ("COMMENT:\u{7}", "COMMENT"),
    ] {
        let answer =
            import_lines(ada.agent(), &event("UID:x", &[&times[..], &[line]].concat())).await;
        assert_eq!(answer["unsupported_count"], 1, "{line}: {answer:#}");
        assert_eq!(answer["unsupported"][0]["part"], part, "{answer:#}");
        assert!(answer["unsupported"][0]["line"].as_u64().unwrap() >= 4, "{answer:#}");
        assert_eq!(listed_events(ada.agent(), "01-01", "02-20").await, ["01-05T09:00 -"], "{line}");
    }
    // Rules that would take too long or occur too often: the others of the file are imported.
    for rule in [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9;BYMINUTE=0,5,10,15,20,25,30,35,40,45",
        "FREQ=DAILY;COUNT=1000000000",
        "FREQ=DAILY;INTERVAL=1000000000",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=9;COUNT=2",
        "RSCALE=HEBREW;FREQ=YEARLY",
    ] {
        let line = format!("RRULE:{rule}");
        let hostile = [&times[..], &[line.as_str()]].concat();
        let both = [event("UID:x", &times), event("UID:hostile", &hostile)].concat();
        let answer = import_lines(ada.agent(), &both).await;
        assert_eq!(import_counts(&answer), [0, 0, 1, 0], "{rule}: {answer:#}");
        let skipped = &answer["skipped"]["entries"][0];
        assert_eq!((&skipped["uid"], &answer["skipped"]["faulty"]), (&json!("hostile"), &json!(1)));
        assert!(skipped["reason"].as_str().unwrap().starts_with("Expected: "), "{answer:#}");
    }
    // Rules that together would take too long, and more events than a person may have.
    let many = |count: usize, more: &str| {
        let event = |number| {
            let [start, end] = times;
            format!("BEGIN:VEVENT\r\nUID:{number}\r\n{start}\r\n{end}\r\n{more}END:VEVENT\r\n")
        };
        let events: String = (0..count).map(event).collect();
        json!({ "ics": file(&[events.trim_end()]), "replace_all": true })
    };
    let counted = call_calendar_ok(
        ada.agent(),
        "import_ics",
        many(390, "RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=1000\r\n"),
    )
    .await;
    let left_out = counted["skipped"]["faulty"].as_u64().unwrap();
    assert!((51..390).contains(&left_out), "{counted:#}");
    assert_eq!(counted["skipped"]["entries"].as_array().unwrap().len(), 50);
    let full = call_calendar_ok(ada.agent(), "import_ics", many(400, "")).await;
    assert_eq!(import_counts(&full)[0], left_out + 10, "{full:#}");
    let block = json!({ "start": "2026-11-02", "end": "2026-11-03" });
    let refused = call_calendar(ada.agent(), "add_block", block).await;
    refused.assert_refused(409, "block_limit_reached");
    assert_eq!(refused.body["conflict"]["limit"], 400);
    ada.call_next_step(&refused.body["next"]).await;
    for count in [401, 2_000] {
        call_calendar(ada.agent(), "import_ics", many(count, ""))
            .await
            .assert_refused(409, "block_limit_reached");
    }
    assert_eq!(
        listed_events(ada.agent(), "01-01", "02-20").await.len(),
        400,
        "nothing was changed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_parsed_are_refused_with_the_line() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let cases: Vec<(String, u64)> = vec![
        ("hello".into(), 1),
        ("\0".into(), 1),
        ("\n\n".into(), 1),
        ("BEGIN:VEVENT\nEND:VEVENT\n".into(), 1),
        ("BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:x\n".into(), 4),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n".into(), 3),
        (format!("BEGIN:VCALENDAR\n{}", "BEGIN:X\n".repeat(20_000)), 9),
    ];
    for (ics, line) in cases {
        let refused = call_calendar(ada.agent(), "import_ics", json!({ "ics": ics })).await;
        let shown: String = ics.chars().take(200).collect();
        assert_eq!(refused.body["error_code"], "ics_invalid", "{shown:?} {}", refused.text);
        refused.assert_refused(400, "ics_invalid");
        assert_eq!(
            refused.body["conflict"]["errors"][0]["line"], line,
            "{shown:?} {}",
            refused.text
        );
        ada.call_next_step(&refused.body["next"]).await;
    }
    let huge = file(&event("UID:x", &[&format!("SUMMARY:{}", "a".repeat(270_000))]));
    let refused = call_calendar(ada.agent(), "import_ics", json!({ "ics": huge })).await;
    refused.assert_refused(413, "payload_too_large");
    assert_eq!(listed_events(ada.agent(), "01-01", "02-20").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_with_an_error_is_left_out_and_named() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let start = "DTSTART:20990105T090000Z";
    let folded = format!("DESCRIPTION:{}\r\n{start}\r\nDTEND:no", "\r\n x".repeat(30_000));
    let good = event("UID:good", &[start, "DURATION:PT1H", "SUMMARY:Good"]);
    call_calendar_ok(ada.agent(), "import_ics", json!({ "ics": file(&good) })).await;
    let cases: Vec<(Vec<&str>, u64)> = vec![
        (vec![start, "DTEND;TZID=\"x:20990105T100000"], 8),
        (vec!["DTSTART:tomorrow"], 7),
        (vec!["DTSTART:20991305T090000Z"], 7),
        (vec![start, start], 8),
        (vec![start, "DURATION:-PT1H"], 8),
        (vec![start, "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=0"], 9),
        (vec![start, "DURATION:PT1H", "RRULE:nonsense"], 9),
        (vec![start, "DURATION:PT1H", "EXDATE:never"], 9),
        (vec!["SUMMARY:no start"], 4),
        (vec![&folded], 30_009),
    ];
    for (lines, line) in cases {
        let ics = file(&[event("UID:bad", &lines), good.clone()].concat());
        let answer = call_calendar_ok(ada.agent(), "import_ics", json!({ "ics": ics })).await;
        assert_eq!(import_counts(&answer), [0, 0, 1, 0], "{lines:?} {answer:#}");
        let entry = &answer["skipped"]["entries"][0];
        assert_eq!((&entry["line"], &entry["uid"]), (&json!(line), &json!("bad")), "{answer:#}");
    }
    // An event that was imported before stays, even if everything else is removed.
    let bad = event("UID:good", &["DTSTART:tomorrow"]);
    let all = json!({ "ics": file(&bad), "replace_all": true });
    let answer = call_calendar_ok(ada.agent(), "import_ics", all).await;
    assert_eq!(import_counts(&answer), [0; 4], "{answer:#}");
    assert_eq!(listed_events(ada.agent(), "01-01", "02-01").await, ["01-05T09:00 Good"]);
    // Without a UID, the same event is the same block.
    let unnamed = ["BEGIN:VEVENT", "DTSTART:20990110T090000Z", "DURATION:PT1H", "END:VEVENT"];
    assert_eq!(import_counts(&import_lines(ada.agent(), &unnamed).await), [1, 0, 0, 0]);
    assert_eq!(import_counts(&import_lines(ada.agent(), &unnamed).await), [0, 0, 1, 0]);
    let busy = ["BEGIN:VFREEBUSY", "FREEBUSY:20990105T090000Z", "END:VFREEBUSY"];
    let answer = import_lines(ada.agent(), &busy).await;
    assert_eq!(answer["skipped"]["entries"][0]["line"], 5, "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_zones_and_changes_of_other_programs_are_imported() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let zone = [
        "BEGIN:VTIMEZONE",
        "TZID:(UTC-05:00) Eastern Time",
        "BEGIN:STANDARD",
        "DTSTART:16010101T020000",
        "TZOFFSETFROM:-0400",
        "TZOFFSETTO:-0500",
        "RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11",
        "END:STANDARD",
        "BEGIN:DAYLIGHT",
        "DTSTART:16010101T020000",
        "TZOFFSETFROM:-0500",
        "TZOFFSETTO:-0400",
        "RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3",
        "END:DAYLIGHT",
        "END:VTIMEZONE",
    ];
    let events = [
        event(
            "UID:payday",
            &[
                "DTSTART;TZID=\"(UTC-05:00) Eastern Time\":20200131T090000",
                "DURATION:PT1H",
                "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
                "SUMMARY:Payday",
            ],
        ),
        event(
            "UID:yearly",
            &[
                "DTSTART;VALUE=DATE:20200104",
                "RRULE:FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=4",
                "SUMMARY:Yearly",
            ],
        ),
        event(
            "UID:more",
            &[
                "DTSTART:20990105T090000Z",
                "DTEND:20990105T100000Z",
                "RDATE;VALUE=PERIOD:20990106T090000Z/PT3H",
                "SUMMARY:More",
            ],
        ),
        event(
            "UID:later",
            &["DTSTART:20990112T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=4", "SUMMARY:A"],
        ),
        event(
            "UID:later",
            &[
                "RECURRENCE-ID;RANGE=THISANDFUTURE:20990114T090000Z",
                "DTSTART:20990114T110000Z",
                "DURATION:PT1H",
                "SUMMARY:B",
            ],
        ),
        event(
            "UID:free",
            &[
                "DTSTART:20990105T090000Z",
                "DTEND:20990105T100000Z",
                "X-MICROSOFT-CDO-BUSYSTATUS:FREE",
            ],
        ),
    ];
    let all = [&zone[..], &events.concat()].concat();
    let answer = import_lines(ada.agent(), &all).await;
    assert_eq!(import_counts(&answer), [5, 0, 0, 0], "{answer:#}");
    assert_eq!(
        listed_events(ada.agent(), "01-01", "02-01").await,
        [
            "01-04T00:00 Yearly",
            "01-05T09:00 More",
            "01-06T09:00 More",
            "01-12T09:00 A",
            "01-13T09:00 A",
            "01-14T11:00 B",
            "01-15T11:00 B",
            "01-30T14:00 Payday",
        ]
    );
    assert_eq!(
        listed_events(ada.agent(), "07-01", "08-01").await,
        ["07-04T00:00 Yearly", "07-31T13:00 Payday"]
    );
    // An import of the export changes nothing.
    let exported = call_calendar_ok(ada.agent(), "export_ics", json!({})).await;
    let again = json!({ "ics": exported["ics"] });
    let answer = call_calendar_ok(ada.agent(), "import_ics", again).await;
    assert_eq!(import_counts(&answer), [0, 0, 5, 0], "{answer:#}");
    assert_eq!(
        listed_events(ada.agent(), "07-01", "08-01").await,
        ["07-04T00:00 Yearly", "07-31T13:00 Payday"]
    );
}
