//! The table of abuses in `docs/` has the rows of the tests. Its measured figures are those of the last run
//! that wrote them.

use crate::abuse::{cost::Cost, groups::TABLE, row::Row};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// If this variable is set, the rows are written instead of compared. The tests of the groups then write what
/// they have measured, too.
const WRITE: &str = "PORTOLAN_WRITE_REFERENCE";
const HEAD: &str = "| no | abuse | before | now | bound | test |\n|---|---|---|---|---|---|\n";
/// The least number of rows.
const ABUSES: usize = 60;
const UNMEASURED: &str = "–";

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security/abuse.md")
}

/// The cells of a line of the table.
struct Line {
    name: String,
    measured: String,
    /// The cells but that of the measured figures.
    others: Vec<String>,
}

impl Line {
    fn of(number: usize, test: &str, row: &Row, measured: &str) -> Self {
        let abuse = format!("**{}**: {}. Outcome: {}", row.name, row.abuse, row.outcome);
        let test = format!("`tests/abuse/mod.rs::{}`", test.trim_start_matches("abuse::"));
        let others =
            [number.to_string(), abuse, row.before.to_owned(), row.bound.to_string(), test];
        Self { name: row.name.to_owned(), measured: measured.to_owned(), others: others.into() }
    }

    fn parse(line: &str) -> Self {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, abuse, before, measured, bound, test] = cells[..] else {
            panic!("{line} has {} cells", cells.len());
        };
        let name = abuse.split("**").nth(1).unwrap_or_else(|| panic!("{line} has no name"));
        let others = [number, abuse, before, bound, test].map(str::to_owned);
        Self { name: name.to_owned(), measured: measured.to_owned(), others: others.into() }
    }

    fn text(&self) -> String {
        let [number, abuse, before, bound, test] = &self.others[..] else { panic!("other cells") };
        format!("| {number} | {abuse} | {before} | {} | {bound} | {test} |", self.measured)
    }
}

/// Returns the lines of the code, with these figures.
fn lines(measured: &BTreeMap<String, String>) -> Vec<Line> {
    let rows = TABLE.iter().flat_map(|group| group.rows.iter().map(move |row| (group.test, row)));
    let line = |(at, (test, row)): (usize, (&str, &Row))| {
        let figures = measured.get(row.name).map_or(UNMEASURED, String::as_str);
        Line::of(at + 1, test, row, figures)
    };
    rows.enumerate().map(line).collect()
}

/// Returns the text before the table, and its lines.
fn read(text: &str) -> (&str, Vec<Line>) {
    let (before, table) = text.split_once(HEAD).unwrap();
    let table = table.lines().filter(|line| line.starts_with('|'));
    (before, table.map(Line::parse).collect())
}

/// Writes the table with what was measured now, and for other rows with the figures before.
pub fn record(costs: &[(&'static str, Cost)]) {
    if std::env::var_os(WRITE).is_none() {
        return;
    }
    // Other groups write at the same time.
    let lock = fs::File::open(document()).unwrap();
    lock.lock().unwrap();
    let text = fs::read_to_string(document()).unwrap();
    let (before, written) = read(&text);
    let mut measured: BTreeMap<_, _> =
        written.into_iter().map(|line| (line.name, line.measured)).collect();
    measured.extend(costs.iter().map(|(name, cost)| ((*name).to_owned(), cost.to_string())));
    let table: Vec<String> = lines(&measured).iter().map(Line::text).collect();
    fs::write(document(), format!("{before}{HEAD}{}\n", table.join("\n"))).unwrap();
}

#[test]
fn the_document_lists_every_abuse_and_its_bound() {
    record(&[]);
    let text = fs::read_to_string(document()).unwrap();
    let others = |lines: Vec<Line>| lines.into_iter().map(|line| line.others).collect::<Vec<_>>();
    let written = others(read(&text).1);
    assert_eq!(written, others(lines(&BTreeMap::new())), "run cargo xtask reference");
}

#[test]
fn every_abuse_has_a_name_of_its_own() {
    let rows = TABLE.iter().flat_map(|group| group.rows);
    let mut names: Vec<_> = rows.map(|row| row.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(count >= ABUSES && names.len() == count, "{count} abuses, {} names", names.len());
}
