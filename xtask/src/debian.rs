//! Installs programs that tests and benchmarks use, from Debian's packages.

use crate::run::{print_progress, run};
use anyhow::{Context as _, Result};
use std::{path::Path, process::Command};

/// Returns whether a program is in the PATH.
pub(crate) fn is_installed(program: &str) -> bool {
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
pub(crate) fn install_shellcheck() -> Result<()> {
    if is_installed("shellcheck") {
        return Ok(());
    }
    print_progress("installing shellcheck for the tests");
    install(&["shellcheck"]).context("install shellcheck yourself, so that it is in the PATH")
}

/// Installs the registry from which tests read components. Tests start their own.
pub(crate) fn install_registry() -> Result<()> {
    if is_installed("docker-registry") {
        return Ok(());
    }
    print_progress("installing docker-registry for the tests");
    install(&["docker-registry"])
        .context("install docker-registry yourself, so that it is in the PATH")
}

/// Installs nginx, which tests put in front of a host and with which benchmarks compare the feeds.
pub(crate) fn install_nginx() -> Result<()> {
    if is_installed("nginx") {
        return Ok(());
    }
    print_progress("installing nginx for tests and benchmarks");
    install(&["nginx-light", "libnginx-mod-http-brotli-static"])
        .context("install nginx yourself, so that it is in the PATH")
}

/// Installs Caddy, which tests put in front of a host.
pub(crate) fn install_caddy() -> Result<()> {
    if is_installed("caddy") {
        return Ok(());
    }
    print_progress("installing caddy for the tests");
    install(&["caddy"]).context("install caddy yourself, so that it is in the PATH")
}

/// Installs PgBouncer, which tests put in front of PostgreSQL.
pub(crate) fn install_pgbouncer() -> Result<()> {
    if is_installed("pgbouncer") || Path::new("/usr/sbin/pgbouncer").exists() {
        return Ok(());
    }
    print_progress("installing pgbouncer for the tests");
    install(&["pgbouncer"]).context("install pgbouncer yourself, so that it is in the PATH")
}

/// Installs Prometheus, with which tests try the alert rules.
pub(crate) fn install_prometheus() -> Result<()> {
    if is_installed("prometheus") {
        return Ok(());
    }
    print_progress("installing prometheus for the tests");
    install(&["prometheus"]).context("install prometheus yourself, so that it is in the PATH")
}
