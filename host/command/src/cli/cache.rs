//! The folder in which the author's commands keep what they can make again.

use anyhow::Context as _;
use std::{env, path::PathBuf};

/// Returns the folder of the compile cache; `None` if the user has no folder for caches.
pub(super) fn compile_cache() -> Option<PathBuf> {
    folder().ok().map(|folder| folder.join("functions"))
}

/// Returns `PORTOLAN_CACHE_DIR`, or the folder `portolan` where the user keeps caches. It may not exist yet.
pub(super) fn folder() -> anyhow::Result<PathBuf> {
    if let Some(own) = absolute("PORTOLAN_CACHE_DIR") {
        return Ok(own);
    }
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let caches = caches
        .context("there is no folder for caches; set PORTOLAN_CACHE_DIR, XDG_CACHE_HOME or HOME")?;
    Ok(caches.join("portolan"))
}

/// Returns the folder that a variable names, if it is absolute: a relative one would be another folder in
/// each working directory.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
