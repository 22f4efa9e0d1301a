//! The operator's token: 256 random bits in a file of the data folder, or a value of the configuration.

use anyhow::Context as _;
use arc_swap::ArcSwap;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_vocabulary::{Digest, Operator};
use std::{
    fmt,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The file of the token in the data folder. Only this user may read it.
pub const TOKEN_FILE: &str = "operator.token";
/// The setting that has the token in place of the file.
const SETTING: &str = "operator_token";
/// The prefix by which secret scanners recognise the token.
const PREFIX: &str = "ptl_op_";
const RANDOM_BYTES: usize = 32;

/// The token that authorizes requests to the operator's address.
pub struct OperatorToken {
    /// Only the digest is kept, so that neither a dump of the memory nor a comparison reveals the
    /// token.
    digest: ArcSwap<Digest>,
    /// `None` if the configuration has the token.
    file: Option<PathBuf>,
}

impl fmt::Debug for OperatorToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OperatorToken").field("file", &self.file).finish_non_exhaustive()
    }
}

impl OperatorToken {
    /// Makes an operator token of the configuration's text.
    pub fn configured(token: &str) -> Self {
        Self { digest: ArcSwap::from_pointee(Digest::of(token.as_bytes())), file: None }
    }

    /// Reads the token's file in the folder, or creates it with a new token if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or written, or is empty.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let file = folder.join(TOKEN_FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => write_new(&file)?,
            Err(error) => return Err(error).with_context(|| file.display().to_string()),
        };
        let token = text.trim();
        anyhow::ensure!(
            !token.is_empty(),
            "{} is empty: delete it, and the next start writes a new token",
            file.display()
        );
        let digest = ArcSwap::from_pointee(Digest::of(token.as_bytes()));
        Ok(Self { digest, file: Some(file) })
    }

    /// Returns the operator that has the token, if this is the token: `operator.token`, or `operator_token`
    /// for that of the configuration. The duration of the comparison reveals nothing, because digests are
    /// compared.
    pub(crate) fn operator(&self, token: &str) -> Option<Operator> {
        self.operator_of(&Digest::of(token.as_bytes()))
    }

    /// Returns the same for the token with this digest.
    pub(crate) fn operator_of(&self, digest: &Digest) -> Option<Operator> {
        let name = if self.file.is_some() { TOKEN_FILE } else { SETTING };
        (*digest == **self.digest.load()).then(|| Operator::admin(name))
    }

    /// Replaces the token with a new one, in memory and in the file, and returns the new one. Returns `None`
    /// if the configuration has the token.
    pub(crate) fn rotate(&self) -> anyhow::Result<Option<String>> {
        let Some(file) = &self.file else { return Ok(None) };
        let token = write_new(file)?;
        self.digest.store(Arc::new(Digest::of(token.as_bytes())));
        Ok(Some(token))
    }
}

/// Writes a new token by a rename, so that a reader finds either the old one or the new one.
/// Returns the new one.
fn write_new(path: &Path) -> anyhow::Result<String> {
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random)?;
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        // A `NamedTempFile` can be read by this user only.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(file, "{token}")?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| {
        format!(
            "cannot write {}; let this user write there, or choose another folder with --data-dir",
            path.display()
        )
    })?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_token_is_kept_for_this_user_and_can_be_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let token = OperatorToken::open(folder.path()).unwrap();
        let file = folder.path().join(TOKEN_FILE);
        let first = std::fs::read_to_string(&file).unwrap();
        let matches = |token: &OperatorToken, text: &str| token.operator(text).is_some();
        assert_eq!(token.operator(first.trim()), Some(Operator::admin("operator.token")));
        assert!(!matches(&token, "") && !matches(&token, &first));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches(&OperatorToken::open(folder.path()).unwrap(), first.trim()));

        let second = token.rotate().unwrap().unwrap();
        assert!(matches(&token, &second) && !matches(&token, first.trim()));
        assert!(matches(&OperatorToken::open(folder.path()).unwrap(), &second));
    }

    #[test]
    fn a_configured_token_cannot_be_rotated_here() {
        let token = OperatorToken::configured("a token of the configuration");
        let operator = token.operator("a token of the configuration");
        assert_eq!(operator, Some(Operator::admin("operator_token")));
        assert_eq!(token.rotate().unwrap(), None);
    }

    #[test]
    fn an_empty_token_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(TOKEN_FILE), "\n").unwrap();
        assert!(OperatorToken::open(folder.path()).unwrap_err().to_string().contains("is empty"));
    }
}
