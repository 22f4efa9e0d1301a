//! Reads a file of the catalog folder, which may be hostile.

use crate::refusal::LoadError;
use std::{
    fs::{File, Metadata, OpenOptions},
    io::Read as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

/// A flag of `open`: opening a named pipe must not wait for its other end.
const O_NONBLOCK: i32 = 0o4000;

/// The identity of a file's content, known without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Fingerprint {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Returns whether a name in the folder is that of a component. Names of hidden and temporary files are not.
pub(super) fn is_component_name(name: &str) -> bool {
    name.ends_with(".wasm") && !name.starts_with(['.', '~', '#'])
}

/// Reads a component. Fails if the first bytes are not a component's or the file changes meanwhile.
pub(super) fn read(folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>, LoadError> {
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
    ensure_preamble(&bytes)?;
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
