//! Finds time zones by the names that calendars use.

pub(crate) use people_kit::zones::{Zone, millis};

/// The names that Windows and Outlook use for time zones: `windowsZones` of CLDR, the territory
/// 001.
const WINDOWS: &str = include_str!("windows.txt");
/// A name of Lotus Notes that is in use, and in no list of Windows.
const NOTES: (&str, &str) = ("Western/Central Europe", "Europe/Brussels");
/// The maximum number of segments of a name with a path, such as
/// `/mozilla.org/20050126_1/Europe/Berlin`.
const MOST_SEGMENTS: usize = 8;

/// Finds a zone by the name under which it is stored: an IANA name or a rule.
pub(crate) fn stored(name: &str) -> Option<Zone> {
    Zone::named(name).or_else(|| Zone::of_rule(name))
}

/// Finds a zone by an IANA name, possibly after a path, by a Windows name, or by a rule.
pub(crate) fn find(name: &str) -> Option<Zone> {
    let name = name.trim();
    let paths = name.match_indices('/').filter_map(|(at, _)| name.get(at + 1..));
    let mut names = std::iter::once(name).chain(paths.take(MOST_SEGMENTS));
    names.find_map(stored).or_else(|| {
        let windows = WINDOWS.lines().filter_map(|line| line.split_once(" = "));
        let mut pairs = windows.chain([NOTES]);
        let (_, iana) = pairs.find(|(windows, _)| windows.eq_ignore_ascii_case(name))?;
        Zone::named(iana)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_by_what_calendars_call_them() {
        for (name, known) in [
            ("Europe/Berlin", Some("Europe/Berlin")),
            ("europe/berlin", Some("Europe/Berlin")),
            ("/mozilla.org/20050126_1/Europe/Berlin", Some("Europe/Berlin")),
            ("Pacific Standard Time", Some("America/Los_Angeles")),
            ("W. Europe Standard Time", Some("Europe/Berlin")),
            ("Western/Central Europe", Some("Europe/Brussels")),
            ("UTC", Some("UTC")),
            ("<+0530>-5:30", Some("<+0530>-5:30")),
            ("Mars/Olympus", None),
            ("", None),
            ("/", None),
        ] {
            assert_eq!(find(name).as_ref().map(Zone::name), known, "{name}");
        }
    }

    #[test]
    fn every_name_of_windows_leads_to_a_zone() {
        for line in WINDOWS.lines() {
            let (windows, iana) = line.split_once(" = ").unwrap();
            assert!(find(windows).is_some(), "{windows} {iana}");
        }
    }
}
