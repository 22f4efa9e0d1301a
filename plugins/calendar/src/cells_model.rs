//! The cells of people in twelve zones, compared with a model that looks at each minute by itself, over the days
//! on which clocks change.

use crate::{CalendarCapability, zones::*};
use jiff::{
    Timestamp,
    civil::{DateTime, Weekday},
};
use people_kit::calendar::{Cells, CellsQuery, MOST_CELLS};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

const MINUTES: i64 = 60_000;
/// Their clocks change between midnight and four, or never.
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
/// Fourteen days from each have changes of the clock, forward and back, in both hemispheres.
const BEGINNINGS: [&str; 4] = ["2026-09-25", "2026-10-20", "2027-03-10", "2027-03-25"];

/// A person of the model: their hours of working days, and blocks of each day, in minutes of the local day; and
/// blocks between two instants.
struct Modelled {
    owner_id: String,
    zone: usize,
    hours: Option<(i64, i64, i64)>,
    daily: Vec<(i64, i64)>,
    once: Vec<(i64, i64)>,
}

/// A generator of numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from((self.0 >> 11) % u64::try_from(end).unwrap()).unwrap()
    }
}

fn clock(minutes: i64) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

fn draw(numbers: &mut Numbers, number: i64, begin: i64) -> Modelled {
    // Bounds between five and midnight are not within a change of the clock.
    let span = |numbers: &mut Numbers, longest: i64| {
        let from = 300 + numbers.below(1000);
        (from, (from + 1 + numbers.below(longest)).min(1439))
    };
    let hours = (numbers.below(4) > 0).then(|| {
        let (from, to) = span(numbers, 800);
        (from, to, numbers.below(3) * 7)
    });
    let daily = (0..numbers.below(3)).map(|_| span(numbers, 120)).collect();
    let stay = |numbers: &mut Numbers| {
        let from = begin + numbers.below(15 * 1440) * MINUTES;
        (from, from + (1 + numbers.below(500)) * MINUTES)
    };
    let once = (0..numbers.below(6)).map(|_| stay(numbers)).collect();
    Modelled {
        owner_id: format!("own_01JZX8Q4M2N6P7R8S9T0V1W2{number:02}"),
        zone: usize::try_from(numbers.below(12)).unwrap(),
        hours,
        daily,
        once,
    }
}

/// Writes a person's calendar by the actions that people use.
fn write(mut world: World, person: &Modelled, begin: i64) -> World {
    world = world.owner(&person.owner_id);
    let zone = ZONES[person.zone];
    if let Some((from, to, buffer)) = person.hours {
        let rule =
            json!({ "days": ["MO", "TU", "WE", "TH", "FR"], "from": clock(from), "to": clock(to) });
        let input = json!({
            "rules": [rule], "time_zone": zone, "buffer_min": buffer, "horizon_days": 366,
        });
        world.call("set_availability", &input).unwrap();
    }
    let day = Zone::named(zone).unwrap().date(begin - 2 * 1440 * MINUTES);
    for (from, to) in &person.daily {
        let at = |minutes: i64| format!("{day}T{}", clock(minutes));
        let input = json!({
            "start": at(*from), "end": at(*to), "time_zone": zone, "rrule": "FREQ=DAILY",
        });
        world.call("add_block", &input).unwrap();
    }
    for (from, to) in &person.once {
        let at = |millis: i64| Timestamp::from_millisecond(millis).unwrap().to_string();
        let input = json!({ "start": at(*from), "end": at(*to), "time_zone": "UTC" });
        world.call("add_block", &input).unwrap();
    }
    world
}

/// Returns the cells of a person, computed minute by minute.
fn cells(person: &Modelled, locals: &[DateTime], begin: i64, count: usize) -> String {
    // The locals begin a day before the cells.
    let minute_of = |local: &DateTime| i64::from(local.hour()) * 60 + i64::from(local.minute());
    let busy: Vec<bool> = (begin - 1440 * MINUTES..)
        .step_by(usize::try_from(MINUTES).unwrap())
        .zip(locals)
        .map(|(at, local)| {
            let minute = minute_of(local);
            person.daily.iter().any(|(from, to)| *from <= minute && minute < *to)
                || person.once.iter().any(|(from, to)| *from <= at && at < *to)
        })
        .collect();
    let closed = |minute: usize| match person.hours {
        None => busy[minute],
        Some((from, to, buffer)) => {
            let (local, buffer) = (&locals[minute], usize::try_from(buffer).unwrap());
            let is_working_day =
                !matches!(local.date().weekday(), Weekday::Saturday | Weekday::Sunday);
            let is_open = is_working_day && (from..to).contains(&minute_of(local));
            !is_open || busy[minute - buffer..=minute + buffer].iter().any(|busy| *busy)
        }
    };
    let cell = |number: usize| (0..15).any(|minute| closed(1440 + number * 15 + minute));
    (0..count).map(|number| if cell(number) { 'x' } else { '.' }).collect()
}

#[test]
fn cells_are_what_each_minute_says() {
    let mut numbers = Numbers(0x5EED_0005);
    let mut open = 0;
    for beginning in BEGINNINGS {
        let begin: Timestamp = format!("{beginning}T00:00:00Z").parse().unwrap();
        let begin = begin.as_millisecond();
        let minutes = usize::try_from(MOST_CELLS).unwrap() * 15 + 2 * 1440;
        let locals = ZONES.map(|zone| {
            let zone = Zone::named(zone).unwrap();
            let minute = |number: usize| {
                zone.local(begin + (i64::try_from(number).unwrap() - 1440) * MINUTES)
            };
            (0..minutes).map(minute).collect::<Vec<_>>()
        });
        for _ in 0..6 {
            let people: Vec<_> = (0..2 + numbers.below(19))
                .map(|number| draw(&mut numbers, number, begin))
                .collect();
            let before = u64::try_from(begin).unwrap() - 3 * DAY;
            let mut world = test::world().of::<CalendarCapability>().at(before);
            for person in &people {
                world = write(world, person, begin);
            }
            let count = 1 + u32::try_from(numbers.below(i64::from(MOST_CELLS))).unwrap();
            let query = CellsQuery {
                owner_ids: people.iter().map(|person| person.owner_id.clone()).collect(),
                from: rfc3339(u64::try_from(begin).unwrap()),
                cells: count,
            };
            let answer = world.system().call("cells", &portolan_sdk::to_value(&query));
            let found: Cells = Cells::deserialize(answer.unwrap()).unwrap();
            assert_eq!(found.people.len(), people.len());
            for (person, found) in people.iter().zip(&found.people) {
                let count = usize::try_from(count).unwrap();
                let expected = cells(person, &locals[person.zone], begin, count);
                assert_eq!(found.cells, expected, "{} {beginning}", ZONES[person.zone]);
                open += expected.matches('.').count();
            }
        }
    }
    assert!(open > 10_000, "{open}");
}

#[test]
fn nothing_finer_than_a_cell_is_told() {
    let world = || {
        let owner_id = "own_01JZX8Q4M2N6P7R8S9T0V1W201";
        test::world().of::<CalendarCapability>().owner(owner_id).at("2027-01-15T08:00:01Z")
    };
    let cells = |mut world: World, now: &str| {
        let input = json!({
            "owner_ids": ["own_01JZX8Q4M2N6P7R8S9T0V1W201"], "from": "2027-01-15T08:00:00Z", "cells": 8,
        });
        world = world.at(now).system();
        world.call("cells", &input).unwrap()["people"][0]["cells"].clone()
    };
    let block = |start: &str, end: &str| {
        let mut world = world();
        world.call("add_block", &json!({ "start": start, "end": end })).unwrap();
        world
    };
    for (start, end) in [
        ("2027-01-15T08:45:00Z", "2027-01-15T09:15:00Z"),
        ("2027-01-15T08:59:00Z", "2027-01-15T09:01:00Z"),
        ("2027-01-15T08:46:00Z", "2027-01-15T09:14:59Z"),
    ] {
        // The quarter that has begun is over, whatever second of it is now.
        for now in ["2027-01-15T08:00:01Z", "2027-01-15T08:14:59Z"] {
            assert_eq!(cells(block(start, end), now), "x..xx...", "{start} {now}");
        }
    }
    let mut off_the_grid = world();
    let input = json!({ "owner_ids": ["own_1"], "from": "2027-01-15T08:01:00Z", "cells": 8 });
    assert_eq!(off_the_grid.call("cells", &input).unwrap_err().code, "validation_failed");
}
