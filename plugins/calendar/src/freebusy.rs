//! The person's free/busy times under a secret address, for calendar programs.

use crate::{
    busy::now,
    documents::*,
    limits::{DAY, FREEBUSY_AHEAD, FREEBUSY_PAST, MANY_PERIODS, MANY_SPANS, SECRET_BYTES, STEP},
    refusals::*,
    spans::*,
    types::*,
    zones::Zone,
};
use people_kit::{
    calendar::uid,
    hex,
    ics::write::{Writer, local},
};
use portolan_sdk::{contract::platform, documents::Person, prelude::*, secrets};

/// The addresses, keyed by a keyed digest of their secrets. A person has at most one.
pub(crate) const FREEBUSY_ADDRESSES: Collection<FreebusyAddress> =
    Collection::new("freebusy_addresses")
        .people(&[Person::delete("owner_id")])
        .index("owner", &["owner_id"]);

const PRODUCT: &str = "-//Portolan//calendar//EN";
/// The beginning of secrets of test mode, by which the host tells them apart.
const TEST_MODE: &str = "test-";
/// The beginning of the UIDs of published times.
const FREEBUSY_UID: &str = "freebusy-";
/// The number of digits of the key of an address in its UID.
const UID_DIGITS: usize = 16;

#[document]
pub(crate) struct FreebusyAddress {
    pub(crate) owner_id: String,
    /// The secret, sealed and as hexadecimal digits.
    pub(crate) sealed: String,
}

/// Where programs read the person's free/busy times.
#[output]
pub(crate) struct PublishedFreebusy {
    /// The address; null if there is none. Whoever has it sees when the person is busy.
    pub(crate) address: Option<String>,
    /// Since when it is valid (RFC 3339).
    pub(crate) since: Option<String>,
    pub(crate) allowed_actions: Vec<&'static str>,
}

#[input]
pub(crate) struct FreebusySecret {
    /// The secret of an address.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) secret: String,
}

#[output]
pub(crate) struct FreebusyFile {
    /// The file: iCalendar (RFC 5545); null if there is no such address.
    pub(crate) text: Option<String>,
}

fn of_owner(owner_id: &str) -> Result<Option<Stored<FreebusyAddress>>> {
    let query = Query::new().filter(field("owner_id").eq(owner_id)).limit(1);
    let mut found = FREEBUSY_ADDRESSES.all(query);
    Ok(found.next().transpose()?.map(|hit| hit.document))
}

/// Returns the address of a person, if they have one that this capability's keys can open.
pub(crate) fn address(owner_id: Option<&str>) -> Result<PublishedFreebusy> {
    let stored = owner_id.map(of_owner).transpose()?.flatten();
    let Some(stored) = stored else { return Ok(view(None)) };
    let opened = secrets::open(&hex::decode(&stored.value.sealed))?;
    let secret = opened.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(view(secret.map(|secret| (secret, stored.created_at))))
}

fn view(published: Option<(String, u64)>) -> PublishedFreebusy {
    let allowed_actions = match &published {
        Some(_) => vec!["rotate_freebusy", "unpublish_freebusy"],
        None => vec!["publish_freebusy"],
    };
    let (secret, since) = published.unzip();
    let host = platform::about().public_url;
    let address = secret.map(|secret| format!("{host}/published/{CAPABILITY}/{secret}"));
    PublishedFreebusy { address, since: since.map(rfc3339), allowed_actions }
}

/// Makes an address for a person, or returns the one that there is.
pub(crate) fn publish(call: &Call) -> Result<PublishedFreebusy> {
    let owner_id = call.require_owner()?;
    match address(Some(owner_id))? {
        known if known.address.is_some() => Ok(known),
        _ => replace(call, owner_id),
    }
}

/// Replaces the address of a person by another one.
pub(crate) fn rotate(call: &Call) -> Result<PublishedFreebusy> {
    let owner_id = call.require_owner()?;
    match of_owner(owner_id)? {
        Some(_) => replace(call, owner_id),
        None => Err(CalendarError::FreebusyNotPublished),
    }
}

pub(crate) fn unpublish(call: &Call) -> Result<PublishedFreebusy> {
    remove(call.require_owner()?)?;
    Ok(view(None))
}

fn remove(owner_id: &str) -> Result<()> {
    if let Some(stored) = of_owner(owner_id)? {
        FREEBUSY_ADDRESSES.delete(&stored.id, Expect::Revision(stored.revision))?;
    }
    Ok(())
}

fn replace(call: &Call, owner_id: &str) -> Result<PublishedFreebusy> {
    // Of two concurrent calls, one runs again and sees the address of the other.
    let change = Change::of(owner_id)?;
    remove(owner_id)?;
    let mode = if call.test_mode() { TEST_MODE } else { "" };
    let secret = format!("{mode}{}", hex::encode(&call.random(SECRET_BYTES)));
    let key = hex::encode(&secrets::mac(secret.as_bytes())?);
    let sealed = hex::encode(&secrets::seal(secret.as_bytes())?);
    let address = FreebusyAddress { owner_id: owner_id.to_owned(), sealed };
    let stored = FREEBUSY_ADDRESSES.add(key, address, call.now())?;
    change.save(0, 0)?;
    Ok(view(Some((secret, stored.created_at))))
}

/// Returns the file of an address.
pub(crate) fn file(call: &Call, input: &FreebusySecret) -> Result<FreebusyFile> {
    for mac in secrets::macs(input.secret.as_bytes())? {
        if let Some(found) = FREEBUSY_ADDRESSES.get(&hex::encode(&mac))? {
            return Ok(FreebusyFile { text: Some(written(call, &found)?) });
        }
    }
    Ok(FreebusyFile { text: None })
}

/// Writes the busy times. The file stays the same until the calendar changes, or the day ends.
fn written(call: &Call, stored: &Stored<FreebusyAddress>) -> Result<String> {
    let owner_id = &stored.value.owner_id;
    let today = now(call) - now(call).rem_euclid(DAY);
    let range = Span::new(today - FREEBUSY_PAST, today + FREEBUSY_AHEAD);
    let changed = CALENDARS.get(owner_id)?.map_or(0, |calendar| calendar.updated_at);
    let stamp = i64::try_from(changed).unwrap_or(0).max(today);
    let key: String = stored.id.chars().take(UID_DIGITS).collect();
    let mut writer = Writer::default();
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "CALSCALE:GREGORIAN", "METHOD:PUBLISH"] {
        writer.line(line);
    }
    writer.line(&format!("PRODID:{PRODUCT}"));
    writer.line("BEGIN:VFREEBUSY");
    writer.line(&format!("UID:{}", uid(&format!("{FREEBUSY_UID}{key}"))));
    // RFC 5546 requires an organizer. This one has no address, so the file does not say whose it is.
    writer.line("ORGANIZER:invalid:nomail");
    for (name, at) in [("DTSTAMP", stamp), ("DTSTART", range.start), ("DTEND", range.end)] {
        writer.line(&format!("{name}:{}", utc(at)));
    }
    for span in busy(owner_id, range)? {
        writer.line(&format!("FREEBUSY:{}/{}", utc(span.start), utc(span.end)));
    }
    writer.line("END:VFREEBUSY");
    writer.line("END:VCALENDAR");
    Ok(writer.into_inner())
}

fn utc(at: i64) -> String {
    format!("{}Z", local(Zone::utc().local(at)))
}

/// Returns when the person is busy, merged, so that neither kinds nor numbers of what takes the time are told. Times
/// that were read from such a file are left out: two people who read each other's would otherwise never be free again.
fn busy(owner_id: &str, range: Span) -> Result<Vec<Span>> {
    let mut zones = Zones::default();
    let mut spans = Vec::new();
    for block in blocks(owner_id, range)? {
        let Some(series) = block.value.series(&mut zones) else { continue };
        if is_published(block.value.uid.as_deref()) {
            continue;
        }
        series.each(range, |one| spans.extend(one.within(range)));
        if spans.len() > MANY_SPANS {
            spans = merged(spans);
        }
    }
    for stored in reservations(owner_id, range)? {
        spans.extend(Span::new(stored.value.begins, stored.value.ends).within(range));
    }
    let spans = merged(spans);
    Ok(match spans.len() > MANY_PERIODS {
        true => merged(spans.into_iter().map(|span| quarters(span, range)).collect()),
        false => spans,
    })
}

fn is_published(known: Option<&str>) -> bool {
    let suffix = uid("");
    known.is_some_and(|known| known.starts_with(FREEBUSY_UID) && known.ends_with(&suffix))
}

/// Extends a span to full quarters of an hour within the range, which begins and ends at midnight.
fn quarters(span: Span, range: Span) -> Span {
    let start = span.start - span.start.rem_euclid(STEP);
    let end = span.end + (-span.end).rem_euclid(STEP);
    Span::new(start.max(range.start), end.min(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_sdk::test;

    const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

    #[test]
    fn an_address_shows_merged_times_until_it_is_replaced() {
        let mut world = test::world().owner(OWNER).at("2026-11-20T10:00:00Z");
        for (start, end) in
            [("2026-11-21T09:00", "2026-11-21T10:00"), ("2026-11-21T09:30", "2026-11-21T11:00")]
        {
            let added = world.run(|call| {
                let input = AddBlock {
                    start: start.to_owned(),
                    end: end.to_owned(),
                    time_zone: Some("UTC".to_owned()),
                    rrule: None,
                    label: Some("canary".to_owned()),
                    owner_id: ME.to_owned(),
                };
                crate::blocks::add(call, input)
            });
            assert!(added.is_ok());
        }
        let secret = |address: &str| address.rsplit('/').next().unwrap().to_owned();
        let first = secret(&world.run(publish).unwrap().address.unwrap());
        let text = |world: &mut test::World, secret: &str| {
            let input = FreebusySecret { secret: secret.to_owned() };
            world.run(|call| file(call, &input)).unwrap().text
        };
        let found = text(&mut world, &first).unwrap();
        assert!(found.contains("\r\nFREEBUSY:20261121T090000Z/20261121T110000Z\r\n"), "{found}");
        assert_eq!(found.matches("FREEBUSY:").count(), 1, "{found}");
        assert!(!found.contains("canary") && !found.contains(OWNER), "{found}");
        let again = world.run(publish).unwrap();
        assert_eq!(secret(&again.address.unwrap()), first);
        let second = secret(&world.run(rotate).unwrap().address.unwrap());
        assert_ne!(first, second);
        assert_eq!(text(&mut world, &first), None);
        assert!(text(&mut world, &second).is_some());
        world.run(unpublish).unwrap();
        assert_eq!(text(&mut world, &second), None);
    }

    #[test]
    fn many_times_are_extended_to_full_quarters() {
        let range = Span::new(0, DAY);
        assert_eq!(quarters(Span::new(1, 2), range), Span::new(0, STEP));
        assert_eq!(quarters(Span::new(STEP, 2 * STEP), range), Span::new(STEP, 2 * STEP));
        assert_eq!(quarters(Span::new(DAY - 1, DAY), range), Span::new(DAY - STEP, DAY));
    }

    #[test]
    fn times_of_such_a_file_are_known() {
        assert!(is_published(Some("freebusy-0011@portolan")));
        assert!(!is_published(Some("freebusy-0011@example.org")));
        assert!(!is_published(Some("blk_1@portolan")) && !is_published(None));
    }
}
