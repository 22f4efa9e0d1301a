//! The package for pip: a wheel whose only content is the program, which pip puts into the folder of programs.
//!
//! The format is the one of the specification "Binary distribution format" of the Python Packaging Authority.

use super::{Contents, GLIBC, LICENSE, Machine, NAME, SUMMARY, copy_program};
use crate::run::run;
use anyhow::Result;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Writes the wheel into a folder and returns its file.
pub(super) fn write(contents: &Contents<'_>, into: &Path) -> Result<PathBuf> {
    let staging = into.join(".wheel");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    let base = format!("{NAME}-{}", contents.version);
    let (data, info) = (format!("{base}.data"), format!("{base}.dist-info"));
    let scripts = format!("{data}/scripts");
    for folder in [&scripts, &format!("{info}/licenses")] {
        fs::create_dir_all(staging.join(folder))?;
    }
    copy_program(contents.binary, &staging.join(&scripts).join(NAME))?;
    fs::copy(contents.license, staging.join(&info).join("licenses/LICENSE"))?;
    let tag = tag(contents.machine);
    fs::write(staging.join(&info).join("METADATA"), metadata(contents)?)?;
    fs::write(staging.join(&info).join("WHEEL"), wheel(&tag))?;
    let files = [
        format!("{scripts}/{NAME}"),
        format!("{info}/licenses/LICENSE"),
        format!("{info}/METADATA"),
        format!("{info}/WHEEL"),
    ];
    let record = format!("{info}/RECORD");
    fs::write(staging.join(&record), record_of(&staging, &files, &record)?)?;
    let file = file(into, contents.version, contents.machine);
    if file.exists() {
        fs::remove_file(&file)?;
    }
    let mut zip = Command::new("python3");
    zip.args(["-c", ZIP]).arg(&staging).arg(&file).args(files.iter().chain([&record]));
    run(&mut zip)?;
    fs::remove_dir_all(staging)?;
    Ok(file)
}

/// Returns the file of the package in a folder.
pub(super) fn file(into: &Path, version: &str, machine: Machine) -> PathBuf {
    into.join(format!("{NAME}-{version}-{}.whl", tag(machine)))
}

/// Packs files in the given order, with a fixed time, so that the same content gives the same wheel.
const ZIP: &str = r#"
import pathlib, sys, zipfile
folder, file, *names = sys.argv[1:]
with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name in names:
        path = pathlib.Path(folder, name)
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (path.stat().st_mode & 0xFFFF) << 16
        archive.writestr(entry, path.read_bytes())
"#;

/// Returns the tag of what the wheel is for: any Python 3, and the program's machine and C library.
fn tag(machine: Machine) -> String {
    let glibc = GLIBC.replace('.', "_");
    format!("py3-none-manylinux_{glibc}_{}", machine.name())
}

fn wheel(tag: &str) -> String {
    format!("Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag}\n")
}

fn metadata(contents: &Contents<'_>) -> Result<String> {
    let readme = fs::read_to_string(contents.readme)?;
    Ok(format!(
        "Metadata-Version: 2.4\nName: {NAME}\nVersion: {}\nSummary: {SUMMARY}\nLicense-Expression: {LICENSE}\nLicense-File: LICENSE\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}",
        contents.version
    ))
}

/// Returns the content of `RECORD`: the files with their digests and sizes.
/// `RECORD` itself has neither.
fn record_of(folder: &Path, files: &[String], record: &str) -> Result<String> {
    let mut lines = String::new();
    for name in files {
        let content = fs::read(folder.join(name))?;
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&content));
        lines += &format!("{name},sha256={digest},{}\n", content.len());
    }
    Ok(lines + &format!("{record},,\n"))
}
