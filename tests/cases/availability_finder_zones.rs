//! The times that are found among calendars of twelve zones on the days around changes of clocks, compared with a
//! model that looks at each quarter of an hour by itself. The model has the rules of the zones in its own words.

use crate::harness::{Host, Options, calendars::call_calendar_ok, join_all, relationships::Person};
use jiff::{
    Timestamp,
    civil::{DateTime, date},
    tz::TimeZone,
};
use serde_json::{Value, json};
use std::time::Duration;

const FINDER: &str = "availability_finder";
const MINUTE_MS: i64 = 60_000;
const CELL_MS: i64 = 15 * MINUTE_MS;
const DAY_MS: i64 = 96 * CELL_MS;

/// Each zone with the rule of its clocks as POSIX writes it. The host has them from the IANA database.
const ZONES: [(&str, &str); 12] = [
    ("America/Los_Angeles", "PST8PDT,M3.2.0,M11.1.0"),
    ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"),
    ("America/St_Johns", "NST3:30NDT,M3.2.0,M11.1.0"),
    ("America/Sao_Paulo", "<-03>3"),
    ("Europe/London", "GMT0BST,M3.5.0/1,M10.5.0"),
    ("Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Africa/Johannesburg", "SAST-2"),
    ("Asia/Kathmandu", "<+0545>-5:45"),
    ("Asia/Tokyo", "JST-9"),
    ("Australia/Sydney", "AEST-10AEDT,M10.1.0,M4.1.0/3"),
    ("Australia/Lord_Howe", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"),
    ("Pacific/Auckland", "NZST-12NZDT,M9.5.0,M4.1.0/3"),
];
const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// The months and days on which the parts of the test begin. The clocks of North America, of Europe and of the
/// southern zones change between two and twenty days after one of them, in both directions and in any year.
const BEGINNINGS: [(i8, i8); 4] = [(3, 6), (3, 23), (9, 22), (10, 20)];
const FIRST_DAY: i64 = 2;
const LAST_DAY: i64 = 20;
/// The number of changes of the zones above in one year.
const CHANGES: usize = 16;

const PEOPLE: usize = 20;
const GROUPS: usize = 5;
/// The questions about each group. A day has 60 questions about a person at most, of all groups together.
const QUESTIONS: usize = 11;

async fn host() -> Host {
    let names = [
        FINDER,
        "calendar",
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
    ];
    // The test makes many calls, and none of them is about the time limit.
    let limits = "[limits]\ncall_wall_time_ms = 30000\n";
    Host::start_at_fixed_time(Options::with(&names).configuration(limits)).await
}

/// A generator of numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from(self.0 >> 11).unwrap() % end
    }
}

fn index(number: i64) -> usize {
    usize::try_from(number).unwrap()
}

fn instant(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

fn text(millis: i64) -> String {
    format!("{:.3}", instant(millis))
}

fn clock(minutes: i64) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Returns the next instant of each beginning, in their order.
fn beginnings(now: i64) -> Vec<i64> {
    let year = instant(now).to_zoned(TimeZone::UTC).year();
    let next = |(month, day): (i8, i8)| {
        let at = |year: i16| {
            let midnight = date(year, month, day).to_zoned(TimeZone::UTC).unwrap();
            midnight.timestamp().as_millisecond()
        };
        if at(year) > now { at(year) } else { at(year + 1) }
    };
    let mut all = BEGINNINGS.map(next);
    all.sort_unstable();
    all.into()
}

/// The hours of a person, in minutes of the day in their zone.
struct Hours {
    /// The numbers of the days of the week, of which Monday is 0.
    days: Vec<usize>,
    from: i64,
    to: i64,
}

/// A calendar of the model.
struct Drawn {
    zone: usize,
    /// Without hours, a person can be booked at any time.
    hours: Option<Hours>,
    /// A block of each day, in minutes of the day in the person's zone.
    daily: Option<(i64, i64)>,
    /// Blocks between two instants, in milliseconds.
    once: Vec<(i64, i64)>,
}

impl Drawn {
    fn new(numbers: &mut Numbers, number: usize, begin: i64) -> Self {
        // Full hours from midnight on: a change of the clock is often within the hours, or at their beginning.
        let hours = (numbers.below(6) > 0).then(|| Hours {
            // The clocks change on Sundays.
            days: (0..7).filter(|day| *day == 6 || numbers.below(5) > 0).collect(),
            from: 60 * numbers.below(9),
            to: 900 + 15 * numbers.below(35),
        });
        let daily = (numbers.below(2) > 0).then(|| {
            let from = 300 + numbers.below(900);
            (from, from + 1 + numbers.below(120))
        });
        let span = |numbers: &mut Numbers| {
            let start = begin + FIRST_DAY * DAY_MS + numbers.below(18 * 1440) * MINUTE_MS;
            (start, start + (1 + numbers.below(400)) * MINUTE_MS)
        };
        let once = (0..numbers.below(5)).map(|_| span(numbers)).collect();
        Self { zone: number % ZONES.len(), hours, daily, once }
    }

    /// Writes the calendar as its person does.
    async fn write(&self, person: &Person<'_>, zone: &TimeZone, begin: i64) {
        let name = ZONES[self.zone].0;
        if let Some(hours) = &self.hours {
            let days: Vec<_> = hours.days.iter().map(|day| DAYS[*day]).collect();
            let rule = json!({ "days": days, "from": clock(hours.from), "to": clock(hours.to) });
            let hours = json!({ "time_zone": name, "rules": [rule], "horizon_days": 90 });
            call_calendar_ok(person.agent(), "set_availability", hours).await;
        }
        if let Some((from, to)) = self.daily {
            let day = zone.to_datetime(instant(begin)).date();
            let at = |minutes: i64| format!("{day}T{}:00", clock(minutes));
            let block = json!({
                "start": at(from), "end": at(to), "time_zone": name, "rrule": "FREQ=DAILY",
            });
            call_calendar_ok(person.agent(), "add_block", block).await;
        }
        for (start, end) in &self.once {
            let block = json!({ "start": text(*start), "end": text(*end) });
            call_calendar_ok(person.agent(), "add_block", block).await;
        }
    }

    /// Returns whether the person cannot be booked in the quarter that begins at an instant, which is this local time
    /// for them.
    fn is_closed(&self, at: i64, local: DateTime) -> bool {
        let minute = i64::from(local.hour()) * 60 + i64::from(local.minute());
        let day = index(i64::from(local.date().weekday().to_monday_zero_offset()));
        let is_open = self.hours.as_ref().is_none_or(|hours| {
            hours.days.contains(&day) && (hours.from..hours.to).contains(&minute)
        });
        let overlaps =
            |(start, end): (i64, i64), from: i64, length: i64| start < from + length && from < end;
        !is_open
            || self.daily.is_some_and(|block| overlaps(block, minute, 15))
            || self.once.iter().any(|block| overlaps(*block, at, CELL_MS))
    }

    /// Returns for each quarter since the beginning whether it is closed.
    fn row(&self, zone: &TimeZone, begin: i64) -> Vec<bool> {
        let starts = (0..=LAST_DAY * 96).map(|cell| begin + cell * CELL_MS);
        starts.map(|at| self.is_closed(at, zone.to_datetime(instant(at)))).collect()
    }
}

/// A question about a group; lengths are numbers of quarters, and `from` and `to` minutes since the beginning.
struct Question {
    length: i64,
    before: i64,
    after: i64,
    missing: usize,
    limit: usize,
    from: i64,
    to: i64,
}

impl Question {
    fn new(numbers: &mut Numbers, people: usize) -> Self {
        let from = FIRST_DAY * 1440 + numbers.below(11 * 1440);
        Self {
            length: 1 + numbers.below(8),
            before: numbers.below(3),
            after: numbers.below(3),
            missing: if people >= 4 { index(numbers.below(4)) } else { 0 },
            limit: index(1 + numbers.below(10)),
            from,
            to: from + 1440 + numbers.below(6 * 1440),
        }
    }

    fn input(&self, group_id: &Value, begin: i64) -> Value {
        json!({
            "action": "find", "group_id": group_id, "duration_min": 15 * self.length,
            "buffer_before_min": 15 * self.before, "buffer_after_min": 15 * self.after,
            "allow_missing": self.missing, "limit": self.limit,
            "from": text(begin + self.from * MINUTE_MS), "to": text(begin + self.to * MINUTE_MS),
        })
    }

    /// Returns the start of each time that must be found, in quarters since the beginning, and how many cannot. Each
    /// start is tried for each person, and the best one that overlaps none before it is taken, again and again.
    fn expected(&self, rows: &[&Vec<bool>]) -> Vec<(i64, usize)> {
        // The window on the grid.
        let (first, last) =
            (self.from.div_euclid(15) + i64::from(self.from % 15 > 0), self.to / 15);
        let can = |row: &Vec<bool>, start: i64| {
            (start - self.before..start + self.length + self.after).all(|cell| !row[index(cell)])
        };
        let mut left = Vec::new();
        for start in first..=last - self.length {
            let cannot = rows.iter().filter(|row| !can(row, start)).count();
            if can(rows[0], start) && cannot <= self.missing {
                left.push((cannot, start));
            }
        }
        let mut chosen = Vec::new();
        while let Some((cannot, start)) = left.iter().min().copied() {
            chosen.push((start, cannot));
            left.retain(|(_, other)| (other - start).abs() >= self.length);
        }
        chosen.truncate(self.limit);
        chosen
    }
}

/// Begins a group, which all accept, and returns its id.
async fn begin_group(people: &[&Person<'_>]) -> Value {
    let (organizer, others) = people.split_first().unwrap();
    let owner_ids: Vec<_> = others.iter().map(|other| &other.id).collect();
    let invite = json!({ "action": "invite", "owner_ids": owner_ids, "title": "The plan" });
    let group_id = organizer.agent().result(FINDER, invite).await["group_id"].clone();
    let accept = json!({ "action": "accept", "group_id": group_id });
    for other in others {
        other.agent().result(FINDER, accept.clone()).await;
    }
    group_id
}

fn found(answer: &Value, begin: i64) -> Vec<(i64, usize)> {
    let item = |item: &Value| {
        let start: Timestamp = item["start"].as_str().unwrap().parse().unwrap();
        let since = start.as_millisecond() - begin;
        assert_eq!(since % CELL_MS, 0, "{item}");
        (since / CELL_MS, index(item["cannot"].as_i64().unwrap()))
    };
    answer["items"].as_array().unwrap().iter().map(item).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_found_around_changes_of_clocks_is_what_each_quarter_says() {
    let host = host().await;
    let zones = ZONES.map(|(_, rule)| TimeZone::posix(rule).unwrap());
    let mut numbers = Numbers(0x5EED_0007);
    let now = || i64::try_from(host.clock.now().as_millis()).unwrap();
    let (mut changes, mut asked, mut answered) = (0, 0, 0);
    for begin in beginnings(now()) {
        let left = u64::try_from(begin - now()).unwrap();
        host.advance(Duration::from_millis(left)).await;
        let offset = |zone: &TimeZone, day: i64| zone.to_offset(instant(begin + day * DAY_MS));
        let change = |zone: &&TimeZone| offset(zone, FIRST_DAY) != offset(zone, LAST_DAY);
        changes += zones.iter().filter(change).count();
        let everybody = join_all((0..PEOPLE).map(|_| Person::new(&host))).await;
        let drawn: Vec<_> =
            (0..PEOPLE).map(|number| Drawn::new(&mut numbers, number, begin)).collect();
        let both = everybody.iter().zip(&drawn);
        join_all(both.map(|(person, drawn)| drawn.write(person, &zones[drawn.zone], begin))).await;
        let rows: Vec<_> = drawn.iter().map(|drawn| drawn.row(&zones[drawn.zone], begin)).collect();
        for group in 0..GROUPS {
            let size = match group {
                0 => PEOPLE,
                1 => 2,
                _ => index(2 + numbers.below(19)),
            };
            // Another organizer for each group, and other people.
            let first = group * 4 + index(numbers.below(4));
            let members: Vec<_> = (0..size).map(|number| (first + number) % PEOPLE).collect();
            let people: Vec<_> = members.iter().map(|member| &everybody[*member]).collect();
            let rows: Vec<_> = members.iter().map(|member| &rows[*member]).collect();
            let group_id = begin_group(&people).await;
            for _ in 0..QUESTIONS {
                let question = Question::new(&mut numbers, size);
                let input = question.input(&group_id, begin);
                let answer = people[0].agent().result(FINDER, input.clone()).await;
                let expected = question.expected(&rows);
                assert_eq!(found(&answer, begin), expected, "{size} people: {input:#}");
                asked += 1;
                answered += expected.len();
            }
        }
    }
    assert!(changes >= CHANGES, "{changes} clocks change");
    assert!(asked >= 200 && answered > asked, "{answered} times of {asked} questions");
}

/// The model itself: the local times of its rules are those of well-known changes of clocks.
#[test]
fn the_rules_of_the_zones_are_those_of_their_clocks() {
    for (name, instant, local) in [
        ("America/New_York", "2027-03-14T06:59:59Z", "2027-03-14T01:59:59"),
        ("America/New_York", "2027-03-14T07:00:00Z", "2027-03-14T03:00:00"),
        ("Europe/Berlin", "2027-10-31T00:59:59Z", "2027-10-31T02:59:59"),
        ("Europe/Berlin", "2027-10-31T01:00:00Z", "2027-10-31T02:00:00"),
        ("Australia/Lord_Howe", "2027-04-03T14:59:59Z", "2027-04-04T01:59:59"),
        ("Australia/Lord_Howe", "2027-04-03T15:00:00Z", "2027-04-04T01:30:00"),
        ("Pacific/Auckland", "2027-09-25T14:00:00Z", "2027-09-26T03:00:00"),
    ] {
        let (_, rule) = ZONES.iter().find(|(zone, _)| *zone == name).unwrap();
        let zone = TimeZone::posix(rule).unwrap();
        let found = zone.to_datetime(instant.parse().unwrap());
        assert_eq!(found.to_string(), local, "{name} {instant}");
    }
}
