//! The folder in which the author's commands keep what they can make again.

use std::{env, path::PathBuf};

/// Returns the folder of the compile cache; none if the user has no folder for caches.
pub(super) fn compile_cache() -> Option<PathBuf> {
    cache_folder().map(|folder| folder.join("functions"))
}

/// `PORTOLAN_CACHE_DIR`, or the folder `portolan` where the user keeps caches.
fn cache_folder() -> Option<PathBuf> {
    if let Some(own) = absolute("PORTOLAN_CACHE_DIR") {
        return Some(own);
    }
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("portolan"))
}

/// A relative folder would be another one in each working directory.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
