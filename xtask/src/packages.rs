//! Installs pinned packages of npm and PyPI into a folder of the target folder.

use crate::run::{print_progress, run, target_folder, workspace};
use anyhow::Result;
use std::{fs, path::Path, process::Command};

const NPM: &str = "package.json";
const PIP: &str = "requirements.txt";

/// Installs what `package.json` and `requirements.txt` in `sources`, a folder of the workspace,
/// name, unless these versions are installed already. Python packages are installed into the
/// subfolder `python` of `into`.
pub(crate) fn install(what: &str, sources: &str, into: &str) -> Result<()> {
    let sources = workspace().join(sources);
    let folder = target_folder()?.join(into);
    let pinned: Vec<_> =
        [NPM, PIP].into_iter().filter(|name| sources.join(name).exists()).collect();
    let versions = pinned.iter().map(|name| fs::read_to_string(sources.join(name)));
    let versions = versions.collect::<Result<Vec<_>, _>>()?.concat();
    // This file is written last, so that it proves that the installation is complete.
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == versions) {
        return Ok(());
    }
    print_progress(&format!("installing {what}"));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for name in pinned {
        fs::copy(sources.join(name), folder.join(name))?;
        match name {
            NPM => npm(&folder)?,
            _ => pip(&folder)?,
        }
    }
    Ok(fs::write(stamp, versions)?)
}

fn npm(folder: &Path) -> Result<()> {
    let install = ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(install).arg("--prefix").arg(folder))
}

fn pip(folder: &Path) -> Result<()> {
    let quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action", "ignore"];
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "install"]).args(quiet).arg("--target").arg(folder.join("python"));
    run(install.arg("--requirement").arg(folder.join(PIP)))
}
