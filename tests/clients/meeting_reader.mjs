// Reads a meeting's calendar file with ical.js, and compares it with the expected content.
// Arguments: the file, and the expected content as JSON.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import ICAL from "ical.js";

const expected = JSON.parse(readFileSync(process.argv[3], "utf8"));
const calendar = new ICAL.Component(ICAL.parse(readFileSync(process.argv[2], "utf8")));
// Only the file's own time zones are used: it must contain every zone that it refers to.
for (const zone of calendar.getAllSubcomponents("vtimezone")) {
  ICAL.TimezoneService.register(zone);
}
const components = calendar.getAllSubcomponents("vevent");
assert.equal(components.length, 1);
const [component] = components;
const event = new ICAL.Event(component);
const text = (time) => new Date(time.toUnixTime() * 1000).toISOString();
const person = (property) => property.getFirstValue().replace(/^urn:portolan:/, "");

const attendees = component.getAllProperties("attendee").map((it) => [
  person(it),
  [it.getParameter("partstat"), it.getParameter("cn") ?? null],
]);
assert.deepEqual(
  {
    method: calendar.getFirstPropertyValue("method"),
    status: component.getFirstPropertyValue("status"),
    sequence: event.sequence,
    uid: event.uid,
    start: text(event.startDate),
    end: text(event.endDate),
    organizer: person(component.getFirstProperty("organizer")),
    attendees: Object.fromEntries(attendees),
    summary: event.summary,
    location: event.location,
  },
  expected,
);
