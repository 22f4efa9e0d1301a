//! The keys of publishers, in files that only their user may read.

use ed25519_dalek::SigningKey;
use std::{
    env,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The public part of an Ed25519 key.
pub type PublicKey = [u8; 32];

/// The reason why a key or its succession cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{file}: {1}", file = .0.display())]
    File(PathBuf, io::Error),
    #[error(
        "{0} is not a signing key: a key has 64 hexadecimal digits, as `portolan keygen` writes it"
    )]
    NotAKey(String),
    #[error(
        "{file} is not a succession of keys, as `portolan keygen --succeeds` writes it",
        file = .0.display()
    )]
    NotASuccession(PathBuf),
    #[error("the key has {0} predecessors, and more are not permitted")]
    TooManySuccessions(usize),
    #[error("there are no random bytes: {0}")]
    NoRandomness(getrandom::Error),
    #[error("the configuration directory is unknown; set HOME or XDG_CONFIG_HOME")]
    NoHome,
}

/// Creates a key in a new file with mode 0600. Fails if the file exists.
pub fn create_key(path: &Path) -> Result<SigningKey, KeyError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(KeyError::NoRandomness)?;
    let failed = |error| KeyError::File(path.to_owned(), error);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // The key is written under another name first, so that a partial key is never read.
    let unfinished = path.with_extension(format!("{}.unfinished", std::process::id()));
    let written = options.open(&unfinished).and_then(|mut file| {
        writeln!(file, "{}", hex(&seed))?;
        file.sync_all()?;
        fs::hard_link(&unfinished, path)
    });
    let removed = fs::remove_file(&unfinished);
    written.and(removed).map_err(failed)?;
    Ok(SigningKey::from_bytes(&seed))
}

/// Reads a key from its file.
pub fn read_key(path: &Path) -> Result<SigningKey, KeyError> {
    let text = fs::read_to_string(path).map_err(|error| KeyError::File(path.to_owned(), error))?;
    parse(&text).ok_or_else(|| KeyError::NotAKey(path.display().to_string()))
}

/// Returns the key that this user signs with: `PORTOLAN_SIGNING_KEY` (64 hexadecimal digits), or one that is
/// created in the user's folder for settings. Its public part is written beside it, for builds.
pub fn user_key() -> Result<SigningKey, KeyError> {
    let folder = settings()?;
    let key = match env::var("PORTOLAN_SIGNING_KEY") {
        Ok(text) => {
            parse(&text).ok_or_else(|| KeyError::NotAKey("PORTOLAN_SIGNING_KEY".to_owned()))?
        }
        Err(_) => {
            let path = folder.join("signing.key");
            fs::create_dir_all(&folder).map_err(|error| KeyError::File(folder.clone(), error))?;
            match create_key(&path) {
                Err(KeyError::File(_, error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                    read_key(&path)?
                }
                created => created?,
            }
        }
    };
    write_public(&folder, &key)?;
    Ok(key)
}

/// Writes the public part to `publisher.pub`, unless it is there already, because builds depend on the file.
fn write_public(folder: &Path, key: &SigningKey) -> Result<(), KeyError> {
    let path = folder.join("publisher.pub");
    let text = hex(&key.verifying_key().to_bytes());
    if fs::read_to_string(&path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| KeyError::File(path, error))
}

/// Returns the folder `portolan` in the user's folder for settings, as the XDG Base Directory Specification
/// says.
fn settings() -> Result<PathBuf, KeyError> {
    let given = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let base = given("XDG_CONFIG_HOME").or_else(|| Some(given("HOME")?.join(".config")));
    Ok(base.ok_or(KeyError::NoHome)?.join("portolan"))
}

fn parse(text: &str) -> Option<SigningKey> {
    let seed = from_hex(text.trim())?;
    Some(SigningKey::from_bytes(seed.as_slice().try_into().ok()?))
}

/// Parses pairs of hexadecimal digits. Returns `None` for any other text.
pub(super) fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8; 2]| u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_created_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let created = create_key(&path).unwrap();
        assert_eq!(read_key(&path).unwrap(), created);
        assert!(matches!(create_key(&path), Err(KeyError::File(..))));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(&path, "zz").unwrap();
        assert!(read_key(&path).unwrap_err().to_string().contains("64 hexadecimal digits"));
    }
}
