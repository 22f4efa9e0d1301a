"""Reads an exported calendar file with icalendar, and compares its expansion with the host's list.

Arguments: the file, and the expected content as JSON.
"""

import json
import sys
from datetime import datetime, timezone

import icalendar
import recurring_ical_events

raw = open(sys.argv[1], "rb").read()
expected = json.load(open(sys.argv[2], encoding="utf-8"))

lines = raw.split(b"\r\n")
assert lines[-1] == b"" and not any(b"\n" in line or b"\r" in line for line in lines), "CRLF alone"
assert all(len(line) <= 75 for line in lines), "75 octets at most"

calendar = icalendar.Calendar.from_ical(raw)
assert not calendar.errors, calendar.errors
assert calendar["VERSION"] == "2.0" and calendar["PRODID"]
events = list(calendar.walk("VEVENT"))
assert len(events) == expected["events"], len(events)
for event in events:
    assert not event.errors, event.errors
    for name in ["UID", "DTSTAMP", "DTSTART", "SUMMARY"]:
        assert name in event, (name, event)
titles = {str(event["SUMMARY"]) for event in events}
assert titles >= set(expected["titles"]), (titles, expected["titles"])
zones = {zone["TZID"] for zone in calendar.walk("VTIMEZONE")}
used = {
    event["DTSTART"].params["TZID"] for event in events if "TZID" in event["DTSTART"].params
}
assert zones == used, (zones, used)


def text(time):
    if not isinstance(time, datetime):
        return time.isoformat()
    return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


moment = datetime.fromisoformat
found = recurring_ical_events.of(calendar).between(moment(expected["from"]), moment(expected["to"]))
found = sorted([str(event["UID"]), text(event.start), text(event.end)] for event in found)
missing = [it for it in expected["occurrences"] if it not in found]
unexpected = [it for it in found if it not in expected["occurrences"]]
assert found == expected["occurrences"], (
    f"{len(found)} of {len(expected['occurrences'])}, missing {missing[:5]}, "
    f"unexpected {unexpected[:5]}"
)
