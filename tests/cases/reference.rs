//! The reference of the shipped capabilities in `docs/` is up to date.

use crate::harness::{binary, guests};
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
