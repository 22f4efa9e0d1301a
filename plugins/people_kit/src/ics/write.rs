//! Writes content lines as RFC 5545 requires.

use crate::zones::Zone;
use jiff::civil::{Date, DateTime};

/// The maximum number of octets of a line, without its line break.
pub const WIDTH: usize = 75;

/// A file that is being written.
#[derive(Debug, Default)]
pub struct Writer(String);

impl Writer {
    /// Writes one line, folded; a character is never split.
    pub fn line(&mut self, text: &str) {
        let mut width = 0;
        for letter in text.chars() {
            if width + letter.len_utf8() > WIDTH {
                self.0.push_str("\r\n ");
                width = 1;
            }
            self.0.push(letter);
            width += letter.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    /// Writes a property whose value is a text.
    pub fn text(&mut self, name: &str, value: &str) {
        self.line(&format!("{name}:{}", escaped(value)));
    }

    /// Returns the file.
    pub fn into_inner(self) -> String {
        self.0
    }
}

/// Escapes a text as the value of a property.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' | ';' | ',' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

/// Formats a local time, or one in UTC without its `Z`.
pub fn local(at: DateTime) -> String {
    format!("{}T{:02}{:02}{:02}", date(at.date()), at.hour(), at.minute(), at.second())
}

/// Formats a date. The formatter of jiff, which supports every format, would make components
/// larger.
pub fn date(day: Date) -> String {
    format!("{:04}{:02}{:02}", day.year(), day.month(), day.day())
}

/// Quotes the value of a parameter. Characters that cannot be in quotes are written as in RFC 6868.
pub fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for letter in value.chars() {
        match letter {
            '^' => text.push_str("^^"),
            '"' => text.push_str("^'"),
            '\n' => text.push_str("^n"),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}

/// Returns a property whose value is a time: in local time, or in UTC if the clock shows that local
/// time twice. RFC 5545 takes it for the first of the two then, but programs differ.
pub fn time(name: &str, at: i64, zone: &Zone) -> String {
    let shown = zone.local(at);
    match zone.is_utc() || zone.rules().to_ambiguous_timestamp(shown).is_ambiguous() {
        true => format!("{name}:{}Z", local(Zone::utc().local(at))),
        false => format!("{name};TZID={}:{}", zone.name(), local(shown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_unless_ambiguous() {
        let la = Zone::named("America/Los_Angeles").unwrap();
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        for (instant, line) in [
            ("2026-10-31T17:00:00Z", "DTSTART;TZID=America/Los_Angeles:20261031T100000"),
            ("2026-11-01T07:30:00Z", "DTSTART;TZID=America/Los_Angeles:20261101T003000"),
            ("2026-11-01T08:30:00Z", "DTSTART:20261101T083000Z"),
            ("2026-11-01T09:30:00Z", "DTSTART:20261101T093000Z"),
            ("2026-11-01T18:00:00Z", "DTSTART;TZID=America/Los_Angeles:20261101T100000"),
        ] {
            assert_eq!(time("DTSTART", at(instant), &la), line);
        }
        assert_eq!(time("DTEND", 0, &Zone::utc()), "DTEND:19700101T000000Z");
    }

    #[test]
    fn parameters_hold_any_text() {
        assert_eq!(quoted("Ada; \"the\" Countess, ^1"), "\"Ada; ^'the^' Countess, ^^1\"");
    }
}
