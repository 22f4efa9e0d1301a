//! The folder of the SDKs: unpacked from the binary, and linked into a project.

use super::embedded;
use crate::cli::cache;
use anyhow::Context as _;
use portolan_vocabulary::Digest;
use std::{
    fs,
    io::{ErrorKind, Write as _},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// The parts of the folder that the binary contains, in addition to `Cargo.toml`.
const PARTS: [&str; 2] = ["sdk", "wit"];
/// The link in a project to the folder.
const LINK: &str = ".portolan/sdk";

/// Returns a folder with the SDKs in `sdk` and the contract in `wit`: the given one, or the one that this
/// binary contains, unpacked into the user's cache.
pub(super) fn folder(checkout: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(folder) = checkout else { return unpack() };
    for part in PARTS {
        anyhow::ensure!(
            folder.join(part).is_dir(),
            "{} has no folder {part}; give --sdk the root of a checkout of Portolan",
            folder.display()
        );
    }
    Ok(folder.canonicalize()?)
}

/// Links the folder into a project, where its manifest and its editor find it under the same name on every
/// machine.
pub(super) fn link(project: &Path, sdk: &Path) -> anyhow::Result<()> {
    let link = project.join(LINK);
    if fs::read_link(&link).is_ok_and(|target| target == sdk) {
        return Ok(());
    }
    let result = fs::create_dir_all(project.join(".portolan"))
        .and_then(|()| match fs::remove_file(&link) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
        .and_then(|()| symlink(sdk, &link));
    result.with_context(|| format!("cannot link {}", link.display()))
}

/// Returns a file that is made of the SDKs. If they are those of this binary, the file is kept in
/// their folder.
pub(super) fn made_once(
    sdk: &Path,
    file: &str,
    make: impl FnOnce() -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<Vec<u8>> {
    let kept = sdk.join(file);
    if let Ok(content) = fs::read(&kept) {
        return Ok(content);
    }
    let content = make()?;
    if sdk.starts_with(cache::folder()?) {
        let mut unfinished = tempfile::NamedTempFile::new_in(sdk)?;
        unfinished.write_all(&content)?;
        unfinished.persist(&kept)?;
    }
    Ok(content)
}

/// Returns the folder in the cache with the embedded files, which are unpacked unless they are
/// there already.
fn unpack() -> anyhow::Result<PathBuf> {
    let files = files();
    let cache = cache::folder()?;
    let folder = cache.join(format!("sdk-{}", content_hash(&files)));
    if folder.exists() {
        return Ok(folder);
    }
    fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let unfinished = tempfile::Builder::new().prefix(".sdk").tempdir_in(&cache)?;
    for (path, text) in &files {
        embedded::write(&unfinished.path().join(path), text)?;
    }
    // Another process may have unpacked the same meanwhile.
    match fs::rename(unfinished.path(), &folder) {
        Err(error) if !folder.exists() => {
            Err(error).with_context(|| format!("cannot create {}", folder.display()))
        }
        _ => Ok(folder),
    }
}

fn files() -> Vec<(String, &'static str)> {
    let files_below = |part: &'static str| {
        embedded::files_below(part).map(move |(path, text)| (format!("{part}/{path}"), text))
    };
    let manifest = embedded::file("Cargo.toml").map(|text| ("Cargo.toml".to_owned(), text));
    manifest.into_iter().chain(PARTS.into_iter().flat_map(files_below)).collect()
}

fn content_hash(files: &[(String, &str)]) -> String {
    let text: String = files.iter().map(|(path, text)| format!("{path}\0{text}\0")).collect();
    Digest::of(text.as_bytes()).hex().chars().take(16).collect()
}
