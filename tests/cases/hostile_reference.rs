//! The table of attacks in `docs/` has the rows of the tests.

use crate::{cases::hostile::TABLE, harness::hostile::Attack};
use std::{fs, path::Path};

/// If this variable is set, the rows are written instead of compared, as by
/// `cargo xtask reference`.
const WRITE: &str = "PORTOLAN_WRITE_REFERENCE";

/// The line above the rows of the table, and the beginning of each row.
const HEAD: &str = "|---|---|---|\n";
const ROW: &str = "| It ";

fn rows() -> Vec<String> {
    let attacks = TABLE.iter().flat_map(|(test, groups)| {
        groups.iter().copied().flatten().map(move |attack| (test, attack))
    });
    let row = |(test, attack): (&&str, &Attack)| {
        format!("{ROW}{} | {} | `{test}` |", attack.attempt, attack.expected.description())
    };
    attacks.map(row).collect()
}

#[test]
fn the_document_lists_every_attack_and_its_outcome() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security/components.md");
    let document = fs::read_to_string(&path).unwrap();
    let is_row = |line: &&str| line.starts_with(ROW);
    if std::env::var_os(WRITE).is_some() {
        let (before, after) = document.split_once(HEAD).unwrap();
        let after = after.lines().filter(|line| !is_row(line)).collect::<Vec<_>>().join("\n");
        fs::write(path, format!("{before}{HEAD}{}\n{after}\n", rows().join("\n"))).unwrap();
        return;
    }
    let written: Vec<_> = document.lines().filter(is_row).collect();
    assert_eq!(written, rows(), "run cargo xtask reference");
}
