"""Reads a meeting's calendar file with icalendar, and compares it with the expected content.

Arguments: the file, and the expected content as JSON.
"""

import json
import sys
from datetime import timezone

import icalendar

raw = open(sys.argv[1], "rb").read()
expected = json.load(open(sys.argv[2], encoding="utf-8"))

calendar = icalendar.Calendar.from_ical(raw)
assert not calendar.errors, calendar.errors
assert calendar["METHOD"] == expected["method"], calendar["METHOD"]
[event] = calendar.walk("VEVENT")
assert not event.errors, event.errors
assert event["STATUS"] == expected["status"], event["STATUS"]
assert event["SEQUENCE"] == expected["sequence"], event["SEQUENCE"]
assert event["UID"] == expected["uid"], event["UID"]
assert event["SUMMARY"] == expected["summary"], event["SUMMARY"]
assert event.get("LOCATION") == expected["location"], event.get("LOCATION")
assert "DTSTAMP" in event


def text(time):
    return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


assert text(event.start) == expected["start"], event["DTSTART"].to_ical()
assert text(event.end) == expected["end"], event["DTEND"].to_ical()
zones = {str(zone["TZID"]) for zone in calendar.walk("VTIMEZONE")}
used = {event[it].params["TZID"] for it in ["DTSTART", "DTEND"] if "TZID" in event[it].params}
assert used <= zones, (used, zones)


def person(address):
    assert str(address).startswith("urn:portolan:"), address
    return str(address).removeprefix("urn:portolan:")


assert person(event["ORGANIZER"]) == expected["organizer"]
attendees = event["ATTENDEE"]
found = {person(it): [it.params["PARTSTAT"], it.params.get("CN")] for it in attendees}
assert found == expected["attendees"], (found, expected["attendees"])
