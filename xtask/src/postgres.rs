//! The PostgreSQL that tests and benchmarks start for themselves.

use crate::run::{run, say};
use anyhow::{Context as _, Result};
use std::{path::Path, process::Command};

/// Installs Debian's package unless `initdb` is there.
pub(crate) fn provide() -> Result<()> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&searched)
        .chain(versions.map(|version| version.path().join("bin")))
        .any(|folder| folder.join("initdb").exists());
    if there {
        return Ok(());
    }
    say("installing PostgreSQL for the tests");
    let sudo = Path::new("/usr/bin/sudo").exists();
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if sudo { "sudo" } else { "apt-get" });
        if sudo {
            command.arg("apt-get");
        }
        run(command.args(arguments))
    };
    apt(&["update", "--quiet"])
        .and_then(|()| apt(&["install", "--yes", "--quiet", "postgresql"]))
        .context("install PostgreSQL 15 or newer yourself, so that initdb is in the PATH")
}
