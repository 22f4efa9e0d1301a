//! The operator's socket, which the command line uses: a file in the data folder that only this
//! user may open.

use anyhow::Context as _;
use portolan_vocabulary::Operator;
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
/// The names of the system's users (passwd(5)).
const USERS: &str = "/etc/passwd";

/// The user id of the process at the other end of a connection to the socket.
#[derive(Debug, Clone, Copy)]
pub struct SocketUser(pub(crate) u32);

impl SocketUser {
    /// Returns the operator that this user is: `socket:` and the name of the user, or `socket:uid 1000` if
    /// the system's file of users has no name for it.
    pub(crate) fn operator(self) -> Operator {
        let users = std::fs::read_to_string(USERS).unwrap_or_default();
        let name = user_name(&users, self.0);
        Operator::admin(&format!("socket:{}", name.unwrap_or_else(|| format!("uid {}", self.0))))
    }
}

/// Returns the name of a user in a file of users.
fn user_name(users: &str, id: u32) -> Option<String> {
    let mut names = users.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (name, own) = (fields.next()?, fields.nth(1)?);
        (own.parse() == Ok(id) && !name.is_empty()).then(|| name.to_owned())
    });
    names.next()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_the_name_that_the_system_knows() {
        let users = "root:x:0:0:root:/root:/bin/sh\n# note\nada:x:1000:1000::/:\n:x:7:7::/:\n";
        assert_eq!(user_name(users, 0).as_deref(), Some("root"));
        assert_eq!(user_name(users, 1000).as_deref(), Some("ada"));
        for id in [1, 7, 10] {
            assert_eq!(user_name(users, id), None, "{id}");
        }
        let unknown = SocketUser(u32::MAX).operator();
        assert_eq!(&*unknown.name, "socket:uid 4294967295");
    }
}
