"""Computes what the files and rules of this folder mean, with the usual Python libraries.

    python3 -m venv venv
    venv/bin/pip install icalendar python-dateutil recurring-ical-events tzdata
    venv/bin/python expected.py

writes `expected.json`, the busy times of each file in one or two windows, and `rules.json`, the
starts of random recurrence rules. The tests of `plugins/calendar` need only these files.
"""

import copy
import datetime as dt
import json
import pathlib
import random
import re
import signal
import warnings
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events
from dateutil import rrule

HERE = pathlib.Path(__file__).parent
UTC = dt.timezone.utc
DAY = dt.timedelta(days=1)
WINDOW = 200 * DAY
MOST_IN_WINDOW = 400
LONGEST = 366 * DAY


def is_date(value):
    return isinstance(value, dt.date) and not isinstance(value, dt.datetime)


def instant(value, floating):
    """Returns a date or time in UTC. Without a zone, it is in that of the calendar."""
    if is_date(value):
        value = dt.datetime.combine(value, dt.time())
    if value.tzinfo is None:
        value = value.replace(tzinfo=floating)
    return value.astimezone(UTC)


def zone(calendar):
    name = str(calendar.get("X-WR-TIMEZONE", ""))
    try:
        return ZoneInfo(name) if name else UTC
    except Exception:
        return UTC


def is_busy(event):
    free = (
        str(event.get("STATUS", "")).strip().upper() == "CANCELLED"
        or str(event.get("TRANSP", "")).strip().upper() == "TRANSPARENT"
        or str(event.get("X-MICROSOFT-CDO-BUSYSTATUS", "")).strip().upper() == "FREE"
    )
    return not free


def span(event, floating):
    start = event["DTSTART"].dt
    if "DTEND" in event:
        end = event["DTEND"].dt
    elif "DURATION" in event:
        end = start + event["DURATION"].dt
    else:
        end = start
    if is_date(start):
        end = max(end, start + DAY)
    start, end = instant(start, floating), instant(end, floating)
    return start, min(end, start + LONGEST)


def freebusy(calendar, floating):
    for component in calendar.walk("VFREEBUSY"):
        periods = component.get("FREEBUSY", [])
        for period in periods if isinstance(periods, list) else [periods]:
            if period.params.get("FBTYPE", "BUSY").upper() != "FREE":
                start, end = period.dt
                end = start + end if isinstance(end, dt.timedelta) else end
                yield instant(start, floating), instant(end, floating)


def busy(calendars, start, end):
    found = []
    for calendar in copy.deepcopy(calendars):
        # Here the zone of the calendar is for times without one. The library would also move times
        # in UTC to it, so that they follow its clock.
        floating = zone(calendar)
        calendar.pop("X-WR-TIMEZONE", None)
        query = recurring_ical_events.of(calendar, skip_bad_series=True)
        events = query.between(start - LONGEST, end + DAY)
        found += [span(event, floating) for event in events if is_busy(event)]
        found += freebusy(calendar, floating)
    text = lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return sorted({f"{text(a)}/{text(b)}" for a, b in found if a < b and a < end and b > start})


def starts(calendars):
    for calendar in calendars:
        floating = zone(calendar)
        for event in calendar.walk("VEVENT"):
            try:
                yield instant(event["DTSTART"].dt, floating)
            except Exception:
                pass
        try:
            yield from (start for start, _ in freebusy(calendar, floating))
        except Exception:
            pass


def plain_rule(rule):
    """Removes what dateutil does not read: spaces, and parts that say what is so without them."""
    text = rule[0].replace(b" ", b"")
    return text.replace(b"RSCALE=GREGORIAN;", b"").replace(b"SKIP=OMIT;", b"")


def plain(data):
    """Removes what the libraries do not read, or not as in RFC 5545: spaces around values, and the
    zone of a time in UTC (3.2.19)."""
    data = re.sub(rb"(?m)^RRULE.*$", plain_rule, data)
    data = re.sub(rb"(?m)^([A-Z-]+[^:\r\n]*:) +", rb"\1", data)
    data = re.sub(rb"(?m) +\r$", b"\r", data)
    return re.sub(rb"(?m)^([A-Z-]+);TZID=[^:;]*:(\d{8}T\d{6}Z)", rb"\1:\2", data)


def files():
    for path in sorted(HERE.glob("files/*/*.ics")):
        name = str(path.relative_to(HERE / "files"))
        try:
            data = plain(path.read_bytes())
            calendars = icalendar.Calendar.from_ical(data, multiple=True)
            calendars = [found for found in calendars if found.name == "VCALENDAR"]
            begins = sorted(starts(calendars))
            windows = []
            windows_begin = [begins[0] - DAY] if begins else []
            if begins and begins[-1] - 20 * DAY >= begins[0] - DAY + WINDOW:
                windows_begin.append(begins[-1] - 20 * DAY)
            for begin in windows_begin:
                begin = begin.replace(hour=0, minute=0, second=0, microsecond=0)
                begin = max(begin, dt.datetime(1970, 1, 2, tzinfo=UTC))
                end = begin + WINDOW
                found = busy(calendars, begin, end)
                while len(found) > MOST_IN_WINDOW:
                    end = begin + (end - begin) / 2
                    found = busy(calendars, begin, end)
                iso = lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")
                windows.append({"from": iso(begin), "to": iso(end), "busy": found})
            yield {"file": name, "windows": windows}
        except Exception as error:
            yield {"file": name, "error": type(error).__name__, "windows": []}


WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def some(chance, pool, most):
    if random.random() >= chance:
        return []
    return sorted(set(random.choices(pool, k=random.randint(1, most))))


def random_rule():
    frequency = random.choice(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"])
    is_long = frequency in ("YEARLY", "MONTHLY")
    is_short = frequency in ("HOURLY", "MINUTELY")
    signed = lambda most: [n for n in range(-most, most + 1) if n]
    parts = {}
    parts["BYMONTH"] = some(0.4, range(1, 13), 4)
    if frequency == "YEARLY":
        parts["BYWEEKNO"] = some(0.15, signed(53), 3)
        parts["BYYEARDAY"] = some(0.15, signed(366), 4)
    if frequency != "WEEKLY":
        parts["BYMONTHDAY"] = some(0.35, signed(31), 4)
    days = some(0.5, range(7), 4)
    numbers = is_long and not parts.get("BYWEEKNO") and random.random() < 0.5
    most = 5 if frequency == "MONTHLY" or parts["BYMONTH"] else 53
    parts["BYDAY"] = [
        (str(random.choice(signed(most))) if numbers else "") + WEEKDAYS[day] for day in days
    ]
    parts["BYHOUR"] = some(0.25, range(24), 3)
    parts["BYMINUTE"] = some(0.2, range(60), 2)
    parts["BYSECOND"] = some(0.1, range(60), 2)
    interval = random.choice([1, 1, 2, 3, 5])
    if is_short:
        interval = random.choice([1, 7, 12, 25]) if frequency == "HOURLY" else random.choice([15, 45, 300])
    # In the first week, dateutil counts positions from the first start on.
    if any(parts.values()) and frequency != "WEEKLY":
        parts["BYSETPOS"] = some(0.25, [-3, -2, -1, 1, 2, 3, 10], 3)
    text = [f"FREQ={frequency}", f"INTERVAL={interval}"]
    text += [f"{name}={','.join(map(str, values))}" for name, values in parts.items() if values]
    if random.random() < 0.3:
        text.append(f"WKST={random.choice(WEEKDAYS)}")
    return ";".join(text), frequency


def give_up(*_):
    raise TimeoutError


def rules(count):
    random.seed(5545)
    signal.signal(signal.SIGALRM, give_up)
    while count:
        text, frequency = random_rule()
        first = dt.datetime(2020, 1, 1) + dt.timedelta(minutes=15 * random.randrange(0, 4 * 24 * 1000))
        length = {"YEARLY": 3000, "MONTHLY": 800, "WEEKLY": 300, "DAILY": 200}.get(frequency, 20)
        begin = first + dt.timedelta(days=random.choice([0, 0, 0, 30, 400, 3000]))
        end = begin + dt.timedelta(days=length)
        # A rule that never falls on a day keeps dateutil busy up to the year 9999.
        signal.setitimer(signal.ITIMER_REAL, 1)
        try:
            rule = rrule.rrulestr(text, dtstart=first)
            found = rule.between(begin, end, inc=True)
            matches = next(iter(rule), None) == first
        except (ValueError, TimeoutError):
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if begin <= first:
            found = sorted({first, *found})
        if len(found) > 12:
            end = found[12] - dt.timedelta(seconds=1)
            found = found[:12]
        if not found and random.random() < 0.9:
            continue
        count -= 1
        iso = lambda at: at.strftime("%Y-%m-%dT%H:%M:%S")
        yield {
            "rule": text,
            "first": iso(first),
            "from": iso(begin),
            "to": iso(end),
            "matches_first": matches,
            "starts": [iso(at) for at in found],
        }


def write(name, cases):
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (HERE / name).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write("rules.json", rules(1_200))
    write("expected.json", files())
