//! The image: a folder from which `docker build` or `buildah build` makes it without a network.

use super::{Contents, NAME, copy_program, deb::copy};
use crate::run::workspace;
use anyhow::{Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The certificates of the authorities that the system trusts.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";
/// The one user of the image.
const USERS: &str = "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n";
const GROUPS: &str = "nobody:x:65534:\n";
/// The order in which names are resolved.
const NAMES: &str = "hosts: files dns\n";

/// Returns the folder of the image in the folder of the packages.
pub(super) fn folder(into: &Path) -> PathBuf {
    into.join("image")
}

/// Writes the folder and returns it.
pub(super) fn write(contents: &Contents<'_>, into: &Path) -> Result<PathBuf> {
    let folder = folder(into);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let root = folder.join("root");
    for empty in ["usr/bin", "etc/portolan", "catalog", "proc", "dev", "tmp"] {
        fs::create_dir_all(root.join(empty))?;
    }
    // The image's user owns what is below this folder.
    fs::create_dir_all(folder.join("writable/data"))?;
    copy_program(contents.binary, &root.join("usr/bin").join(NAME))?;
    for library in libraries(contents.binary)? {
        copy_program(&library, &root.join(library.strip_prefix("/")?))?;
    }
    copy(&Path::new("/").join(CERTIFICATES), &root.join(CERTIFICATES))?;
    for (name, text) in [("passwd", USERS), ("group", GROUPS), ("nsswitch.conf", NAMES)] {
        fs::write(root.join("etc").join(name), text)?;
    }
    for component in contents.components()? {
        copy(&component, &root.join("catalog").join(component.file_name().unwrap_or_default()))?;
    }
    copy(&workspace().join("packaging/Containerfile"), &folder.join("Containerfile"))?;
    Ok(folder)
}

/// Returns the libraries that a program is linked with, at the paths where it looks for them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output()?;
    let printed = String::from_utf8(output.stdout)?;
    // A program without libraries is none for `ldd`.
    if !output.status.success() {
        return Ok(Vec::new());
    }
    ensure!(!printed.contains("not found"), "a library of the program is missing: {printed}");
    let path = |line: &str| {
        let place = line.split("=>").last()?.split_whitespace().next()?;
        place.starts_with('/').then(|| PathBuf::from(place))
    };
    Ok(printed.lines().filter_map(path).collect())
}
