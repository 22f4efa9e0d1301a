//! Programs that the tests need beside cargo's, from Debian's packages.

use crate::run::{run, say};
use anyhow::{Context as _, Result};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Whether a program is in the `PATH`, or in one of these folders.
pub(crate) fn is_there(program: &str, folders: impl Iterator<Item = PathBuf>) -> bool {
    let searched = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&searched).chain(folders).any(|folder| folder.join(program).exists())
}

/// Installs a package; where that does not go, the error says what to do by hand.
pub(crate) fn install(package: &str, by_hand: &'static str) -> Result<()> {
    say(&format!("installing Debian's package {package} for the tests"));
    let sudo = Path::new("/usr/bin/sudo").exists();
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if sudo { "sudo" } else { "apt-get" });
        if sudo {
            command.arg("apt-get");
        }
        run(command.args(arguments))
    };
    apt(&["update", "--quiet"])
        .and_then(|()| apt(&["install", "--yes", "--quiet", package]))
        .context(by_hand)
}

/// Judges the shell scripts.
pub(crate) fn provide_shellcheck() -> Result<()> {
    match is_there("shellcheck", std::iter::empty()) {
        true => Ok(()),
        false => install("shellcheck", "install shellcheck yourself, so that it is in the PATH"),
    }
}
