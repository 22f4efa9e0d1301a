//! The operator's socket, which the command line uses: a file in the data folder that only this
//! user may open.

use anyhow::Context as _;
use std::{
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::{Path, PathBuf},
};
use tokio::net::UnixListener;

/// The socket in the data folder.
pub const SOCKET_FILE: &str = "operator.sock";
/// The maximum length of a socket's path (`sun_path` of unix(7), without the terminating zero
/// byte).
const MAX_PATH_BYTES: usize = 107;

/// A socket that accepts connections of this user. Its file is removed when this is dropped.
#[derive(Debug)]
pub struct OperatorSocket {
    pub(crate) listener: UnixListener,
    path: PathBuf,
}

impl OperatorSocket {
    /// Opens the socket in the folder. Returns `None`, with a warning, if the path is too long.
    ///
    /// # Errors
    ///
    /// Fails if another host answers at the socket, or the file cannot be made.
    pub fn open(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join(SOCKET_FILE);
        // The socket is made under this name, closed to others, and then renamed.
        let unfinished = folder.join(".operator");
        if path.as_os_str().len() > MAX_PATH_BYTES {
            tracing::warn!(path = %path.display(), "the path is too long for a socket; the command line uses the operator's address and token");
            return Ok(None);
        }
        anyhow::ensure!(
            UnixStream::connect(&path).is_err(),
            "another host answers at {}; choose another folder with --data-dir",
            path.display()
        );
        let open = || -> std::io::Result<UnixListener> {
            match std::fs::remove_file(&unfinished) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let listener = UnixListener::bind(&unfinished)?;
            std::fs::set_permissions(&unfinished, std::fs::Permissions::from_mode(0o600))?;
            std::fs::rename(&unfinished, &path)?;
            Ok(listener)
        };
        let listener = open().with_context(|| format!("cannot listen at {}", path.display()))?;
        Ok(Some(Self { listener, path }))
    }
}

impl Drop for OperatorSocket {
    fn drop(&mut self) {
        // An error means that the file was removed before, perhaps with its folder.
        let _removed = std::fs::remove_file(&self.path);
    }
}
