//! The package for npm: the program, which npm links into the folder of programs.

use super::{Contents, LICENSE, NAME, SUMMARY, copy_program};
use crate::run::run;
use anyhow::Result;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Writes the package into a folder and returns its file.
pub(super) fn write(contents: &Contents<'_>, into: &Path) -> Result<PathBuf> {
    let staging = into.join(".npm");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    fs::create_dir_all(&staging)?;
    copy_program(contents.binary, &staging.join(NAME))?;
    fs::copy(contents.license, staging.join("LICENSE"))?;
    fs::copy(contents.readme, staging.join("README.md"))?;
    fs::write(staging.join("package.json"), format!("{:#}\n", manifest(contents)))?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--ignore-scripts", "--pack-destination"]).arg(into);
    run(pack.arg(&staging))?;
    fs::remove_dir_all(staging)?;
    Ok(file(into, contents.version))
}

/// Returns the file of the package in a folder.
pub(super) fn file(into: &Path, version: &str) -> PathBuf {
    into.join(format!("{NAME}-{version}.tgz"))
}

fn manifest(contents: &Contents<'_>) -> Value {
    json!({
        "name": NAME,
        "version": contents.version,
        "description": SUMMARY,
        "license": LICENSE,
        "bin": { NAME: NAME },
        "files": [NAME],
        "os": ["linux"],
        "cpu": [contents.machine.npm_name()],
        "libc": ["glibc"],
    })
}
