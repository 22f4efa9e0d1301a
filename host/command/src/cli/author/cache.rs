//! The folder of this user for what can be made again.

use anyhow::Context as _;
use std::{env, path::PathBuf};

/// Returns the folder, which may not exist yet.
pub(super) fn folder() -> anyhow::Result<PathBuf> {
    let given = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    given("XDG_CACHE_HOME")
        .or_else(|| Some(given("HOME")?.join(".cache")))
        .map(|folder| folder.join("portolan"))
        .context("there is no folder for the cache; set HOME or XDG_CACHE_HOME")
}
