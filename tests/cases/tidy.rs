//! What the compiler cannot check: the one arrow between rooms, and how files begin.

use std::path::{Path, PathBuf};

/// In the order of `lib.rs`: a room uses only rooms after it.
const ROOMS: [&str; 17] = [
    "cli",
    "config",
    "http",
    "mcp",
    "invoke",
    "error",
    "identity",
    "catalog",
    "sandbox",
    "events",
    "feeds",
    "records",
    "db",
    "sms",
    "lookups",
    "outgoing",
    "vocabulary",
];

/// Crates that live in one room alone.
const HOMES: [(&str, &[&str]); 6] = [
    ("axum::", &["http"]),
    ("rmcp::", &["mcp"]),
    ("sqlx::", &["db"]),
    ("wasmtime::", &["sandbox"]),
    ("jsonwebtoken::", &["identity"]),
    ("notify::", &["catalog", "feeds"]),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|it| it == "rs"));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn rooms_use_only_rooms_to_their_right() {
    let root = source_folder();
    let position = |room: &str| ROOMS.iter().position(|known| *known == room);
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let room = inside.split(['/', '.']).next().unwrap();
        let Some(own) = position(room) else { continue };
        let text = std::fs::read_to_string(&path).unwrap();
        for used in text.split("crate::").skip(1) {
            let name = used.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap();
            let Some(other) = position(name) else {
                continue;
            };
            assert!(other >= own, "{inside} uses {name}, which is to its left");
        }
        for (krate, rooms) in HOMES {
            assert!(rooms.contains(&room) || !text.contains(krate), "{inside} uses {krate}");
        }
    }
}

#[test]
fn the_map_lists_the_rooms_in_their_order() {
    let map = std::fs::read_to_string(source_folder().join("lib.rs")).unwrap();
    let rooms: Vec<_> = map
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    assert_eq!(rooms, ROOMS);
}

#[test]
fn every_file_says_what_lives_in_it() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for folder in ["host/src", "sdk", "xtask/src", "tests", "plugins", "examples"] {
        for path in sources(&workspace.join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("//!"), "{} does not open with //!", path.display());
        }
    }
}
