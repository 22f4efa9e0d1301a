//! Installs programs that tests and benchmarks use, from Debian's packages.

use crate::run::{print_progress, run};
use anyhow::{Context as _, Result};
use std::{path::Path, process::Command};

/// A shell script that installs packages without starting their services: Debian's packages ask the program of this
/// policy. A container may have one of its own, which also starts none.
const INSTALL_STOPPED: &str = r#"
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    trap 'exit 1' INT TERM
    printf '#!/bin/sh\nexit 101\n' > $policy
    chmod 755 $policy
fi
apt-get install --yes --quiet "$@"
"#;

/// Returns whether a program is in the PATH.
pub(crate) fn is_installed(program: &str) -> bool {
    let searched = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&searched).any(|folder| folder.join(program).exists())
}

/// Runs a program as root or with sudo.
fn run_as_root(program: &str, arguments: &[&str]) -> Result<()> {
    let sudo = Path::new("/usr/bin/sudo").exists();
    let mut command = Command::new(if sudo { "sudo" } else { program });
    if sudo {
        command.arg(program);
    }
    run(command.args(arguments))
}

/// Installs packages, as root or with sudo.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    run_as_root("apt-get", &["update", "--quiet"])?;
    run_as_root("apt-get", &[&["install", "--yes", "--quiet"], packages].concat())
}

/// Installs packages with services that must not run, neither now nor after the next start of the machine.
fn install_without_services(packages: &[&str], services: &[&str]) -> Result<()> {
    run_as_root("apt-get", &["update", "--quiet"])?;
    let script = ["-eu", "-c", INSTALL_STOPPED, "install"];
    run_as_root("sh", &[script.as_slice(), packages].concat())?;
    if !services.is_empty() && is_installed("systemctl") {
        run_as_root("systemctl", &[["disable", "--quiet"].as_slice(), services].concat())?;
    }
    Ok(())
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

/// Installs Patroni, etcd and HAProxy, with which a test keeps three databases of which one is the primary.
pub(crate) fn install_high_availability() -> Result<()> {
    // Each with its package. The services have the same names.
    let programs = [("patroni", "patroni"), ("etcd", "etcd-server"), ("haproxy", "haproxy")];
    let is_missing =
        |program: &str| !is_installed(program) && !Path::new("/usr/sbin").join(program).exists();
    let (services, mut packages): (Vec<&str>, Vec<&str>) =
        programs.into_iter().filter(|program| is_missing(program.0)).unzip();
    if packages.is_empty() && is_installed("curl") {
        return Ok(());
    }
    print_progress("installing Patroni, etcd and HAProxy for the tests");
    packages.extend(["python3-psycopg2", "python3-etcd", "curl"]);
    install_without_services(&packages, &services)
        .context("install patroni, etcd-server and haproxy yourself, so that they are in the PATH")
}
