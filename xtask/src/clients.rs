//! Installs what the programs in tests/clients use: OAuth clients by other authors, and a browser. And what
//! builds capabilities in JavaScript and Python.

use crate::{
    debian,
    run::{run, say, target_folder, workspace},
};
use anyhow::{Context as _, Result};
use std::{fs, process::Command};

/// Installs missing programs, and the pinned versions of the libraries into the target folder.
pub(crate) fn provide() -> Result<()> {
    provide_programs()?;
    let pinned = ["package.json", "requirements.txt"];
    let sources = workspace().join("tests/clients");
    let folder = target_folder()?.join("clients");
    let versions = pinned.map(|name| fs::read_to_string(sources.join(name)));
    let versions = versions.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    // This file is written last, so that it proves that the installation is complete.
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == versions) {
        return Ok(());
    }
    say("installing the clients that the tests use");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for name in pinned {
        fs::copy(sources.join(name), folder.join(name))?;
    }
    let npm = ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(npm).arg("--prefix").arg(&folder))?;
    let quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action", "ignore"];
    run(Command::new("python3")
        .args(["-m", "pip", "install"])
        .args(quiet)
        .arg("--target")
        .arg(folder.join("python"))
        .arg("--requirement")
        .arg(folder.join("requirements.txt")))?;
    Ok(fs::write(stamp, versions)?)
}

fn provide_programs() -> Result<()> {
    let pip = Command::new("python3").args(["-m", "pip", "--version"]).output();
    let needed = [
        ("nodejs", debian::has("node")),
        ("npm", debian::has("npm")),
        ("chromium", debian::has("chromium")),
        ("python3-pip", pip.is_ok_and(|pip| pip.status.success())),
    ];
    let missing: Vec<_> = needed
        .into_iter()
        .filter(|(_, installed)| !installed)
        .map(|(package, _)| package)
        .collect();
    if !missing.is_empty() {
        say(&format!("installing {} for the tests", missing.join(", ")));
        debian::install(&missing)
            .with_context(|| format!("install {} yourself", missing.join(", ")))?;
    }
    let new_enough = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
    run(Command::new("node").args(["--eval", new_enough])).context("Node.js 20 or newer is needed")
}
