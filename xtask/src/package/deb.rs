//! The package for Debian: the program, its unit, its configuration, the shipped components, the documentation and
//! the files for monitoring.

use super::{Contents, GLIBC, Machine, NAME, SUMMARY, copy_program};
use crate::run::{run, workspace};
use anyhow::{Context as _, Result};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

/// The scripts that dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];
/// The documents that are installed.
const DOCUMENTS: [&str; 4] =
    ["docs/operations.md", "docs/monitoring.md", "docs/proxies.md", "CHANGELOG.md"];
/// The program that runs commands of the host as the service runs.
const ADMIN: &str = "portolan-admin";
/// The files for Prometheus and Grafana, in `packaging/monitoring`.
const MONITORING: [&str; 3] = ["alerts.yaml", "prometheus.yaml", "dashboard.json"];

/// Writes the package into a folder and returns its file.
pub(super) fn write(contents: &Contents<'_>, into: &Path) -> Result<PathBuf> {
    let staging = into.join(".debian");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    let sources = workspace().join("packaging");
    let place = |from: &Path, to: &str| copy(from, &staging.join(to));
    fs::create_dir_all(staging.join("usr/bin"))?;
    copy_program(contents.binary, &staging.join("usr/bin").join(NAME))?;
    copy_program(&sources.join("debian").join(ADMIN), &staging.join("usr/sbin").join(ADMIN))?;
    place(&sources.join("portolan.service"), "usr/lib/systemd/system/portolan.service")?;
    place(&sources.join("portolan.toml"), "etc/portolan/portolan.toml")?;
    place(contents.license, "usr/share/doc/portolan/copyright")?;
    for document in DOCUMENTS {
        let name = Path::new(document).file_name().unwrap_or_default().to_string_lossy();
        place(&workspace().join(document), &format!("usr/share/doc/portolan/{name}"))?;
    }
    for file in MONITORING {
        let to = format!("usr/share/portolan/monitoring/{file}");
        place(&sources.join("monitoring").join(file), &to)?;
    }
    for component in contents.components()? {
        let name = component.file_name().unwrap_or_default().to_string_lossy();
        place(&component, &format!("usr/share/portolan/catalog/{name}"))?;
    }
    let architecture = contents.machine.debian_name();
    let control = fs::read_to_string(sources.join("debian/control"))?
        .replace("@VERSION@", contents.version)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@GLIBC@", GLIBC)
        .replace("@SUMMARY@", SUMMARY);
    fs::create_dir_all(staging.join("DEBIAN"))?;
    fs::write(staging.join("DEBIAN/control"), control)?;
    place(&sources.join("debian/conffiles"), "DEBIAN/conffiles")?;
    for script in SCRIPTS {
        copy_program(&sources.join("debian").join(script), &staging.join("DEBIAN").join(script))?;
    }
    let file = file(into, contents.version, contents.machine);
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&staging).arg(&file);
    run(&mut build)?;
    fs::remove_dir_all(staging)?;
    Ok(file)
}

/// Returns the file of the package in a folder.
pub(super) fn file(into: &Path, version: &str, machine: Machine) -> PathBuf {
    into.join(format!("{NAME}_{version}_{}.deb", machine.debian_name()))
}

/// Copies a file that everybody may read.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(0o644))?)
}
