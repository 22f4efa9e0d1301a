//! Successions: how a publisher changes its key.
//!
//! The old key signs a statement that names the new one. Whoever signs components with the new key puts the
//! statements into them, so that a host learns of the change from the component.

use crate::{
    SignatureError,
    key::{KeyError, PublicKey, from_hex, hex},
};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use std::{
    fs,
    path::{Path, PathBuf},
};

const CONTEXT: &[u8] = b"portolan key succession v1\0";
const VERSION: u8 = 1;
/// The maximum number of statements of a succession.
const STATEMENTS: usize = 16;

/// The statement of a key that another key succeeds it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    previous: PublicKey,
    /// The previous key's signature of the text `portolan key succession v1`, a zero byte, the
    /// previous key and the next one.
    signature: [u8; 64],
}

/// The statements of a publisher's earlier keys, the oldest first. Each is about the key of the next
/// statement; the last one is about the key that signs the component.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Succession(Vec<Statement>);

impl Succession {
    /// Returns the succession of the next key: this one, and the statement of the previous key.
    pub fn followed(mut self, previous: &SigningKey, next: &PublicKey) -> Result<Self, KeyError> {
        if self.0.len() == STATEMENTS {
            return Err(KeyError::TooManySuccessions(STATEMENTS));
        }
        let previous_key = previous.verifying_key().to_bytes();
        let signature = previous.sign(&message(&previous_key, next)).to_bytes();
        self.0.push(Statement { previous: previous_key, signature });
        Ok(self)
    }

    /// Reads the succession of a key from the file beside it; it is empty if there is none.
    pub fn read(key: &Path) -> Result<Self, KeyError> {
        let path = beside(key);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(KeyError::File(path, error)),
        };
        let statements = from_hex(text.trim()).and_then(|bytes| Self::decode(&bytes).ok());
        statements.ok_or(KeyError::NotASuccession(path))
    }

    /// Writes the succession of a key beside it. It is not secret.
    pub fn write(&self, key: &Path) -> Result<PathBuf, KeyError> {
        let path = beside(key);
        fs::write(&path, format!("{}\n", hex(&self.encode())))
            .map_err(|error| KeyError::File(path.clone(), error))?;
        Ok(path)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Verifies the statements, and returns the keys that a signer succeeds, the oldest first.
    pub(super) fn predecessors(
        &self,
        signer: &PublicKey,
    ) -> Result<Vec<PublicKey>, SignatureError> {
        let next = self.0.iter().skip(1).map(|statement| &statement.previous).chain([signer]);
        for (statement, next) in self.0.iter().zip(next) {
            let key = VerifyingKey::from_bytes(&statement.previous);
            let signature = Signature::from_bytes(&statement.signature);
            key.and_then(|key| key.verify_strict(&message(&statement.previous, next), &signature))
                .map_err(|_| SignatureError::InvalidSuccession)?;
        }
        Ok(self.0.iter().map(|statement| statement.previous).collect())
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let statements = self
            .0
            .iter()
            .flat_map(|statement| statement.previous.into_iter().chain(statement.signature));
        std::iter::once(VERSION).chain(statements).collect()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, SignatureError> {
        let Some((&VERSION, rest)) = bytes.split_first() else {
            return Err(SignatureError::InvalidSuccession);
        };
        let (statements, rest) = rest.as_chunks::<{ 32 + 64 }>();
        if !rest.is_empty() || statements.is_empty() || statements.len() > STATEMENTS {
            return Err(SignatureError::InvalidSuccession);
        }
        let statement = |bytes: &[u8; 96]| {
            let (previous, signature) = bytes.split_first_chunk::<32>()?;
            Some(Statement { previous: *previous, signature: *signature.first_chunk()? })
        };
        let statements = statements.iter().map(statement).collect::<Option<_>>();
        statements.map(Self).ok_or(SignatureError::InvalidSuccession)
    }
}

fn message(previous: &PublicKey, next: &PublicKey) -> Vec<u8> {
    [CONTEXT, previous, next].concat()
}

fn beside(key: &Path) -> PathBuf {
    let mut name = key.as_os_str().to_owned();
    name.push(".succession");
    name.into()
}
