//! Reads a file of the catalog folder, which may be hostile.

use crate::{
    file_name::{engine, language},
    refusal::LoadError,
};
use portolan_sandbox::with_source;
use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

/// A flag of `open`: opening a named pipe must not wait for its other end.
const O_NONBLOCK: i32 = 0o4000;

/// The identity of a file's content, known without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    file: Stat,
    /// The state of the engine's file, if the file is a source and there is an engine.
    engine: Option<Stat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Fingerprint {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self { file: Stat::of(metadata), engine: None }
    }

    /// Returns the fingerprint of a file of the folder, which changes also with the engine of its language.
    pub(super) fn of_file(folder: &Path, name: &str, metadata: &Metadata) -> Self {
        let engine = language(name).and_then(|language| {
            let (engines, file) = engine(folder, language);
            engines.join(file).metadata().ok()
        });
        Self { engine: engine.as_ref().map(Stat::of), ..Self::of(metadata) }
    }
}

impl Stat {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Reads a component. Fails if it is none, or if a file changes meanwhile.
pub fn read(folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>, LoadError> {
    let content = read_stable(folder, name, limit)?;
    let Some(language) = language(name) else {
        ensure_preamble(&content)?;
        return Ok(content);
    };
    let text = String::from_utf8(content).map_err(|_| LoadError::NotText)?;
    let (engines, file) = engine(folder, language);
    let engine = read_stable(&engines, &file, limit).map_err(|error| match error {
        LoadError::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => {
            LoadError::EngineMissing { language, file: engines.join(&file) }
        }
        other => other,
    })?;
    ensure_preamble(&engine)?;
    Ok(with_source(&engine, name, &text))
}

/// Reads a file. Fails if it is no file of this folder, or if it changes meanwhile.
fn read_stable(folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>, LoadError> {
    let path = folder.join(name);
    if path.symlink_metadata()?.is_symlink() {
        let target = path.canonicalize()?;
        if target.parent() != Some(&folder.canonicalize()?) {
            return Err(LoadError::LeadsOutside(target));
        }
    }
    let mut file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(&path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(LoadError::NotAFile);
    }
    if metadata.len() > limit {
        return Err(LoadError::TooLarge { size: metadata.len(), limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    (&mut file).take(limit + 1).read_to_end(&mut bytes)?;
    if changed(&file, &path, &metadata)? {
        return Err(LoadError::Changing);
    }
    Ok(bytes)
}

/// Returns whether the open file, or the file that now has its name, has changed since `before`.
fn changed(file: &File, path: &Path, before: &Metadata) -> std::io::Result<bool> {
    let before = Fingerprint::of(before);
    Ok(Fingerprint::of(&file.metadata()?) != before
        || Fingerprint::of(&std::fs::metadata(path)?) != before)
}

/// Checks the preamble of the binary format: the magic number, then version and layer.
pub(super) fn ensure_preamble(bytes: &[u8]) -> Result<(), LoadError> {
    match bytes {
        [] => Err(LoadError::Empty),
        [b'\0', b'a', b's', b'm', _, _, 1, 0, ..] => Ok(()),
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => Err(LoadError::CoreModule),
        [0x7f, b'E', b'L', b'F', ..] => Err(LoadError::NativeCode),
        _ => Err(LoadError::NotWasm),
    }
}
