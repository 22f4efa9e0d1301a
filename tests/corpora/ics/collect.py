"""Trims calendar files of packages to what the tests need, without people's names and contact data.

    python3 collect.py PACKAGE FOLDER ...

reads every `.ics` file below the folder (an unpacked package) and writes it to `files/PACKAGE/`.
Only the properties and parameters listed here are kept, UIDs are numbered, and titles are neutral.
A file without events and busy times, with components outside of a calendar, that is in the corpus
already, or of more than 12 KB is left out.
"""

import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
PROPERTIES = set(
    "BEGIN END VERSION CALSCALE METHOD DTSTART DTEND DURATION RRULE EXRULE EXDATE RDATE RECURRENCE-ID"
    " UID SEQUENCE STATUS TRANSP X-MICROSOFT-CDO-BUSYSTATUS FREEBUSY TZID TZOFFSETFROM TZOFFSETTO"
    " X-LIC-LOCATION X-WR-TIMEZONE SUMMARY".split()
)
PARAMETERS = {"TZID", "VALUE", "RANGE", "FBTYPE"}
COMPONENTS = {"VCALENDAR", "VEVENT", "VTIMEZONE", "STANDARD", "DAYLIGHT", "VFREEBUSY"}
MOST_BYTES = 12_000


def unfolded(data):
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = re.sub(r"\r\n?", "\n", text)
    return re.sub(r"\n[ \t]", "", text).split("\n")


def split(line):
    """Splits a line into name, parameters and value; `None` if it is no content line."""
    parts, quoted, at = [], False, 0
    for number, letter in enumerate(line):
        if letter == '"':
            quoted = not quoted
        elif not quoted and letter in ";:":
            parts.append(line[at:number])
            at = number + 1
            if letter == ":":
                return parts[0].strip().upper(), parts[1:], line[at:]
    return None


def trimmed(data):
    lines, depth, skipped, uids = [], 0, 0, {}
    for line in unfolded(data):
        found = split(line)
        if not line.strip():
            continue
        if found is None:
            # The line stays malformed, without its text.
            if depth and not skipped:
                lines.append("MALFORMED")
            continue
        name, parameters, value = found
        if name in ("BEGIN", "END"):
            component = value.strip().upper()
            depth += 1 if name == "BEGIN" else -1
            if skipped or component not in COMPONENTS:
                skipped += 1 if name == "BEGIN" else -1
                continue
            lines.append(f"{name}:{component}")
            continue
        if skipped or name not in PROPERTIES:
            continue
        if name == "UID":
            value = value and f"uid-{uids.setdefault(value, len(uids) + 1)}"
        if name == "SUMMARY":
            value = "Event"
        parameters = [one for one in parameters if one.split("=")[0].strip().upper() in PARAMETERS]
        lines.append(":".join([";".join([name, *parameters]), value]))
    if not any(line in ("BEGIN:VEVENT", "BEGIN:VFREEBUSY") for line in lines):
        return None
    if "BEGIN:VCALENDAR" not in lines:
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", *lines, "END:VCALENDAR"]
    if not is_whole(lines):
        return None
    text = "\r\n".join(lines) + "\r\n"
    return text if len(text) <= MOST_BYTES else None


def is_whole(lines):
    """Whether all components are in calendars."""
    depth = 0
    for line in lines:
        if depth == 0 and line != "BEGIN:VCALENDAR":
            return False
        depth += line.startswith("BEGIN:") - line.startswith("END:")
    return True


def main(package, folders):
    known = set()
    for path in HERE.glob("files/*/*.ics"):
        known.add(hashlib.sha256(path.read_bytes()).digest())
    target = HERE / "files" / package
    target.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.ics")):
            text = trimmed(path.read_bytes())
            digest = text and hashlib.sha256(text.encode()).digest()
            if text is None or digest in known:
                continue
            known.add(digest)
            name = re.sub(r"[^a-z0-9_]+", "_", path.stem.lower()).strip("_")
            number, place = 1, target / f"{name}.ics"
            while place.exists():
                number += 1
                place = target / f"{name}_{number}.ics"
            place.write_bytes(text.encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
