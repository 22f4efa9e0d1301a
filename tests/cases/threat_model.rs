//! The threat model in `docs/` names files and tests that exist.

use std::{collections::BTreeSet, fs, path::Path, path::PathBuf};
use syn::{ItemFn, visit::Visit};

/// The head of the table of threats.
const HEAD: &str = "| no | kind | threat | defence | test |";
/// The least number of threats.
const THREATS: usize = 50;
/// The beginning of the test cell of a row without a full defence.
const OPEN: &str = "open: ";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One threat.
struct Row {
    number: String,
    kind: String,
    defence: String,
    test: String,
}

fn rows() -> Vec<Row> {
    let document = fs::read_to_string(workspace().join("docs/security/threat-model.md")).unwrap();
    let lines = document.lines().skip_while(|line| *line != HEAD).skip(2);
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, kind, _threat, defence, test] = cells[..] else {
            panic!("{line} has {} cells", cells.len());
        };
        let [number, kind, defence, test] = [number, kind, defence, test].map(str::to_owned);
        Row { number, kind, defence, test }
    };
    lines.take_while(|line| line.starts_with('|')).map(row).collect()
}

/// Returns the texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Collects the names of all functions of a file.
#[derive(Default)]
struct Functions(BTreeSet<String>);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.0.insert(item.sig.ident.to_string());
    }
}

fn has_function(file: &str, name: &str) -> bool {
    let Ok(source) = fs::read_to_string(workspace().join(file)) else { return false };
    let mut functions = Functions::default();
    functions.visit_file(&syn::parse_file(&source).unwrap());
    functions.0.contains(name)
}

#[test]
fn every_threat_has_a_test_that_exists_or_is_open() {
    let rows = rows();
    assert!(rows.len() >= THREATS, "{} rows", rows.len());
    let numbers: BTreeSet<_> = rows.iter().map(|row| &row.number).collect();
    assert_eq!(numbers.len(), rows.len(), "a number is used twice");
    let mut faults = Vec::new();
    for Row { number, kind, defence, test } in &rows {
        if !["S", "T", "R", "I", "D", "E"].contains(&kind.as_str()) {
            faults.push(format!("{number}: {kind} is no kind of STRIDE"));
        }
        // Names of settings and of codes are quoted as well.
        for file in quoted(defence).filter(|text| text.contains('/') && !text.contains(' ')) {
            if !workspace().join(file).exists() {
                faults.push(format!("{number}: there is no {file}"));
            }
        }
        let named: Vec<_> = quoted(test).filter_map(|text| text.split_once("::")).collect();
        for (file, name) in &named {
            if !has_function(file, name) {
                faults.push(format!("{number}: {file} has no function {name}"));
            }
        }
        if named.is_empty() && !test.starts_with(OPEN) {
            faults.push(format!("{number}: it has neither a test nor what is missing"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
