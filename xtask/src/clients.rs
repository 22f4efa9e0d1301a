//! Installs what the programs in tests/clients use (OAuth clients by other authors, and a browser),
//! and the compilers that build capabilities in JavaScript, Python, C and Go.

use crate::{
    debian, packages,
    run::{print_progress, run},
};
use anyhow::{Context as _, Result};
use std::process::Command;

/// Installs missing programs, and the pinned versions of the libraries into the target folder.
pub(crate) fn install() -> Result<()> {
    install_programs()?;
    packages::install("the clients that the tests use", "tests/clients", "clients")
}

/// Installs the compilers of tests/toolchains; with `full`, also those that take minutes.
pub(crate) fn install_toolchains(full: bool) -> Result<()> {
    packages::install("compilers of other languages", "tests/toolchains", "toolchains")?;
    if full {
        let folder = "tests/toolchains/full";
        packages::install("slow compilers of other languages", folder, "toolchains-full")?;
    }
    Ok(())
}

fn install_programs() -> Result<()> {
    let pip = Command::new("python3").args(["-m", "pip", "--version"]).output();
    let needed = [
        ("nodejs", debian::is_installed("node")),
        ("npm", debian::is_installed("npm")),
        ("chromium", debian::is_installed("chromium")),
        ("python3-pip", pip.is_ok_and(|pip| pip.status.success())),
    ];
    let missing: Vec<_> = needed
        .into_iter()
        .filter(|(_, installed)| !installed)
        .map(|(package, _)| package)
        .collect();
    if !missing.is_empty() {
        print_progress(&format!("installing {} for the tests", missing.join(", ")));
        debian::install(&missing)
            .with_context(|| format!("install {} yourself", missing.join(", ")))?;
    }
    let new_enough = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
    run(Command::new("node").args(["--eval", new_enough])).context("Node.js 20 or newer is needed")
}
