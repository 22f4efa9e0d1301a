//! The files that the binary contains for authors: the contract, the SDKs, and templates.

use anyhow::Context as _;
use std::path::Path;

/// The path in the repository of each file, and its text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns the embedded files below a folder: their paths within it, and their texts.
pub(super) fn files_below(folder: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let relative = move |(path, text): &(&'static str, &'static str)| {
        Some((path.strip_prefix(folder)?.strip_prefix('/')?, *text))
    };
    FILES.iter().filter_map(relative)
}

/// Writes a file, and the folders that it is in.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let result = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let result = result.and_then(|()| std::fs::write(path, text));
    result.with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the text of one embedded file.
pub(super) fn file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(other, _)| *other == path).map(|(_, text)| *text)
}
