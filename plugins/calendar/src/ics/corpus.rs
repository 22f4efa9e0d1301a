//! Compares the import of the calendar files of `tests/corpora/ics` with the results of other
//! libraries.

use crate::{
    ics::{components, import, lines, reader::Reader, types::SkippedEntry},
    refusals::*,
    spans::Span,
    zones::Zone,
};
use jiff::Timestamp;
use portolan_sdk::prelude::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/ics")
}

/// Returns the busy times, and what was left out.
fn busy(text: &str, range: Span) -> Result<(BTreeSet<String>, Vec<SkippedEntry>)> {
    let (calendar, components) = components::read(lines::read(text)?)?;
    let zones = import::zones(&calendar, &components, Some(Zone::utc()), range.start);
    let found =
        Reader { zones, now: range.start, is_cancellation: false, own: &BTreeSet::new(), a_day: 0 }
            .read(&components)?;
    let mut busy = BTreeSet::new();
    let at = |millis: i64| Timestamp::from_millisecond(millis).unwrap();
    for entry in found.entries.values() {
        entry.series.each(range, |one| {
            busy.insert(format!("{}/{}", at(one.start), at(one.end)));
        });
    }
    Ok((busy, found.skipped.entries))
}

fn expected() -> Vec<Value> {
    let text = fs::read_to_string(corpus().join("expected.json")).unwrap();
    text.parse::<Value>().unwrap().as_array().unwrap().clone()
}

#[test]
fn files_mean_what_other_libraries_say() {
    let (mut files, mut all, mut unequal) = (0, 0, 0);
    let mut found_differences = BTreeMap::<String, Vec<String>>::new();
    for case in expected() {
        let file = case["file"].as_str().unwrap();
        let text = fs::read_to_string(corpus().join("files").join(file)).unwrap();
        files += 1;
        for window in case["windows"].as_array().unwrap() {
            let time = |name: &str| {
                let text = window[name].as_str().unwrap();
                text.parse::<Timestamp>().unwrap().as_millisecond()
            };
            let expected = window["busy"].as_array().unwrap().iter();
            let expected: BTreeSet<_> =
                expected.map(|one| one.as_str().unwrap().to_owned()).collect();
            let range = Span::new(time("from"), time("to"));
            let (found, left_out) = busy(&text, range).unwrap_or_default();
            let missing = expected.difference(&found).map(|one| format!("-{one}"));
            let more = found.difference(&expected).map(|one| format!("+{one}"));
            let differences: Vec<_> = missing.chain(more).collect();
            (all, unequal) = (all + expected.len(), unequal + differences.len());
            if !differences.is_empty() {
                let shown = found_differences.entry(file.to_owned()).or_default();
                shown.extend(differences);
                shown.extend(left_out.iter().map(|one| format!("{}: {}", one.line, one.reason)));
            }
        }
    }
    assert!(files >= 300, "{files} files");
    let explained = fs::read_to_string(corpus().join("differences.txt")).unwrap();
    let explained = explained.lines().map(|line| line.split_once(": ").unwrap());
    let explained: BTreeSet<_> = explained.map(|(file, _reason)| file.to_owned()).collect();
    let differing: BTreeSet<_> = found_differences.keys().cloned().collect();
    assert_eq!(differing, explained, "{found_differences:#?}");
    assert!(unequal * 200 <= all, "{unequal} of {all}");
}
