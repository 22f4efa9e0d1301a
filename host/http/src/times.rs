//! The times on pages for people. Each names its zone: UTC, or on a person's own pages the zone of their settings. The
//! script `times.js` rewrites instants in the zone and the language of the browser.

use crate::assets;
use portolan_vocabulary::{Precision, Timestamp, Zone};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the element that runs the script, for the head of a page with times.
pub(super) fn script() -> String {
    format!("<script src=\"{}\" defer></script>", assets::times_path())
}

/// Returns the element of an instant in a zone.
pub(super) fn moment(at: &Timestamp, zone: &Zone) -> String {
    element(*at, zone, Precision::Minute)
}

/// Returns the element of an instant of which only the hour is known.
pub(super) fn hour(at: &Timestamp, zone: &Zone) -> String {
    element(*at, zone, Precision::Hour)
}

/// Returns the element of an instant, to the precision of a day.
pub(super) fn day(at: &Timestamp, zone: &Zone) -> String {
    element(*at, zone, Precision::Day)
}

/// Returns the element of an instant in UTC, for pages without a person.
pub(super) fn utc(at: &Timestamp) -> String {
    moment(at, &Zone::default())
}

/// Returns the element of an instant's day in UTC, for pages without a person.
pub(super) fn utc_day(at: &Timestamp) -> String {
    day(at, &Zone::default())
}

/// Returns the element of a time in a record of the feeds; empty if the text is none. At midnight UTC, it is a day of
/// the calendar, which is the same everywhere.
pub(super) fn of_record(text: &str) -> String {
    let (date, time) = text.split_at_checked(10).unwrap_or_default();
    let is_day =
        time.is_empty() || time.trim_start_matches("T00:00:00").trim_matches(['.', '0']) == "Z";
    match (calendar_day(date), text.parse::<Timestamp>()) {
        (Some(day), _) if is_day => format!("<time datetime=\"{date}\">{day}</time>"),
        (Some(_), Ok(at)) => utc(&at),
        _ => String::new(),
    }
}

/// Returns a day in ISO 8601 for people to read: `3 May 2026`.
pub(super) fn calendar_day(date: &str) -> Option<String> {
    if !date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return None;
    }
    let mut parts = date.split('-').map(|part| part.parse::<usize>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    Some(format!("{day} {} {year}", MONTHS.get(month.checked_sub(1)?)?))
}

/// Its attributes and text have only digits, letters of zones' names and punctuation, so nothing has to be escaped.
fn element(at: Timestamp, zone: &Zone, precision: Precision) -> String {
    let (text, name) = (zone.told(at, precision), precision.name());
    format!("<time datetime=\"{at}\" data-precision=\"{name}\">{text}</time>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_names_its_zone_and_a_day_has_none() {
        let at: Timestamp = "2026-11-21T18:05:00Z".parse().unwrap();
        assert_eq!(
            utc(&at),
            "<time datetime=\"2026-11-21T18:05:00.000Z\" data-precision=\"minute\">21 November 2026, 18:05 UTC</time>"
        );
        let berlin = Zone::named("Europe/Berlin").unwrap();
        assert!(moment(&at, &berlin).contains(">21 November 2026, 19:05 CET<"));
        assert!(hour(&at, &berlin).contains("\"hour\">21 November 2026, 19:00 CET<"));
        assert!(day(&at, &berlin).contains("\"day\">21 November 2026 CET<"));
        let day = "<time datetime=\"2026-05-03\">3 May 2026</time>";
        for text in ["2026-05-03", "2026-05-03T00:00:00Z", "2026-05-03T00:00:00.000Z"] {
            assert_eq!(of_record(text), day);
        }
        assert!(of_record("2026-05-03T08:00:00.000Z").contains("3 May 2026, 08:00 UTC"));
        let texts = [
            "",
            "2026",
            "2026-13-01",
            "2026-00-01",
            "äääääääääää",
            "2026-05-ab",
            "2026-5-3-\"",
            "2026-05-03T<b>",
            "2026-05-03T00:00:00.000Z<b>",
        ];
        for text in texts {
            assert_eq!(of_record(text), "", "{text}");
        }
    }
}
