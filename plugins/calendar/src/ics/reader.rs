//! Reads the components of a file as the blocks that they become.

use crate::{
    ics::components::*,
    ics::entries::*,
    ics::lines::*,
    ics::times::{self, FileZones, Time},
    limits::{LONGEST_BLOCK, LONGEST_TITLE, LONGEST_UID, MOST_EXCEPTIONS, MOST_RULE_STEPS},
    refusals::*,
    rule::*,
    series::*,
};
use jiff::{SignedDuration, civil::DateTime};
use std::collections::BTreeSet;

/// The properties of an event during which the person is free.
const FREE: [(&str, &str); 2] = [("TRANSP", "TRANSPARENT"), ("X-MICROSOFT-CDO-BUSYSTATUS", "FREE")];
/// The properties of an event that is not certain.
const TENTATIVE: [(&str, &str); 2] =
    [("STATUS", "TENTATIVE"), ("X-MICROSOFT-CDO-BUSYSTATUS", "TENTATIVE")];

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The settings for reading a file.
pub(crate) struct Reader<'a> {
    pub(crate) zones: FileZones,
    pub(crate) now: i64,
    /// Whether the file is a cancellation (`METHOD:CANCEL`, RFC 5546).
    pub(crate) is_cancellation: bool,
    /// The UIDs of events that were exported from this calendar and are still in it.
    pub(crate) own: &'a BTreeSet<String>,
    /// The most occurrences on one day by the rules in the calendar that the file does not replace.
    pub(crate) a_day: u32,
}

/// The import's note on an event whose UID another event of the file has.
const SAME_UID: &str =
    "Another event of the file has the same UID and SEQUENCE, so only the last one was imported.";
/// The import's note on an unknown zone.
const UNKNOWN_ZONE: &str = "The zone is not known. The calendar's own was used, or else UTC.";
/// The import's note on times without a zone if neither the file nor the person has one.
const ASSUMED_UTC: &str = "Neither the file nor your availability has a time zone, so times without one were read \
    as UTC. Set it with `set_availability`, and import the file again.";

impl Reader<'_> {
    /// Reads all components. One with an error is left out.
    pub(crate) fn read(mut self, components: &[Component]) -> Result<Entries> {
        let mut found = Entries::new(self.now, self.a_day);
        for component in components {
            let outcome = match component.kind.as_str() {
                "VEVENT" => self.event(component, &mut found),
                "VFREEBUSY" => self.freebusy(component, &mut found),
                _ => Ok(()),
            };
            match outcome {
                Err(CalendarError::IcsInvalid { fault }) => {
                    let line = fault.line.unwrap_or(component.line);
                    found.leave_out(line, uid(component).unwrap_or_default(), fault.expected);
                }
                outcome => outcome?,
            }
        }
        for (_name, line) in &self.zones.unknown {
            found.report(*line, "TZID", UNKNOWN_ZONE);
        }
        if let Some((line, name)) = &self.zones.assumed_utc {
            found.report(*line, name, ASSUMED_UTC);
        }
        found.finish();
        Ok(found)
    }

    fn event(&mut self, event: &Component, found: &mut Entries) -> Result<()> {
        let uid = identity(event)?;
        if self.own.contains(&uid) {
            found.skipped.own += 1;
            return Ok(());
        }
        let start = event.single("DTSTART")?.ok_or_else(|| event.lacks("a DTSTART"))?;
        let start = self.zones.time(start)?;
        let end = event.single("DTEND")?;
        let end = end.map(|line| self.zones.time(line)).transpose()?;
        let start = end.as_ref().map_or(start.clone(), |end| start.in_zone_of(end));
        let changes = event.single("RECURRENCE-ID")?;
        let and_later = changes.filter(|line| {
            let range = line.parameter("RANGE");
            range.is_some_and(|range| range.eq_ignore_ascii_case("THISANDFUTURE"))
        });
        let and_later = and_later.map(|line| line.number);
        let changes = changes.map(|line| self.zones.time(line)).transpose()?;
        let is = |words: &[(&str, &str)]| {
            words
                .iter()
                .any(|(name, word)| event.property(name).is_some_and(|line| line.has_value(word)))
        };
        let is_free = is(&FREE);
        if self.is_cancellation || is(&[("STATUS", "CANCELLED")]) {
            found.skipped.cancelled += 1;
        } else if is_free {
            found.skipped.transparent += 1;
        } else {
            let Some((end, all_day)) = end_of(event, &start, end, found)? else {
                found.skipped.empty += 1;
                found.know(uid, changes, and_later);
                return Ok(());
            };
            let series = self.series(event, &start, (end, all_day), changes.is_some(), found)?;
            let sequence = event.property("SEQUENCE");
            let sequence = sequence.and_then(|line| line.value.trim().parse().ok());
            let entry = Entry {
                series,
                all_day,
                tentative: is(&TENTATIVE),
                label: event.property("SUMMARY").and_then(|line| title(&line.value)),
                sequence: sequence.unwrap_or(0),
            };
            // This is the local time of the `RECURRENCE-ID`. `finish` converts it to the zone of the
            // event, if the file contains the event.
            let changed = changes.as_ref().map(|time| time.local.to_string());
            report(event, found);
            if found.keep((uid.clone(), changed), entry, and_later.is_some()) {
                found.report(event.line, "UID", SAME_UID);
            }
        }
        found.know(uid, changes, and_later);
        Ok(())
    }

    /// Makes the series of an event, or of one changed occurrence.
    fn series(
        &mut self,
        event: &Component,
        start: &Time,
        (end, all_day): (DateTime, bool),
        is_change: bool,
        found: &mut Entries,
    ) -> Result<Series> {
        let once = || Series::once(start.zone.clone(), start.local, end);
        // A changed occurrence has no rule.
        let mut rules = event.all("RRULE").filter(|_| !is_change);
        let mut series = match rules.next() {
            Some(line) => recurring(once(), line, found)?,
            None => once(),
        };
        series.also = self.additions(event, &series, all_day)?;
        for line in rules {
            if series.also.len() > MOST_EXCEPTIONS {
                break;
            }
            let other = recurring(once(), line, found)?;
            let (starts, is_more) = other.next_starts(start.local, self.now, &mut found.steps);
            series.also.extend(starts.into_iter().map(|at| (at, at.saturating_add(series.length))));
            if is_more {
                let instead = "Of a second rule, only the next 100 occurrences were taken.";
                found.report(line.number, "RRULE", instead);
            }
        }
        series.also.sort_unstable();
        series.also.dedup_by_key(|(start, _)| *start);
        shorten(&mut series.also, event, "RDATE", found);
        series.except = self.exceptions(event, &series, all_day, found)?;
        Ok(series)
    }

    /// Returns the local times of the additional occurrences, in the order of the file.
    fn additions(
        &mut self,
        event: &Component,
        series: &Series,
        all_day: bool,
    ) -> Result<Vec<(DateTime, DateTime)>> {
        let mut also = Vec::new();
        for line in event.all("RDATE") {
            let kind = line.parameter("VALUE");
            if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("PERIOD")) {
                let periods = self.zones.periods(line)?.into_iter();
                also.extend(periods.map(|(start, end)| {
                    let length = end.duration_since(start.local);
                    (occurrence(&start, series, all_day), length)
                }));
            } else {
                let times = self.zones.times(line)?;
                also.extend(
                    times.iter().map(|time| (occurrence(time, series, all_day), series.length)),
                );
            }
        }
        let mut also: Vec<_> =
            also.into_iter().map(|(start, length)| (start, start.saturating_add(length))).collect();
        // Past occurrences are not needed, and those without a length are none.
        also.retain(|(start, end)| end > start && series.zone.instant(*end) > self.now);
        Ok(also)
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
        }
        shorten(&mut except, event, "EXDATE", found);
        Ok(except)
    }

    fn freebusy(&mut self, busy: &Component, found: &mut Entries) -> Result<()> {
        let uid = freebusy_uid(busy)?;
        let mut kept = Vec::new();
        for line in busy.all("FREEBUSY") {
            let kind = line.sound()?.parameter("FBTYPE").unwrap_or("BUSY").to_ascii_uppercase();
            if kind == "FREE" {
                found.skipped.transparent += 1;
                continue;
            }
            for (start, end) in self.zones.periods(line)? {
                if end < start.local {
                    // The other periods are busy all the same.
                    found.leave_out(line.number, None, "an end that is not before the start");
                    continue;
                }
                if end == start.local {
                    found.skipped.empty += 1;
                    continue;
                }
                let begins = format!("{}/{end}", start.local);
                let entry = Entry {
                    series: Series::once(start.zone, start.local, end),
                    all_day: false,
                    tentative: kind == "BUSY-TENTATIVE",
                    label: None,
                    sequence: 0,
                };
                kept.push(((uid.clone(), Some(begins)), entry));
            }
        }
        found.uids.insert(uid);
        for (key, entry) in kept {
            found.keep(key, entry, false);
        }
        Ok(())
    }
}

/// Returns the local time at which an event ends, and whether it takes whole days; `None` if it
/// has no length.
fn end_of(
    event: &Component,
    start: &Time,
    end: Option<Time>,
    found: &mut Entries,
) -> Result<Option<(DateTime, bool)>> {
    let duration = event.single("DURATION")?;
    let all_day = start.is_date && end.as_ref().is_none_or(|end| end.is_date);
    let length = match (end, duration) {
        (Some(end), also) => {
            if let Some(also) = also {
                found.report(also.number, "DURATION", "The end counts.");
            }
            let length = end.seen_in(&start.zone).duration_since(start.local);
            if !all_day
                && length.is_negative()
                && let Some(line) = event.property("DTEND")
            {
                return Err(line.wrong("after_start", "an end that is not before the start"));
            }
            length
        }
        (None, Some(line)) => times::duration(&line.value)
            .ok_or_else(|| line.wrong("duration", "a duration, such as PT1H"))?,
        (None, None) => SignedDuration::ZERO,
    };
    let day = SignedDuration::from_hours(24);
    // An event of whole days takes at least one.
    let length = if all_day { length.max(day) } else { length };
    let longest = SignedDuration::from_millis(LONGEST_BLOCK);
    if length > longest {
        found.report(event.line, "DTEND", "It ends after 366 days.");
    }
    let end = start.local.checked_add(length.min(longest)).ok();
    // Additional times can have lengths of their own.
    let least = if event.all("RDATE").next().is_some() {
        start.local
    } else {
        start.local.saturating_add(SECOND)
    };
    Ok(end.filter(|end| *end >= least).map(|end| (end, all_day)))
}

/// Leaves as many times as an event can have, and reports it.
fn shorten<T>(times: &mut Vec<T>, event: &Component, name: &str, found: &mut Entries) {
    if times.len() > MOST_EXCEPTIONS {
        times.truncate(MOST_EXCEPTIONS);
        let line = event.property(name).map_or(event.line, |line| line.number);
        let instead = "An event can have at most 100 of these. The others were left out.";
        found.report(line, name, instead);
    }
}

/// Adds the rule of an event to its first occurrence. If the rule ends before that, it is the only
/// one.
fn recurring(once: Series, line: &Line, found: &mut Entries) -> Result<Series> {
    let rule = rule(line.sound()?)?;
    if !found.has_room(rule.most_a_day()) {
        return Err(line.wrong("rrule", "fewer occurrences a day by all rules of the calendar"));
    }
    let allowed = found.steps.min(MOST_RULE_STEPS);
    let mut left = allowed;
    let (zone, start, end) = (once.zone.clone(), once.start, once.end());
    let made = once.recurring(rule, &mut left);
    found.steps -= allowed - left;
    made.or_else(|problem| match problem {
        NoSeries::EndsBefore => Ok(Series::once(zone, start, end)),
        NoSeries::TooLong => Err(line.wrong("rrule", "a lower COUNT")),
    })
}

/// Parses the rule of an event. Some programs escape its semicolons as those of a text.
fn rule(line: &Line) -> Result<Rule> {
    let rule = Rule::parse(&unescaped(&line.value)).and_then(Rule::bounded);
    rule.map_err(|problem| match problem {
        Problem::Malformed(expected) => line.wrong("rrule", expected),
        Problem::Unsupported(part) => line.wrong(
            "rrule",
            match part {
                "FREQ" => "at most 96 occurrences a day",
                "INTERVAL" => "an INTERVAL of at most 100000",
                "BYDAY" => "at most 40 days in BYDAY",
                "COUNT" => "a lower COUNT",
                _ => "a rule in the Gregorian calendar",
            },
        ),
    })
}

/// Reports the parts of an event that a calendar here does not store.
fn report(event: &Component, found: &mut Entries) {
    for line in event.all("EXRULE") {
        found.report(line.number, "EXRULE", "These exceptions were left out.");
    }
    for line in event.properties.iter().filter(|line| line.fault.is_some()) {
        found.report(line.number, &line.name, "This line cannot be parsed and was left out.");
    }
}

/// Returns the UID; `None` if the component has none.
pub(crate) fn uid(component: &Component) -> Result<Option<String>> {
    let Some(line) = component.single("UID")? else { return Ok(None) };
    let uid = unescaped(line.value.trim());
    match uid.len() > LONGEST_UID {
        true => Err(line.wrong("uid", "a UID of at most 400 bytes")),
        false => Ok(Some(uid).filter(|uid| !uid.is_empty())),
    }
}

/// Returns the UID of an event, or the one that is made for it.
pub(crate) fn identity(event: &Component) -> Result<String> {
    Ok(uid(event)?.unwrap_or_else(|| made_uid(event)))
}

/// Returns the UID of busy times, or the one of all busy times without one.
pub(crate) fn freebusy_uid(busy: &Component) -> Result<String> {
    Ok(uid(busy)?.unwrap_or_else(|| "freebusy".to_owned()))
}

/// Makes the UID of an event that has none, from what distinguishes events, so that the next import
/// of the same file finds the same event.
fn made_uid(event: &Component) -> String {
    let names = ["DTSTART", "DTEND", "DURATION", "RRULE", "SUMMARY"];
    let values = names.iter().filter_map(|name| Some(event.property(name)?.value.trim()));
    let values: Vec<&str> = values.collect();
    let uid = format!("without-uid {}", values.join(" "));
    uid.chars().filter(|letter| !letter.is_control()).take(LONGEST_UID / 4).collect()
}

/// Returns the title on one line, without invisible characters; `None` if nothing is left.
fn title(value: &str) -> Option<String> {
    let text = unescaped(value);
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let text: String = words.join(" ").chars().take(LONGEST_TITLE).collect();
    (!text.is_empty()).then_some(text)
}
