//! The reference of the shipped capabilities in `docs/`, and the table of common error codes there, are up to date.

use crate::harness::{binary, guests};
use portolan_vocabulary::ErrorCode;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

/// If this variable is set, the pages are written instead of compared, as by
/// `cargo xtask reference`.
const WRITE: &str = "PORTOLAN_WRITE_REFERENCE";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/capabilities")
}

/// Returns the output of `portolan describe` for each component, by the name of its page.
fn described() -> BTreeMap<String, String> {
    let components = std::fs::read_dir(guests().join("plugins")).unwrap();
    let components = components.map(|entry| entry.unwrap().path());
    let components =
        components.filter(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    let describe = |path: PathBuf| {
        let output = Command::new(binary()).arg("describe").arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let name = path.file_stem().unwrap().to_str().unwrap();
        (format!("{name}.md"), String::from_utf8(output.stdout).unwrap())
    };
    components.map(describe).collect()
}

#[test]
fn the_reference_agrees_with_the_components() {
    let (folder, described) = (folder(), described());
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (name, page) in &described {
            std::fs::write(folder.join(name), page).unwrap();
        }
        return;
    }
    let written: BTreeMap<String, String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    let names: Vec<_> = written.keys().collect();
    assert_eq!(names, described.keys().collect::<Vec<_>>(), "run cargo xtask reference");
    for (name, page) in &described {
        assert_eq!(written[name], *page, "{name} is out of date: run cargo xtask reference");
    }
}

/// The head of the table of error codes in `docs/api.md`.
const CODES: &str = "| code | status | retryable | from | meaning |\n|---|---|---|---|---|\n";
/// Stands in the column "from" for a code that nothing answers with yet.
const UNUSED: &str = "not yet";

/// Returns the cells of a row of a table.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// A new code is a row of the code, and this table follows from it; only the column "from" of a known code is
/// written by hand.
#[test]
fn the_table_of_error_codes_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(CODES).unwrap();
    let (table, after) = rest.split_at(rest.find("\n\n").unwrap());
    let from: BTreeMap<&str, &str> = table
        .lines()
        .map(|line| {
            let cells = cells(line);
            (cells[0].trim_matches('`'), cells[3])
        })
        .collect();
    let row = |code: &ErrorCode| {
        let row = code.row();
        let usual = if row.component { "components" } else { "host" };
        let from = from.get(row.name).copied().unwrap_or(usual);
        let retryable = if row.retryable { "yes" } else { "no" };
        let (name, status, meaning) = (row.name, row.kind.http_status(), row.message);
        format!("| `{name}` | {status} | {retryable} | {from} | {meaning} |")
    };
    let rows = ErrorCode::ALL.iter().map(row).collect::<Vec<_>>().join("\n");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, format!("{before}{CODES}{rows}{after}")).unwrap();
        return;
    }
    assert_eq!(table, rows, "run cargo xtask reference");
    for code in ErrorCode::ALL {
        let (row, from) = (code.row(), from[code.name()]);
        let is_of_components = from.contains("components");
        assert!(from == UNUSED || is_of_components == row.component, "{}: {from}", row.name);
    }
}
