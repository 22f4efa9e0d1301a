//! Imports a file into a person's calendar.

use crate::{
    blocks, busy,
    documents::*,
    ics::components::{self, Component},
    ics::definitions::Definition,
    ics::entries::{Entry, Key},
    ics::interval::suggested_interval,
    ics::lines::{self, Line, unescaped},
    ics::reader::{Reader, freebusy_uid, identity, uid},
    ics::times::FileZones,
    ics::types::*,
    limits::{LOOKED_UP_AT_ONCE, MOST_BLOCKS, MOST_ZONES},
    refusals::*,
    types::{BLOCKS, Block, RESERVATIONS, Reservation, Source},
    zones::{self, Zone},
};
use people_kit::calendar;
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Whose blocks a file makes, and which of the person's blocks it replaces.
pub(crate) struct Origin<'a> {
    owner_id: &'a str,
    source: Source,
    /// The subscription whose file it is, which replaces all blocks of it.
    subscription_id: Option<&'a str>,
    /// Whether the blocks of earlier imports that the file does not contain are removed.
    replace_all: bool,
    /// The zone of times without one; the person's if there is none.
    zone: Option<Zone>,
}

impl<'a> Origin<'a> {
    pub(crate) fn subscription(owner_id: &'a str, id: &'a str, zone: Option<Zone>) -> Self {
        let source = Source::Subscribed;
        Self { owner_id, source, subscription_id: Some(id), replace_all: true, zone }
    }

    /// Returns whether the file can replace a block, of those whose UIDs are in the file if it does not replace all.
    fn replaces(&self, block: &Block, named: &BTreeSet<String>) -> bool {
        block.source == self.source
            && block.subscription_id.as_deref() == self.subscription_id
            && (self.replace_all || block.uid.as_ref().is_some_and(|uid| named.contains(uid)))
    }
}

/// What a file has changed.
pub(crate) struct Taken {
    pub(crate) imported: Imported,
    /// The number of blocks that the file has in the calendar now.
    pub(crate) blocks: u32,
    /// The time between two readings that the file asks for, in milliseconds.
    pub(crate) interval: Option<u64>,
}

pub(crate) fn import(call: &Call, input: ImportIcs) -> Result<Imported> {
    let origin = Origin {
        owner_id: call.require_owner()?,
        source: Source::Imported,
        subscription_id: None,
        replace_all: input.replace_all,
        zone: None,
    };
    Ok(take(call, &input.ics, &origin)?.imported)
}

/// Takes a file into a person's calendar. Nothing is written if it is refused.
pub(crate) fn take(call: &Call, text: &str, origin: &Origin<'_>) -> Result<Taken> {
    let owner_id = origin.owner_id;
    let (calendar, components) = components::read(lines::read(text)?)?;
    let now = busy::now(call);
    let floating = match &origin.zone {
        Some(zone) => Some(zone.clone()),
        None => home(owner_id)?,
    };
    let zones = zones(&calendar, &components, floating, now);
    let change = Change::of(owner_id)?;
    let stored = blocks::all(owner_id)?;
    let own = own_uids(owner_id, &components, &stored)?;
    let named = named_uids(&components);
    let (replaceable, kept): (Vec<_>, Vec<_>) =
        stored.into_iter().partition(|stored| origin.replaces(&stored.value, &named));
    let is_cancellation =
        calendar.iter().any(|line| line.name == "METHOD" && line.has_value("CANCEL"));
    let reader = Reader { zones, now, is_cancellation, own: &own, a_day: blocks::a_day(&kept) };
    let found = reader.read(&components)?;
    if found.entries.len() > MOST_BLOCKS as usize {
        let blocks = u32::try_from(kept.len() + found.entries.len()).unwrap_or(u32::MAX);
        return Err(CalendarError::BlockLimitReached { blocks });
    }
    let mut answer = Imported {
        skipped: found.skipped,
        unsupported_count: found.unsupported_count,
        unsupported: found.unsupported,
        ..Imported::default()
    };
    let (mut before, mut a_day) = (BTreeMap::new(), found.a_day);
    for stored in replaceable {
        let key: Key =
            (stored.value.uid.clone().unwrap_or_default(), stored.value.recurrence_id.clone());
        let is_known = found.uids.contains(&key.0) || found.faulty.contains(&key.0);
        match origin.replace_all || is_known {
            true => drop(before.insert(key, stored)),
            false => a_day = a_day.saturating_add(stored.value.most_a_day()),
        }
    }
    let (mut replaced, mut added) = (Vec::new(), Vec::new());
    for (key, entry) in found.entries {
        let known = before.remove(&key);
        let block = block(origin, key, entry);
        match known {
            Some(known) if known.value == block => answer.unchanged += 1,
            Some(known) => replaced.push((known, block)),
            None => added.push(block),
        }
    }
    // A block that was imported before stays if its event could not be read now.
    let (faulty, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
        before.into_iter().partition(|((uid, _), _)| found.faulty.contains(uid));
    blocks::ensure_few_a_day(a_day.saturating_add(blocks::a_day(faulty.values())))?;
    answer.replaced = counted(replaced.len());
    answer.added = counted(added.len());
    answer.removed = counted(gone.len());
    // Refuses what is too much before anything else is written.
    change.save(answer.added, answer.removed)?;
    for (known, block) in replaced {
        BLOCKS.put(&known.id, &block, Expect::Revision(known.revision))?;
    }
    for block in added {
        BLOCKS.add(call.new_id("blk"), block, call.now())?;
    }
    for gone in gone.into_values() {
        BLOCKS.delete(&gone.id, Expect::Revision(gone.revision))?;
    }
    let blocks = answer.added + answer.replaced + answer.unchanged + counted(faulty.len());
    Ok(Taken { imported: answer, blocks, interval: suggested_interval(&calendar) })
}

fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the UIDs in the file that were exported from this calendar and are still in it. `blocks` are all blocks of the
/// person.
fn own_uids(
    owner_id: &str,
    components: &[Component],
    blocks: &[Stored<Block>],
) -> Result<BTreeSet<String>> {
    let suffix = calendar::uid("");
    let events = components.iter().filter(|component| component.kind == "VEVENT");
    let ids = events.filter_map(|event| {
        let uid = uid(event).ok().flatten()?;
        uid.strip_suffix(&suffix).filter(|id| is_id(id)).map(str::to_owned)
    });
    let known: BTreeSet<&str> = blocks.iter().map(|block| block.id.as_str()).collect();
    let (mut own, others): (BTreeSet<String>, BTreeSet<String>) =
        ids.partition(|id| known.contains(id.as_str()));
    let others: Vec<String> = others.into_iter().collect();
    for ids in others.chunks(LOOKED_UP_AT_ONCE) {
        let reserved = RESERVATIONS.get_many(ids.iter().map(String::as_str))?.into_iter().flatten();
        let is_own = |found: &Stored<Reservation>| {
            found.value.owner_ids.iter().any(|owner| owner == owner_id)
        };
        own.extend(reserved.filter(is_own).map(|found| found.id));
    }
    Ok(own.iter().map(|id| calendar::uid(id)).collect())
}

/// Returns the UIDs of what the file contains, with those that are made.
fn named_uids(components: &[Component]) -> BTreeSet<String> {
    let named = components.iter().filter_map(|component| match component.kind.as_str() {
        "VEVENT" => identity(component).ok(),
        "VFREEBUSY" => freebusy_uid(component).ok(),
        _ => None,
    });
    named.collect()
}

fn is_id(text: &str) -> bool {
    (1..=100).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:.-".contains(&byte))
}

/// Returns the zones of the file. Times without a zone are in the calendar's own zone, or else in
/// that of the person, or else in UTC.
pub(crate) fn zones(
    calendar: &[Line],
    components: &[Component],
    home: Option<Zone>,
    now: i64,
) -> FileZones {
    let named = calendar.iter().find(|line| line.name == "X-WR-TIMEZONE" && line.fault.is_none());
    let floating = named.and_then(|line| zones::find(&line.value)).or(home);
    let mut zones = FileZones::new(floating, now);
    let now = Zone::utc().local(now);
    let defined = components.iter().filter(|component| component.kind == "VTIMEZONE");
    for zone in defined.take(MOST_ZONES) {
        let value_of = |name: &str| Some(unescaped(&zone.property(name)?.value));
        zones.aliases.extend(value_of("TZID").zip(value_of("X-LIC-LOCATION")));
        zones.definitions.extend(value_of("TZID").zip(Definition::read(zone, now)));
    }
    zones
}

fn block(origin: &Origin<'_>, (uid, recurrence_id): Key, entry: Entry) -> Block {
    Block {
        subscription_id: origin.subscription_id.map(str::to_owned),
        uid: Some(uid),
        recurrence_id,
        tentative: entry.tentative,
        label: entry.label,
        ..Block::of(origin.owner_id, origin.source, &entry.series, entry.all_day)
    }
}
