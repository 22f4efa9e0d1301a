//! Exports a person's calendar as a file.

use crate::{
    busy::now,
    documents::*,
    ics::types::*,
    limits::{DAY, EXPORT_PAST, ZONE_YEARS_AFTER, ZONE_YEARS_AHEAD, ZONE_YEARS_BEFORE},
    refusals::*,
    rule::*,
    series::*,
    spans::*,
    types::*,
    zones::*,
};
use jiff::civil::DateTime;
use people_kit::{
    calendar::{Firmness, uid},
    ics::{
        observances,
        write::{Writer, date, local, quoted},
    },
};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

const PRODUCT: &str = "-//Portolan//calendar//EN";

/// Exports the person's blocks and reservations, except those that ended more than `EXPORT_PAST`
/// ago.
pub(crate) fn export(call: &Call, owner_id: &str) -> Result<Exported> {
    let now = now(call);
    let range = Span::new(now - EXPORT_PAST, FAR + 1);
    let mut zones = Zones::default();
    let blocks = blocks(owner_id, range)?;
    let known = blocks.iter().filter_map(|block| Some((block, block.value.series(&mut zones)?)));
    let known: Vec<_> = known.collect();
    let changed = changed(&known);
    let mut writer = Writer::default();
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "CALSCALE:GREGORIAN", "METHOD:PUBLISH"] {
        writer.line(line);
    }
    writer.line(&format!("PRODID:{PRODUCT}"));
    write_zones(&mut writer, &known, now);
    let mut events = 0;
    for block in &known {
        write_block(&mut writer, block, &changed);
        events += 1;
    }
    for stored in reservations(owner_id, range)? {
        write_reservation(&mut writer, &stored);
        events += 1;
    }
    writer.line("END:VCALENDAR");
    Ok(Exported { ics: writer.into_inner(), events })
}

type Known<'a> = (&'a Stored<Block>, Series);

/// The events that changed occurrences belong to, keyed by the UID and the original time of the
/// occurrence.
type Changed<'a> = BTreeMap<(&'a str, &'a str), &'a Known<'a>>;

fn changed<'a>(known: &'a [Known<'a>]) -> Changed<'a> {
    let events = known.iter().filter(|(block, _)| block.value.recurrence_id.is_none());
    let events: BTreeMap<_, _> =
        events.filter_map(|event| Some((event.0.value.uid.as_deref()?, event))).collect();
    let changes = known.iter().filter_map(|(block, _)| {
        let change = change(&block.value)?;
        Some((change, *events.get(change.0)?))
    });
    changes.collect()
}

/// Returns the UID of the event and the original time of the occurrence that this block replaces;
/// `None` if it replaces none.
fn change(block: &Block) -> Option<(&str, &str)> {
    block.uid.as_deref().zip(block.recurrence_id.as_deref())
}

/// Writes the time zones that are used, each from before its first use until after its last.
fn write_zones(writer: &mut Writer, known: &[Known<'_>], now: i64) {
    let year = 366 * DAY;
    let mut uses: BTreeMap<&str, (&Zone, i64, i64)> = BTreeMap::new();
    for (stored, series) in known.iter().filter(|(known, _)| !known.value.all_day) {
        let begins = stored.value.begins;
        // A zone is in use at least until now, because a recurring block may continue.
        let used = uses.entry(series.zone.name()).or_insert((&series.zone, begins, now));
        (used.1, used.2) = (used.1.min(begins), used.2.max(begins));
    }
    for (zone, first, last) in uses.into_values().filter(|(zone, _, _)| !zone.is_utc()) {
        let last = last.min(now + ZONE_YEARS_AHEAD * year).max(first) + ZONE_YEARS_AFTER * year;
        observances::write(writer, zone, first - ZONE_YEARS_BEFORE * year, last);
    }
}

fn write_block(writer: &mut Writer, (stored, series): &Known<'_>, changed: &Changed<'_>) {
    let block = &stored.value;
    // Several busy times of a file share a UID, and a changed occurrence may be without its event.
    // Both get UIDs of their own.
    let change = change(block);
    let event = change.and_then(|change| changed.get(&change));
    let uid = match (&block.uid, block.recurrence_id.is_none() || event.is_some()) {
        (Some(uid), true) => uid.clone(),
        _ => uid(&stored.id),
    };
    begin(writer, &uid, stored.updated_at, stored.revision);
    // The occurrence may have moved to another zone. It is identified by the original time in the
    // zone of the event.
    if let (Some((event, series)), Some((_, at))) = (event, change)
        && let Ok(at) = at.parse()
    {
        writer.line(&time("RECURRENCE-ID", at, &series.zone, event.value.all_day));
    }
    let time = |name: &str, at: DateTime| time(name, at, &series.zone, block.all_day);
    writer.line(&time("DTSTART", series.start));
    writer.line(&time("DTEND", series.end()));
    if let Some(rule) = &series.rule {
        writer.line(&format!("RRULE:{}", ending(rule, series, block.all_day)));
    }
    for (at, text) in series.except.iter().zip(&block.except) {
        let uid = block.uid.as_deref();
        if !uid.is_some_and(|uid| changed.contains_key(&(uid, text.as_str()))) {
            writer.line(&time("EXDATE", *at));
        }
    }
    for (start, end) in &series.also {
        writer.line(&addition(*start, *end, series, block.all_day));
    }
    // An imported block without a title is exported without one, so that it is unchanged when it is
    // imported again.
    let untitled = (block.source == Source::Added).then_some("Busy");
    end(writer, block.label.as_deref().or(untitled), block.tentative);
}

fn write_reservation(writer: &mut Writer, stored: &Stored<Reservation>) {
    let Reservation { kind, title, begins, ends, .. } = &stored.value;
    begin(writer, &uid(&stored.id), stored.updated_at, stored.revision);
    let zone = Zone::utc();
    for (name, at) in [("DTSTART", begins), ("DTEND", ends)] {
        writer.line(&time(name, zone.local(*at), &zone, false));
    }
    end(writer, Some(title.as_deref().unwrap_or("Meeting")), *kind == Firmness::Tentative);
}

/// Begins an event. Every change of the block has a new sequence.
fn begin(writer: &mut Writer, uid: &str, updated_at: u64, revision: u64) {
    let updated = Zone::utc().local(i64::try_from(updated_at).unwrap_or(0));
    writer.line("BEGIN:VEVENT");
    writer.text("UID", uid);
    writer.line(&format!("DTSTAMP:{}Z", local(updated)));
    writer.line(&format!("SEQUENCE:{}", revision.saturating_sub(1)));
}

fn end(writer: &mut Writer, summary: Option<&str>, tentative: bool) {
    summary.into_iter().for_each(|summary| writer.text("SUMMARY", summary));
    writer.line(if tentative { "STATUS:TENTATIVE" } else { "STATUS:CONFIRMED" });
    writer.line("TRANSP:OPAQUE");
    writer.line("CLASS:PRIVATE");
    writer.line("END:VEVENT");
}

fn time(name: &str, at: DateTime, zone: &Zone, all_day: bool) -> String {
    match (all_day, zone.is_utc()) {
        (true, _) => format!("{name};VALUE=DATE:{}", date(at.date())),
        (false, true) => format!("{name}:{}Z", local(at)),
        (false, false) => format!("{name};TZID={}:{}", parameter(zone), local(at)),
    }
}

/// Returns the name of the zone as the value of a parameter.
fn parameter(zone: &Zone) -> String {
    match zone.name().contains(',') {
        true => quoted(zone.name()),
        false => zone.name().to_owned(),
    }
}

/// Writes an additional occurrence, with its end if it has a length of its own.
fn addition(start: DateTime, end: DateTime, series: &Series, all_day: bool) -> String {
    let zone = &series.zone;
    if all_day || end.duration_since(start) == series.length {
        return time("RDATE", start, zone, all_day);
    }
    match zone.is_utc() {
        true => format!("RDATE;VALUE=PERIOD:{}Z/{}Z", local(start), local(end)),
        false => {
            let name = parameter(zone);
            format!("RDATE;VALUE=PERIOD;TZID={name}:{}/{}", local(start), local(end))
        }
    }
}

/// Returns the rule with an end of the form that matches the start: a day, or an instant in UTC.
fn ending(rule: &Rule, series: &Series, all_day: bool) -> Rule {
    let mut rule = rule.clone();
    rule.end = match (rule.end, series.last) {
        (End::Day(_) | End::Local(_) | End::Utc(_), Some(last)) if all_day => End::Day(last.date()),
        (End::Day(_) | End::Local(_) | End::Utc(_), Some(last)) => {
            End::Utc(Zone::utc().local(series.zone.instant(last)))
        }
        (end, _) => end,
    };
    rule
}
