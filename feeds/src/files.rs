//! Files that are on the disk before others refer to them.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

/// The modes of files that everybody may read, and of those that only their owner may.
pub(crate) const PUBLIC: u32 = 0o644;
pub(crate) const PRIVATE: u32 = 0o600;

/// Returns `None` for what is not there.
pub(crate) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Creates a file with this mode.
pub(crate) fn create(path: &Path, mode: u32) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(mode).open(path)
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(path, PUBLIC)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Gives a file that is on the disk a second name. It is copied if the file system has no links.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to).or_else(|_| {
        fs::copy(from, to)?;
        File::open(to)?.sync_all()
    })
}

/// Writes the names in a folder to the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Lets everybody read a finished draft: the host that serves it may run as another user.
pub(crate) fn readable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}
