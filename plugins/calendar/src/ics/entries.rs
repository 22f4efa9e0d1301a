//! The contents of a file: its events and busy times, and what is left out.

use crate::{
    ics::times::Time,
    ics::types::*,
    limits::{MOST_A_DAY_OF_PERSON, MOST_REPORTED, MOST_STEPS},
    series::*,
};
use jiff::civil::DateTime;
use std::collections::{BTreeMap, BTreeSet};

/// An event, or one changed occurrence of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) series: Series,
    pub(crate) all_day: bool,
    pub(crate) tentative: bool,
    pub(crate) label: Option<String>,
    pub(crate) sequence: u64,
}

/// The UID and, for a changed occurrence, its original local time; for a period of busy time, its
/// start and end.
pub(crate) type Key = (String, Option<String>);

/// A changed occurrence of an event.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) uid: String,
    /// The original time.
    pub(crate) time: Time,
    /// Whether all later occurrences are changed as well, and the line that says so.
    pub(crate) and_later: Option<u32>,
}

/// The events and busy times of a file.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) entries: BTreeMap<Key, Entry>,
    /// The UIDs of everything that was read, whether or not it makes the person busy.
    pub(crate) uids: BTreeSet<String>,
    /// The UIDs of what was left out because of an error.
    pub(crate) faulty: BTreeSet<String>,
    pub(crate) skipped: Skipped,
    pub(crate) unsupported_count: u32,
    pub(crate) unsupported: Vec<Unsupported>,
    pub(crate) changed: Vec<Changed>,
    /// The steps that are left for the rules of the file.
    pub(crate) steps: u32,
    /// The most occurrences that the rules so far have on one day, with those that stay in the calendar.
    pub(crate) a_day: u32,
    now: i64,
}

impl Entries {
    pub(crate) fn new(now: i64, a_day: u32) -> Self {
        Self {
            entries: BTreeMap::new(),
            uids: BTreeSet::new(),
            faulty: BTreeSet::new(),
            skipped: Skipped::default(),
            unsupported_count: 0,
            unsupported: Vec::new(),
            changed: Vec::new(),
            steps: MOST_STEPS,
            a_day,
            now,
        }
    }

    pub(crate) fn report(&mut self, line: u32, part: &str, instead: &'static str) {
        self.unsupported_count += 1;
        if self.unsupported.len() < MOST_REPORTED {
            self.unsupported.push(Unsupported { line, part: part.to_owned(), instead });
        }
    }

    /// Names an entry that is left out.
    pub(crate) fn leave_out(&mut self, line: u32, uid: Option<String>, expected: &str) {
        self.skipped.faulty += 1;
        self.faulty.extend(uid.clone());
        if self.skipped.entries.len() < MOST_REPORTED {
            let reason = format!("Expected: {expected}.");
            self.skipped.entries.push(SkippedEntry { line, uid, reason });
        }
    }

    /// Remembers an event that was read, and which occurrence of it this is.
    pub(crate) fn know(&mut self, uid: String, changes: Option<Time>, and_later: Option<u32>) {
        let changed = changes.map(|time| Changed { uid: uid.clone(), time, and_later });
        self.changed.extend(changed);
        self.uids.insert(uid);
    }

    /// Counts so many more occurrences a day, if the rules of the person stay within their limit with them; returns
    /// whether they do.
    pub(crate) fn has_room(&mut self, a_day: u32) -> bool {
        let sum = self.a_day.saturating_add(a_day);
        let has_room = sum <= MOST_A_DAY_OF_PERSON;
        if has_room {
            self.a_day = sum;
        }
        has_room
    }

    /// Keeps an entry, unless it is past and nothing can follow it. Returns whether it takes the place of another
    /// one of the same sequence.
    pub(crate) fn keep(&mut self, key: Key, entry: Entry, is_followed: bool) -> bool {
        if !is_followed && entry.series.bounds().end <= self.now {
            self.skipped.past += 1;
            return false;
        }
        // If an occurrence appears twice, the one with the higher sequence is kept, or else the
        // later one.
        let before = self.entries.get(&key).map(|before| before.sequence);
        let is_same = before == Some(entry.sequence);
        if before.is_none_or(|before| before <= entry.sequence) {
            self.entries.insert(key, entry);
        }
        is_same
    }

    /// Excludes the changed occurrences from their events, in whichever order the file has them,
    /// and then removes what is past. A changed occurrence that its event excludes is none.
    pub(crate) fn finish(&mut self) {
        let (mut replaced, mut later) = (Vec::new(), Vec::new());
        for Changed { uid, time, and_later } in std::mem::take(&mut self.changed) {
            let event_key = (uid.clone(), None);
            let Some(event) = self.entries.get(&event_key) else { continue };
            let at = occurrence(&time, &event.series, event.all_day);
            let is_excluded = event.series.except.contains(&at);
            // Exports find the occurrence by its original time in the zone of the event.
            let entry = self.entries.remove(&(uid.clone(), Some(time.local.to_string())));
            if let Some(entry) = entry.filter(|_| !is_excluded) {
                self.entries.insert((uid.clone(), Some(at.to_string())), entry);
            }
            later.extend(and_later.map(|line| (uid, at, line)));
            replaced.push((event_key, at));
        }
        for (event_key, at) in replaced {
            if let Some(event) = self.entries.get_mut(&event_key) {
                event.series.except.push(at);
            }
        }
        for entry in self.entries.values_mut() {
            entry.series.except.sort_unstable();
            entry.series.except.dedup();
        }
        // The last change first, because each ends where the next one begins.
        later.sort();
        for (uid, at, line) in later.into_iter().rev() {
            self.change_later(uid, at, line);
        }
        let now = self.now;
        let before = self.entries.len();
        self.entries.retain(|_key, entry| entry.series.bounds().end > now);
        let past = before - self.entries.len();
        self.skipped.past += u32::try_from(past).unwrap_or(u32::MAX);
    }

    /// Moves the occurrences of an event after this one to its changed occurrence, each by as much
    /// as that one was moved.
    fn change_later(&mut self, uid: String, at: DateTime, line: u32) {
        let key = (uid.clone(), Some(at.to_string()));
        let moved = self.entries.get(&key).map(|entry| entry.series.start.duration_since(at));
        let event_key = (uid, None);
        let Some(event) = self.entries.get_mut(&event_key) else { return };
        let series = &mut event.series;
        let (mut starts, is_more) = series.next_starts(at, self.now, &mut self.steps);
        let also = series.also.iter().map(|(start, _)| *start);
        starts.extend(also.filter(|also| *also > at && series.except.binary_search(also).is_err()));
        let is_gone = !series.end_before(at, event.all_day);
        if let (Some(moved), Some(changed)) = (moved, self.entries.get_mut(&key)) {
            let length = changed.series.length;
            let also = starts.iter().map(|start| start.saturating_add(moved));
            changed.series.also.extend(also.map(|start| (start, start.saturating_add(length))));
            changed.series.also.sort_unstable();
            if is_more {
                let instead =
                    "The next 100 occurrences were changed. The later ones were left out.";
                self.report(line, "RANGE", instead);
            }
        }
        if is_gone {
            self.entries.remove(&event_key);
        }
    }
}

/// Returns the local start, in the zone of the series, of the occurrence that a time identifies.
pub(crate) fn occurrence(time: &Time, series: &Series, all_day: bool) -> DateTime {
    match (time.is_date, all_day) {
        (true, false) => time.local.date().to_datetime(series.start.time()),
        (_, true) => time.seen_in(&series.zone).date().at(0, 0, 0, 0),
        (false, false) => time.seen_in(&series.zone),
    }
}
