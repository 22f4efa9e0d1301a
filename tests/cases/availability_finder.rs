//! Times with others: the times that are found, held and booked agree with the calendars of all, one of two who
//! want the last time gets it, and nobody reads anybody's calendar.

use crate::{
    cases::personal::export,
    harness::{
        Host, Options, Reply,
        calendars::{call_calendar_ok, events, merged},
        conversations::wait_until,
        join_all,
        mcp::Mcp,
        relationships::Person,
    },
};
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use serde_json::{Value, json};

const FINDER: &str = "availability_finder";
const QUARTER_MS: i64 = 15 * 60_000;

async fn host() -> Host {
    let names = [
        "availability_finder",
        "calendar",
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
    ];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

impl Person<'_> {
    async fn call_finder(&self, action: &str, more: Value) -> Reply {
        self.agent().call(FINDER, merged(json!({ "action": action }), more)).await
    }

    async fn finder(&self, action: &str, more: Value) -> Value {
        self.agent().result(FINDER, merged(json!({ "action": action }), more)).await
    }

    /// Begins a group with others, who all accept, and returns its id.
    async fn begin(&self, others: &[&Person<'_>]) -> Value {
        let people: Vec<_> = others.iter().map(|other| &other.id).collect();
        let invite = json!({ "owner_ids": people, "title": "The plan", "may_book": true });
        let group_id = self.finder("invite", invite).await["group_id"].clone();
        for other in others {
            other.finder("accept", json!({ "group_id": group_id })).await;
        }
        group_id
    }
}

/// Returns this hour (UTC) of the day after this number of days, in milliseconds.
fn millis(days: i64, hour: i64) -> i64 {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let day = today.checked_add(days.days()).unwrap();
    day.to_zoned(TimeZone::UTC).unwrap().timestamp().as_millisecond() + hour * 3_600_000
}

fn text(millis: i64) -> String {
    format!("{:.3}", Timestamp::from_millisecond(millis).unwrap())
}

fn at(days: i64, hour: i64) -> String {
    text(millis(days, hour))
}

fn starts(found: &Value) -> Vec<&str> {
    found["items"].as_array().unwrap().iter().map(|item| item["start"].as_str().unwrap()).collect()
}

async fn people(host: &Host, count: usize) -> Vec<Person<'_>> {
    join_all((0..count).map(|_| Person::new(host))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_is_found_held_voted_and_booked() {
    let host = host().await;
    let people = people(&host, 4).await;
    let [ada, bo, cy, dee] = &people[..] else { unreachable!() };
    let group_id = ada.begin(&[bo, cy]).await;
    // Bo works in Tokyo, from nine to ten in the evening of Los Angeles.
    let hours = json!([{ "days": ["MO", "TU", "WE", "TH", "FR", "SA", "SU"], "from": "09:00", "to": "12:00" }]);
    let hours = json!({ "time_zone": "Asia/Tokyo", "rules": hours });
    call_calendar_ok(bo.agent(), "set_availability", hours).await;
    let block = json!({ "start": at(3, 0), "end": at(3, 1), "label": "A secret of Cy" });
    call_calendar_ok(cy.agent(), "add_block", block).await;
    let find = json!({
        "group_id": group_id, "duration_min": 60, "from": at(3, 0), "to": at(4, 0), "limit": 10,
    });
    let found = ada.finder("find", find.clone()).await;
    assert_eq!(starts(&found), [at(3, 1), at(3, 2)]);
    assert_eq!(found["people"], 3);
    let everything = found.to_string();
    assert!(!everything.contains("secret") && !everything.contains(&cy.id), "{found:#}");
    // A hold is in everybody's calendar as such, and ends by itself.
    let hold =
        json!({ "group_id": group_id, "start": at(3, 1), "duration_min": 60, "hold_min": 1 });
    ada.finder("hold", hold).await;
    assert_eq!(starts(&ada.finder("find", find.clone()).await), [at(3, 2)]);
    assert_eq!(events(cy.agent(), &at(3, 1), &at(3, 2)).await[0]["kind"], "hold");
    let open = json!({
        "group_id": group_id, "starts": [at(3, 1), at(3, 2)], "duration_min": 60, "closes_at": at(2, 0),
    });
    let poll = ada.finder("open_poll", open).await;
    for person in [ada, bo, cy] {
        let vote = json!({ "poll_id": poll["poll_id"], "answers": ["if_needed", "yes"] });
        person.finder("vote", vote).await;
    }
    let poll = cy.finder("get_poll", json!({ "poll_id": poll["poll_id"] })).await;
    assert_eq!((&poll["state"], &poll["chosen"]["start"]), (&json!("closed"), &json!(at(3, 2))));
    let book = json!({ "group_id": group_id, "start": at(3, 2), "duration_min": 60 });
    let booked = ada.finder("book", book.clone()).await;
    ada.call_finder("book", book).await.assert_refused(409, "slot_taken");
    for person in [ada, bo, cy] {
        let events = events(person.agent(), &at(3, 2), &at(3, 3)).await;
        assert_eq!(
            (&events[0]["kind"], &events[0]["title"]),
            (&json!("meeting"), &json!("The plan"))
        );
        let list = person.finder("list_bookings", json!({ "state": "confirmed" })).await;
        assert_eq!(list["items"][0]["booking_id"], booked["booking_id"]);
    }
    let read = dee.call_finder("get_booking", json!({ "booking_id": booked["booking_id"] })).await;
    read.assert_refused(404, "booking_not_found");
    // A block ends what the two have booked together, and without a reason.
    cy.call_ok("block", &ada.id).await;
    let is_cancelled = async || {
        let list = bo.finder("list_bookings", json!({})).await;
        list["items"][0]["state"] == "cancelled"
    };
    wait_until("the booking is cancelled", is_cancelled).await;
    assert_eq!(events(bo.agent(), &at(3, 2), &at(3, 3)).await, Vec::<Value>::new());
    // A blocked person does not count any more, and a group of three is not asked about two.
    ada.call_finder("find", find).await.assert_refused(409, "not_enough_people");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_asked_in_dry_runs() {
    let host = host().await;
    let people = people(&host, 2).await;
    let [ada, bo] = &people[..] else { unreachable!() };
    let group_id = ada.begin(&[bo]).await;
    let link = json!({ "title": "A first call", "duration_min": 30 });
    let link_id = bo.finder("create_link", link).await["link_id"].clone();
    let poll = json!({
        "group_id": group_id, "starts": [at(2, 9), at(2, 10)], "duration_min": 30, "closes_at": at(1, 9),
    });
    let poll_id = ada.finder("open_poll", poll).await["poll_id"].clone();
    let calls = [
        ("find", json!({ "group_id": group_id, "duration_min": 30 })),
        ("hold", json!({ "group_id": group_id, "start": at(2, 9), "duration_min": 30 })),
        ("book", json!({ "group_id": group_id, "start": at(2, 9), "duration_min": 30 })),
        ("link_times", json!({ "link_id": link_id })),
        ("book_link", json!({ "link_id": link_id, "start": at(2, 9) })),
        ("vote", json!({ "poll_id": poll_id, "answers": ["yes", "no"] })),
        ("close_poll", json!({ "poll_id": poll_id })),
    ];
    for (action, input) in calls.iter().cycle().take(100) {
        let dry_run = merged(json!({ "dry_run": true }), input.clone());
        let refused = ada.call_finder(action, dry_run).await;
        refused.assert_refused(400, "validation_failed");
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/dry_run", "{action}");
        let message = refused.body["message"].as_str().unwrap();
        assert!(message.contains("has no dry run"), "{message}");
    }
    let agent = host.register().await;
    host.claim_for(agent["agent_id"].as_str().unwrap(), &ada.id).await;
    let client = Mcp::new(&host, host.mcp_token(&agent, "svc.read svc.write").await);
    let dry_run = json!({
        "action": "find", "group_id": group_id, "duration_min": 30, "dry_run": true,
    });
    let refused = client.tool(FINDER, dry_run).await;
    let conflict = &refused["structuredContent"]["conflict"];
    assert_eq!(conflict["errors"][0]["pointer"], "/dry_run", "{refused:#}");
    let group = bo.finder("get", json!({ "group_id": group_id })).await;
    assert_eq!(group["asked_today"], 0, "{group:#}");
    // Their schemas leave it out, and that of another action has it.
    let schema = host.get(&format!("/v1/capabilities/{FINDER}/schema")).await.body;
    let branches = schema["oneOf"].as_array().unwrap();
    let takes = |name: &str| {
        let is_of = |branch: &&Value| branch["properties"]["action"]["const"] == name;
        branches.iter().find(is_of).unwrap()["properties"].get("dry_run").is_some()
    };
    assert!(takes("invite"));
    for (action, _) in &calls {
        assert!(!takes(action), "{action}");
    }
}

/// Returns what an export of a person's data has of this capability.
async fn exported(host: &Host, person: &Person<'_>) -> String {
    let exported = export(host, &person.id).await.body;
    let documents = exported["documents"].as_array().unwrap().iter();
    documents.filter(|found| found["capability"] == FINDER).map(Value::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_neither_the_votes_nor_the_answers_of_others() {
    let host = host().await;
    let people = people(&host, 4).await;
    let [ada, bo, cy, dee] = &people[..] else { unreachable!() };
    let invite = json!({
        "owner_ids": [bo.id, cy.id, dee.id], "title": "The plan", "may_book": true,
    });
    let group_id = ada.finder("invite", invite).await["group_id"].clone();
    for (person, answer) in [(bo, "accept"), (cy, "accept"), (dee, "decline")] {
        person.finder(answer, json!({ "group_id": group_id })).await;
    }
    let hold = json!({ "group_id": group_id, "start": at(3, 9), "duration_min": 30 });
    ada.finder("hold", hold).await;
    let link = json!({ "title": "An interview", "group_id": group_id, "duration_min": 30 });
    ada.finder("create_link", link).await;
    let poll = json!({
        "group_id": group_id, "starts": [at(2, 9), at(2, 10)], "duration_min": 30, "closes_at": at(1, 9),
    });
    let poll_id = ada.finder("open_poll", poll).await["poll_id"].clone();
    for (person, answers) in [(bo, ["if_needed", "if_needed"]), (cy, ["yes", "no"])] {
        person.finder("vote", json!({ "poll_id": poll_id, "answers": answers })).await;
    }
    let of_cy = exported(&host, cy).await;
    assert!(of_cy.contains("accepted") && of_cy.contains(r#"["yes","no"]"#), "{of_cy}");
    for hidden in [bo.id.as_str(), &dee.id, "declined", "if_needed"] {
        assert!(!of_cy.contains(hidden), "{hidden}: {of_cy}");
    }
    // The organizer has the group, its hold and its link, and nobody's vote.
    let of_ada = exported(&host, ada).await;
    for shown in [dee.id.as_str(), "declined", "The plan", "An interview"] {
        assert!(of_ada.contains(shown), "{shown}: {of_ada}");
    }
    for hidden in ["if_needed", r#"["yes","no"]"#] {
        assert!(!of_ada.contains(hidden), "{hidden}: {of_ada}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_books_all_people_of_the_largest_group() {
    let host = host().await;
    let everybody = people(&host, 21).await;
    let (guest, hosts) = everybody.split_first().unwrap();
    let (organizer, others) = hosts.split_first().unwrap();
    let others: Vec<_> = others.iter().collect();
    let group_id = organizer.begin(&others).await;
    let link = json!({ "title": "A panel", "group_id": group_id, "duration_min": 30 });
    let link_id = organizer.finder("create_link", link).await["link_id"].clone();
    let times = json!({ "link_id": link_id, "from": at(2, 9), "to": at(2, 12) });
    let found = guest.finder("link_times", times).await;
    let book = json!({ "link_id": link_id, "start": starts(&found)[0] });
    let booked = guest.finder("book_link", book).await;
    assert_eq!(booked["attendees"].as_array().unwrap().len(), 21);
    assert_eq!(events(others[18].agent(), &at(2, 9), &at(2, 12)).await[0]["kind"], "meeting");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_want_the_last_time_one_gets_it() {
    let host = host().await;
    for _ in 0..4 {
        let people = people(&host, 5).await;
        let [ada, bo, cy, dee, eve] = &people[..] else { unreachable!() };
        let link = json!({ "title": "A first call", "duration_min": 60, "most_bookings": 1 });
        let link_id = ada.finder("create_link", link).await["link_id"].clone();
        let book = |hour: i64| json!({ "link_id": link_id, "start": at(2, hour) });
        // The last booking of the link, at two times.
        let calls = [bo.call_finder("book_link", book(9)), cy.call_finder("book_link", book(12))];
        let replies = join_all(calls.into_iter()).await;
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!(won, 1, "{replies:#?}");
        for lost in replies.iter().filter(|reply| reply.status != 200) {
            lost.assert_refused(409, "booking_limit_reached");
        }
        // The same time, by two links of one person.
        let link = || json!({ "title": "A first call", "duration_min": 60 });
        let one = dee.finder("create_link", link()).await["link_id"].clone();
        let two = dee.finder("create_link", link()).await["link_id"].clone();
        let book = |link_id: &Value| json!({ "link_id": link_id, "start": at(2, 9) });
        let calls =
            [bo.call_finder("book_link", book(&one)), eve.call_finder("book_link", book(&two))];
        let replies = join_all(calls.into_iter()).await;
        // Bo may be in the first meeting at this time.
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        assert!(won == 1, "{replies:#?}");
        for lost in replies.iter().filter(|reply| reply.status != 200) {
            lost.assert_refused(409, "slot_taken");
            assert!(!lost.text.contains("own_"), "{}", lost.text);
        }
        assert_eq!(events(dee.agent(), &at(2, 9), &at(2, 10)).await.len(), 1);
        // Two organizers hold the same person.
        let (first, second) = (ada.begin(&[eve]).await, cy.begin(&[eve]).await);
        let hold = |group_id: &Value| {
            json!({
                "group_id": group_id, "start": at(4, 9), "duration_min": 30,
            })
        };
        let calls = [ada.call_finder("hold", hold(&first)), cy.call_finder("hold", hold(&second))];
        let replies = join_all(calls.into_iter()).await;
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!(won, 1, "{replies:#?}");
    }
}

/// Their clocks have other offsets, and those of most change.
const ZONES: [&str; 12] = [
    "America/Los_Angeles",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Europe/London",
    "Europe/Berlin",
    "Africa/Johannesburg",
    "Asia/Kathmandu",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
];

/// Returns in which quarters from an instant on a person is free, by what they read of their own calendar.
async fn free(person: &Person<'_>, from: i64, quarters: i64) -> Vec<bool> {
    let range = json!({ "start": text(from), "end": text(from + quarters * QUARTER_MS) });
    let found = call_calendar_ok(person.agent(), "get_freebusy", range).await;
    let instant =
        |value: &Value| value.as_str().unwrap().parse::<Timestamp>().unwrap().as_millisecond();
    let periods = found["periods"].as_array().unwrap();
    let is_free = |quarter: i64| {
        let (start, end) = (from + quarter * QUARTER_MS, from + (quarter + 1) * QUARTER_MS);
        periods
            .iter()
            .filter(|period| instant(&period["start"]) < end && instant(&period["end"]) > start)
            .all(|period| period["fbtype"] == "FREE")
    };
    (0..quarters).map(is_free).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_found_is_what_the_calendars_of_all_say() {
    let host = host().await;
    let mut seed = 0x5EED_0006_u64;
    let mut below = move |end: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        i64::try_from((seed >> 11) % end).unwrap()
    };
    let everybody = people(&host, 20).await;
    for (number, person) in everybody.iter().enumerate() {
        let rule = json!({
            "days": ["MO", "TU", "WE", "TH", "FR", "SA"], "from": format!("{:02}:00", below(8)), "to": "22:30",
        });
        let hours = json!({ "time_zone": ZONES[number % 12], "rules": [rule], "horizon_days": 90 });
        call_calendar_ok(person.agent(), "set_availability", hours).await;
        for _ in 0..below(4) {
            let start = millis(2, 0) + below(12 * 24 * 60) * 60_000;
            let end = start + (1 + below(300)) * 60_000;
            let block = json!({ "start": text(start), "end": text(end) });
            call_calendar_ok(person.agent(), "add_block", block).await;
        }
    }
    let mut answered = 0;
    for size in [2, 3, 5, 9, 14, 20] {
        let (organizer, others) = everybody[..size].split_first().unwrap();
        let others: Vec<_> = others.iter().collect();
        let group_id = organizer.begin(&others).await;
        let (from, quarters) = (millis(2, 0) + below(200) * QUARTER_MS, 7 * 96);
        let (length, missing) = (1 + below(4), if size >= 4 { below(4) } else { 0 });
        let calendars =
            join_all(everybody[..size].iter().map(|person| free(person, from, quarters))).await;
        let cannot = |start: i64| {
            let cells = usize::try_from(start).unwrap()..usize::try_from(start + length).unwrap();
            let can = |free: &Vec<bool>| free[cells.clone()].iter().all(|free| *free);
            let missing =
                i64::try_from(calendars.iter().filter(|free| !can(free)).count()).unwrap();
            can(&calendars[0]).then_some(missing)
        };
        let mut fits: Vec<_> = (0..=quarters - length)
            .filter_map(|start| Some((cannot(start).filter(|cannot| *cannot <= missing)?, start)))
            .collect();
        let mut expected = Vec::new();
        while let Some((cannot, start)) = fits.iter().min().copied() {
            expected.push((text(from + start * QUARTER_MS), cannot));
            fits.retain(|(_, other)| (other - start).abs() >= length);
        }
        expected.truncate(10);
        let find = json!({
            "group_id": group_id, "duration_min": 15 * length, "allow_missing": missing, "limit": 10,
            "from": text(from), "to": text(from + quarters * QUARTER_MS),
        });
        let found = organizer.finder("find", find.clone()).await;
        let items = found["items"].as_array().unwrap().iter();
        let items: Vec<_> = items
            .map(|item| {
                (item["start"].as_str().unwrap().to_owned(), item["cannot"].as_i64().unwrap())
            })
            .collect();
        assert_eq!(items, expected, "{find}");
        answered += items.len();
    }
    assert!(answered > 10, "{answered}");
}
