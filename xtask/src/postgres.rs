//! The PostgreSQL that tests and benchmarks start for themselves.

use crate::debian;
use anyhow::Result;

/// Installs Debian's package unless `initdb` is there.
pub(crate) fn provide() -> Result<()> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    if debian::is_there("initdb", versions.map(|version| version.path().join("bin"))) {
        return Ok(());
    }
    let by_hand = "install PostgreSQL 15 or newer yourself, so that initdb is in the PATH";
    debian::install("postgresql", by_hand)
}
