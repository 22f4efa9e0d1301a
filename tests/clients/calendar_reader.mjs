// Reads an exported calendar file with ical.js, and compares the library's expansion of recurring
// events with the host's list. Arguments: the file, and the expected content as JSON.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import ICAL from "ical.js";

const expected = JSON.parse(readFileSync(process.argv[3], "utf8"));
const calendar = new ICAL.Component(ICAL.parse(readFileSync(process.argv[2], "utf8")));
assert.equal(calendar.getFirstPropertyValue("version"), "2.0");
// Only the file's own time zones are used: it must contain every zone that it refers to.
for (const zone of calendar.getAllSubcomponents("vtimezone")) {
  ICAL.TimezoneService.register(zone);
}

const text = (time) => {
  if (time.isDate) return time.toString();
  return new Date(time.toUnixTime() * 1000).toISOString();
};
const from = Date.parse(expected.from) / 1000;
const to = Date.parse(expected.to) / 1000;

const components = calendar.getAllSubcomponents("vevent");
assert.equal(components.length, expected.events);
const titles = components.map((component) => component.getFirstPropertyValue("summary"));
for (const title of expected.titles) assert.ok(titles.includes(title), title);

const found = [];
const add = (uid, start, end) => {
  if (start.toUnixTime() < to && end.toUnixTime() > from) found.push([uid, text(start), text(end)]);
};
const events = components.map((component) => new ICAL.Event(component, { strictExceptions: true }));
for (const event of events.filter((event) => event.isRecurrenceException())) {
  const main = events.find((it) => it.uid === event.uid && !it.isRecurrenceException());
  main.relateException(event);
}
for (const event of events.filter((event) => !event.isRecurrenceException())) {
  if (!event.isRecurring()) {
    add(event.uid, event.startDate, event.endDate);
    continue;
  }
  const iterator = event.iterator();
  for (let next = iterator.next(); next && next.toUnixTime() < to; next = iterator.next()) {
    const { startDate, endDate } = event.getOccurrenceDetails(next);
    add(event.uid, startDate, endDate);
  }
}
found.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
const known = new Set(found.map((it) => JSON.stringify(it)));
const wanted = new Set(expected.occurrences.map((it) => JSON.stringify(it)));
const missing = [...wanted].filter((it) => !known.has(it));
const unexpected = [...known].filter((it) => !wanted.has(it));
assert.deepEqual({ missing: missing.slice(0, 5), unexpected: unexpected.slice(0, 5) }, { missing: [], unexpected: [] });
assert.equal(found.length, expected.occurrences.length);
