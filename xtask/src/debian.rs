//! Installs programs that tests and benchmarks use, from Debian's packages.

use crate::run::{run, say};
use anyhow::{Context as _, Result};
use std::{path::Path, process::Command};

/// Returns whether a program is in the PATH.
pub(crate) fn has(program: &str) -> bool {
    let searched = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&searched).any(|folder| folder.join(program).exists())
}

/// Installs packages, as root or with sudo.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let sudo = Path::new("/usr/bin/sudo").exists();
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if sudo { "sudo" } else { "apt-get" });
        if sudo {
            command.arg("apt-get");
        }
        run(command.args(arguments))
    };
    apt(&["update", "--quiet"])?;
    apt(&[&["install", "--yes", "--quiet"], packages].concat())
}

/// Installs the program that checks shell scripts.
pub(crate) fn provide_shellcheck() -> Result<()> {
    if has("shellcheck") {
        return Ok(());
    }
    say("installing shellcheck for the tests");
    install(&["shellcheck"]).context("install shellcheck yourself, so that it is in the PATH")
}

/// Installs the registry from which tests read components. Tests start their own.
pub(crate) fn provide_registry() -> Result<()> {
    if has("docker-registry") {
        return Ok(());
    }
    say("installing docker-registry for the tests");
    install(&["docker-registry"])
        .context("install docker-registry yourself, so that it is in the PATH")
}

/// Installs nginx, with which the benchmarks compare the feeds.
pub(crate) fn provide_nginx() -> Result<()> {
    if has("nginx") {
        return Ok(());
    }
    say("installing nginx for the benchmarks");
    install(&["nginx-light", "libnginx-mod-http-brotli-static"])
        .context("install nginx yourself, so that it is in the PATH")
}
