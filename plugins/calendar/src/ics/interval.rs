//! How often a calendar says that it is worth reading.

use crate::ics::{lines::Line, times::duration};

/// The properties of a calendar by which it says how often it is worth reading (RFC 7986, section 5.7).
const INTERVALS: [&str; 2] = ["REFRESH-INTERVAL", "X-PUBLISHED-TTL"];

/// Returns the longest time between two readings for which a calendar asks, in milliseconds.
pub(crate) fn suggested_interval(calendar: &[Line]) -> Option<u64> {
    let lines = calendar.iter().filter(|line| INTERVALS.contains(&line.name.as_str()));
    let asked = lines.filter_map(|line| duration(line.value.trim()));
    asked.filter_map(|asked| u64::try_from(asked.as_millis()).ok()).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ics::{components, lines};
    use portolan_sdk::prelude::*;

    #[test]
    fn the_interval_of_a_file_is_read() {
        let interval = |line: &str| {
            let text = format!("BEGIN:VCALENDAR\r\n{line}\r\nEND:VCALENDAR\r\n");
            let (calendar, _) = components::read(lines::read(&text).unwrap()).unwrap();
            suggested_interval(&calendar)
        };
        assert_eq!(interval("REFRESH-INTERVAL;VALUE=DURATION:PT12H"), Some(12 * HOUR));
        assert_eq!(interval("X-PUBLISHED-TTL:P1D"), Some(DAY));
        assert_eq!(interval("X-PUBLISHED-TTL:often"), None);
        assert_eq!(interval("X-PUBLISHED-TTL:-PT1H"), None);
    }
}
