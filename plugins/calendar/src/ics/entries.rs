//! Events and busy times of a file, as the blocks that they become.

use crate::{
    ics::components::*,
    ics::lines::*,
    ics::times::{self, FileZones, Time},
    ics::types::*,
    limits::{
        LONGEST_BLOCK, LONGEST_TITLE, LONGEST_UID, MOST_BLOCKS, MOST_COUNTED, MOST_EXCEPTIONS,
        MOST_REPORTED,
    },
    refusals::*,
    rule::*,
    series::*,
    zones::*,
};
use jiff::{SignedDuration, civil::DateTime};
use std::collections::{BTreeMap, BTreeSet};

/// An event, or one changed occurrence of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) series: Series,
    pub(crate) all_day: bool,
    pub(crate) tentative: bool,
    pub(crate) label: Option<String>,
    sequence: u64,
}

/// The UID and, for a changed occurrence, its original local time; for a period of busy time, its
/// start.
pub(crate) type Key = (String, Option<String>);

/// The events and busy times of a file.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) entries: BTreeMap<Key, Entry>,
    /// The UIDs of everything that was read, whether or not it makes the person busy.
    pub(crate) uids: BTreeSet<String>,
    pub(crate) skipped: Skipped,
    pub(crate) unsupported_count: u32,
    pub(crate) unsupported: Vec<Unsupported>,
    /// The changed occurrences: the UID of the event and the original time.
    changed: Vec<(String, Time)>,
    counted: u32,
}

/// The settings for reading a file.
pub(crate) struct Reader<'a> {
    pub(crate) zones: FileZones,
    pub(crate) now: i64,
    /// The UIDs of events that were exported from this calendar and are still in it.
    pub(crate) own: &'a BTreeSet<String>,
}

impl Reader<'_> {
    pub(crate) fn read(mut self, components: &[Component]) -> Result<Entries> {
        let mut found = Entries::default();
        for component in components {
            match component.kind.as_str() {
                "VEVENT" => self.event(component, &mut found)?,
                "VFREEBUSY" => self.freebusy(component, &mut found)?,
                _ => {}
            }
        }
        found.exclude_changed();
        Ok(found)
    }

    fn event(&mut self, event: &Component, found: &mut Entries) -> Result<()> {
        let uid = uid(event)?.ok_or_else(|| event.lacks("a UID"))?;
        if self.own.contains(&uid) {
            found.skipped.own += 1;
            return Ok(());
        }
        found.uids.insert(uid.clone());
        let start = event.single("DTSTART")?.ok_or_else(|| event.lacks("a DTSTART"))?;
        let start = self.zones.time(start)?;
        let changes = event.single("RECURRENCE-ID")?;
        if let Some(line) = changes.filter(|line| line.parameter("RANGE").is_some()) {
            found.report(line.number, "RANGE", "Only this occurrence was changed.");
        }
        let changes = changes.map(|line| self.zones.time(line)).transpose()?;
        found.changed.extend(changes.clone().map(|time| (uid.clone(), time)));
        let has_value =
            |name: &str, word: &str| event.property(name).is_some_and(|line| line.has_value(word));
        if has_value("STATUS", "CANCELLED") {
            found.skipped.cancelled += 1;
            return Ok(());
        }
        if has_value("TRANSP", "TRANSPARENT") {
            found.skipped.transparent += 1;
            return Ok(());
        }
        let Some(end) = self.end(event, &start, found)? else {
            found.skipped.empty += 1;
            return Ok(());
        };
        let rule = match changes {
            Some(_) => None,
            None => rule(event, start.local, found)?,
        };
        let mut series = series(&start, end, rule);
        series.except = self.exceptions(event, &series, start.is_date, found)?;
        let sequence = event.property("SEQUENCE").and_then(|line| line.value.trim().parse().ok());
        let entry = Entry {
            series,
            all_day: start.is_date,
            tentative: has_value("STATUS", "TENTATIVE"),
            label: event.property("SUMMARY").and_then(|line| title(&line.value)),
            sequence: sequence.unwrap_or(0),
        };
        // This is the local time of the `RECURRENCE-ID`. `exclude_changed` converts it to the zone
        // of the event, if the file contains the event.
        let changed = changes.map(|time| time.local.to_string());
        self.keep((uid, changed), entry, found)
    }

    /// Returns the local time at which an event ends; `None` if it has no length.
    fn end(
        &mut self,
        event: &Component,
        start: &Time,
        found: &mut Entries,
    ) -> Result<Option<DateTime>> {
        let length = match (event.single("DTEND")?, event.single("DURATION")?) {
            (Some(_), Some(second)) => {
                return Err(second.wrong("once", "DTEND or DURATION, not both"));
            }
            (Some(line), None) => {
                let end = self.zones.time(line)?;
                if end.is_date != start.is_date {
                    return Err(line.wrong("date-time", "a DTEND of the form of DTSTART"));
                }
                end.seen_in(&start.zone).duration_since(start.local)
            }
            (None, Some(line)) => times::duration(&line.value)
                .ok_or_else(|| line.wrong("duration", "a duration, such as PT1H"))?,
            (None, None) => SignedDuration::ZERO,
        };
        let day = SignedDuration::from_hours(24);
        // An event whose `DTSTART` is a date takes at least one whole day.
        let length = if start.is_date { length.max(day) } else { length };
        let longest = SignedDuration::from_millis(LONGEST_BLOCK);
        if length > longest {
            found.report(event.line, "DTEND", "It ends after 366 days.");
        }
        let end = start.local.checked_add(length.min(longest)).ok();
        Ok(end.filter(|end| *end > start.local))
    }

    /// Returns the local times of the exceptions, in the order of the file.
    fn exceptions(
        &mut self,
        event: &Component,
        series: &Series,
        all_day: bool,
        found: &mut Entries,
    ) -> Result<Vec<DateTime>> {
        let mut except = Vec::new();
        for line in event.all("EXDATE") {
            let times = self.zones.times(line)?;
            // Past occurrences need no exception.
            let times = times.iter().filter(|time| time.instant() + LONGEST_BLOCK > self.now);
            except.extend(times.map(|time| occurrence(time, series, all_day)));
            if except.len() > MOST_EXCEPTIONS {
                except.truncate(MOST_EXCEPTIONS);
                let text = "An event can have at most 100 exceptions. The others were left out.";
                found.report(line.number, "EXDATE", text);
                break;
            }
        }
        for line in &event.properties {
            match line.name.as_str() {
                "RDATE" => found.report(line.number, "RDATE", "These times were left out."),
                "EXRULE" => found.report(line.number, "EXRULE", "These exceptions were left out."),
                _ => {}
            }
        }
        Ok(except)
    }

    fn freebusy(&mut self, busy: &Component, found: &mut Entries) -> Result<()> {
        let uid = uid(busy)?.unwrap_or_else(|| "freebusy".to_owned());
        found.uids.insert(uid.clone());
        for line in busy.all("FREEBUSY") {
            let kind = line.parameter("FBTYPE").unwrap_or("BUSY").to_ascii_uppercase();
            if kind == "FREE" {
                found.skipped.transparent += 1;
                continue;
            }
            for period in line.value.split(',') {
                let (start, end) = self.period(line, period)?;
                if end <= start.local {
                    found.skipped.empty += 1;
                    continue;
                }
                let begins = start.local.to_string();
                let entry = Entry {
                    series: series(&start, end, None),
                    all_day: false,
                    tentative: kind == "BUSY-TENTATIVE",
                    label: None,
                    sequence: 0,
                };
                self.keep((uid.clone(), Some(begins)), entry, found)?;
            }
        }
        Ok(())
    }

    /// Parses a period: a start, and an end or a duration.
    fn period(&mut self, line: &Line, text: &str) -> Result<(Time, DateTime)> {
        let wrong = || line.wrong("period", "a start, a slash and an end");
        let (start, end) = text.split_once('/').ok_or_else(wrong)?;
        let mut time =
            |text: &str| self.zones.time(&Line { value: text.to_owned(), ..line.clone() });
        let start = time(start)?;
        let end = match times::duration(end) {
            Some(length) => start.local.checked_add(length).map_err(|_error| wrong())?,
            None => time(end)?.seen_in(&start.zone),
        };
        match millis(end.duration_since(start.local)) <= LONGEST_BLOCK {
            true => Ok((start, end)),
            false => Err(line.wrong("period", "at most 366 days")),
        }
    }

    fn keep(&self, key: Key, entry: Entry, found: &mut Entries) -> Result<()> {
        if entry.series.bounds().end <= self.now {
            found.skipped.past += 1;
            return Ok(());
        }
        // If an occurrence appears twice, the one with the higher sequence is kept, or else the
        // later one.
        let older = found.entries.get(&key).is_some_and(|older| older.sequence > entry.sequence);
        if !older {
            found.entries.insert(key, entry);
        }
        match found.entries.len() > MOST_BLOCKS as usize {
            true => Err(CalendarError::BlockLimitReached),
            false => Ok(()),
        }
    }
}

impl Entries {
    fn report(&mut self, line: u32, part: &str, instead: &'static str) {
        self.unsupported_count += 1;
        if self.unsupported.len() < MOST_REPORTED {
            self.unsupported.push(Unsupported { line, part: part.to_owned(), instead });
        }
    }

    /// Excludes the changed occurrences from their events, in whichever order the file has them.
    fn exclude_changed(&mut self) {
        for (uid, time) in std::mem::take(&mut self.changed) {
            let Some(event) = self.entries.get_mut(&(uid.clone(), None)) else { continue };
            let at = occurrence(&time, &event.series, event.all_day);
            event.series.except.push(at);
            // Exports find the occurrence by its original time in the zone of the event.
            if let Some(entry) = self.entries.remove(&(uid.clone(), Some(time.local.to_string()))) {
                self.entries.insert((uid, Some(at.to_string())), entry);
            }
        }
        for entry in self.entries.values_mut() {
            entry.series.except.sort_unstable();
            entry.series.except.dedup();
        }
    }
}

/// Parses the rule of an event; returns `None` if there is no supported rule.
fn rule(event: &Component, start: DateTime, found: &mut Entries) -> Result<Option<Rule>> {
    let mut rules = event.all("RRULE");
    let Some(line) = rules.next() else { return Ok(None) };
    if let Some(second) = rules.next() {
        found.report(second.number, "RRULE", "Only the first rule was taken.");
    }
    match Rule::parse(&line.value).and_then(|rule| rule.without_implied_parts(start.date())) {
        Ok(rule) => {
            if let End::Count(count) = rule.end {
                found.counted += count;
            }
            if found.counted > MOST_COUNTED {
                found.report(line.number, "COUNT", FIRST_ALONE);
                return Ok(None);
            }
            Ok(Some(rule))
        }
        Err(Problem::Malformed(expected)) => Err(line.wrong("rrule", expected)),
        Err(Problem::Unsupported(part)) => {
            found.report(line.number, part, FIRST_ALONE);
            Ok(None)
        }
    }
}

const FIRST_ALONE: &str = "Only the first occurrence was taken.";

/// Makes a series with the rule, unless the rule ends before the series begins.
fn series(start: &Time, end: DateTime, rule: Option<Rule>) -> Series {
    let once = || Series::once(start.zone.clone(), start.local, end);
    once().recurring(rule).unwrap_or_else(once)
}

/// Returns the local start, in the zone of the series, of the occurrence that a time identifies.
fn occurrence(time: &Time, series: &Series, all_day: bool) -> DateTime {
    match (time.is_date, all_day) {
        (true, false) => time.local.date().to_datetime(series.start.time()),
        (_, true) => time.seen_in(&series.zone).date().at(0, 0, 0, 0),
        (false, false) => time.seen_in(&series.zone),
    }
}

/// Returns the UID; `None` if the component has none.
pub(crate) fn uid(component: &Component) -> Result<Option<String>> {
    let Some(line) = component.single("UID")? else { return Ok(None) };
    let uid = unescaped(line.value.trim());
    match uid.is_empty() || uid.len() > LONGEST_UID {
        true => Err(line.wrong("uid", "a UID of 1 to 400 bytes")),
        false => Ok(Some(uid)),
    }
}

/// Returns the title on one line, without invisible characters; `None` if nothing is left.
fn title(value: &str) -> Option<String> {
    let text = unescaped(value);
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let text: String = words.join(" ").chars().take(LONGEST_TITLE).collect();
    (!text.is_empty()).then_some(text)
}
