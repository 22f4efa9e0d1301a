//! Installs PostgreSQL. Tests and benchmarks start their own servers.

use crate::{debian, run::print_progress};
use anyhow::{Context as _, Result};

/// Installs Debian's package, unless `initdb` is installed.
pub(crate) fn install() -> Result<()> {
    let mut versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    if debian::is_installed("initdb")
        || versions.any(|version| version.path().join("bin/initdb").exists())
    {
        return Ok(());
    }
    print_progress("installing PostgreSQL for the tests");
    debian::install(&["postgresql"])
        .context("install PostgreSQL 15 or newer yourself, so that initdb is in the PATH")
}
