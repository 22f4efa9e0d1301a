//! The files of a node: whether they are still in their place, and whether more can be written.

use super::{
    parts::{CATALOG, DATA_FOLDER, DISK, KEYS},
    problem::Problem,
};
use portolan_vocabulary::Keyring;
use rustix::fs::{Access, access};
use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// The free space below which the operator is warned, below which it is an error, and below which a node is not
/// ready.
const LITTLE_SPACE: u64 = 5 << 30;
const NO_SPACE: u64 = 512 << 20;
const UNREADY_SPACE: u64 = 16 << 20;
/// The size of the file that is written to see whether one can be.
const PROBE_BYTES: usize = 64 << 10;
/// The permissions of a folder that others may use.
const OTHERS: u32 = 0o077;

/// The files of a node.
#[derive(Debug, Clone)]
pub struct NodePlaces {
    pub data_dir: PathBuf,
    /// The file of the secret keys; `None` if they are in the configuration.
    pub secret_keys: Option<PathBuf>,
    /// Device and number of the data folder at the start.
    own: Option<(u64, u64)>,
}

impl NodePlaces {
    /// Notes the data folder as it is now.
    pub fn new(data_dir: PathBuf, secret_keys: Option<PathBuf>) -> Self {
        let own = number(&data_dir).ok();
        Self { data_dir, secret_keys, own }
    }

    /// Checks what is on disks. This can block for as long as a disk does.
    pub(super) fn check(&self, catalog: &Path, keys: &Keyring) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(self.check_data_folder());
        problems.extend(check_space(&self.data_dir));
        problems.extend(self.secret_keys.as_deref().and_then(|file| check_keys(file, keys)));
        problems.extend(check_catalog(catalog));
        problems
    }

    fn check_data_folder(&self) -> Option<Problem> {
        let folder = self.data_dir.display();
        let fix = format!(
            "stop the host; put {folder} back, or restore a backup (`portolan restore`) with secret.keys and erasures; start the host again"
        );
        match number(&self.data_dir) {
            Err(error) => Some(Problem::unready(
                &DATA_FOLDER,
                format!("{folder} cannot be found: {error}"),
                fix,
            )),
            Ok(found) if self.own.is_some_and(|own| own != found) => {
                let problem = format!("{folder} is not the folder that this host started with");
                Some(Problem::unready(&DATA_FOLDER, problem, fix))
            }
            Ok(_) => check_folder(&self.data_dir),
        }
    }
}

fn number(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Checks whether a file can be written into the data folder, and whether others may use it.
pub fn check_folder(folder: &Path) -> Option<Problem> {
    check_writing(folder).or_else(|| check_mode(folder))
}

fn check_writing(folder: &Path) -> Option<Problem> {
    let written = tempfile::NamedTempFile::new_in(folder)
        .and_then(|mut file| file.write_all(&[0; PROBE_BYTES]));
    let error = written.err()?;
    let problem = format!("no file can be written into {}: {error}", folder.display());
    Some(match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Problem::unready(&DISK, problem, space_fix(folder))
        }
        _ => Problem::unready(
            &DATA_FOLDER,
            problem,
            format!(
                "let the host's user write there: chown -R portolan: {}; or mount the disk for writing",
                folder.display()
            ),
        ),
    })
}

fn space_fix(folder: &Path) -> String {
    format!(
        "free space (`du -xh --max-depth=2 {} | sort -h | tail` shows what takes it), or enlarge the disk; the host goes on without a restart",
        folder.display()
    )
}

/// Checks the free space of a folder's disk.
pub fn check_space(folder: &Path) -> Option<Problem> {
    let space = rustix::fs::statvfs(folder).ok()?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let problem = format!("{} MiB are free at {}", free >> 20, folder.display());
    let fix = space_fix(folder);
    match free {
        LITTLE_SPACE.. => None,
        NO_SPACE.. => Some(Problem::warning(&DISK, problem, fix)),
        UNREADY_SPACE.. => Some(Problem::error(&DISK, problem, fix)),
        _ => Some(Problem::unready(&DISK, problem, fix)),
    }
}

/// Warns of a data folder that others may read.
fn check_mode(folder: &Path) -> Option<Problem> {
    let mode = fs::metadata(folder).ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        Problem::warning(
            &DATA_FOLDER,
            format!("others may use {} (mode {:03o})", folder.display(), mode & 0o777),
            format!("chmod 700 {}", folder.display()),
        )
    })
}

/// Checks the file of the secret keys against the keys in use.
fn check_keys(file: &Path, keys: &Keyring) -> Option<Problem> {
    let name = file.display();
    match fs::read_to_string(file).map(Zeroizing::new) {
        Err(error) => Some(unreadable_keys(file, &error)),
        Ok(text) => match Keyring::parse(&text) {
            Err(fix) => {
                Some(Problem::error(&KEYS, format!("{name} cannot be used at the next start"), fix))
            }
            Ok(found) if found != *keys => Some(Problem::warning(
                &KEYS,
                format!("{name} has other keys than those in use"),
                "send SIGHUP to the host to use them (`systemctl reload portolan`), or put the earlier file back",
            )),
            Ok(_) => None,
        },
    }
}

/// Returns the problem of a file of secret keys that cannot be read.
fn unreadable_keys(file: &Path, error: &io::Error) -> Problem {
    let name = file.display();
    let fix = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("let the host's user read it: chown portolan: {name} && chmod 600 {name}")
        }
        _ => format!(
            "put {name} back from its copy before the host is stopped; a new file would open nothing that is sealed"
        ),
    };
    let problem = format!(
        "{name} cannot be read: {error}; this process still has the keys, the next start would not"
    );
    Problem::error(&KEYS, problem, fix)
}

fn check_catalog(folder: &Path) -> Option<Problem> {
    let name = folder.display();
    if let Err(error) = fs::read_dir(folder) {
        return Some(Problem::unready(
            &CATALOG,
            format!("{name} cannot be read: {error}; what is loaded still serves"),
            format!("put the folder back, and let the host's user read it: chmod u+rwx {name}"),
        ));
    }
    access(folder, Access::WRITE_OK).is_err().then(|| {
        Problem::warning(
            &CATALOG,
            format!("{name} cannot be written, so no version can be published or rolled back"),
            format!("let the host's user write there: chown portolan: {name}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_there_and_closed_are_to_be_opened_and_missing_ones_put_back() {
        let file = Path::new("data/secret.keys");
        let fix = |kind: io::ErrorKind| unreadable_keys(file, &kind.into()).fix;
        let closed = fix(io::ErrorKind::PermissionDenied);
        assert!(closed.contains("chown portolan: data/secret.keys"), "{closed}");
        assert!(!closed.contains("copy"), "{closed}");
        let missing = fix(io::ErrorKind::NotFound);
        assert!(missing.contains("from its copy") && !missing.contains("chown"), "{missing}");
    }
}
