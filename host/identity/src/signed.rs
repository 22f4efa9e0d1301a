//! Texts that only this host can have made: JSON Web Tokens with keys of the keyring, each for one
//! purpose.

use crate::IdentityError;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use portolan_vocabulary::Keyring;
use serde::{Serialize, de::DeserializeOwned};

/// Signs and reads texts of one purpose, which have an `exp`.
pub(super) struct Signer {
    purpose: &'static str,
    encoding: Option<EncodingKey>,
    /// The newest first.
    decoding: Vec<DecodingKey>,
}

impl Signer {
    pub(super) fn new(keys: &Keyring, purpose: &'static str) -> Self {
        let keys = keys.derive(purpose);
        Self {
            purpose,
            encoding: keys.first().map(|key| EncodingKey::from_secret(key)),
            decoding: keys.iter().map(|key| DecodingKey::from_secret(key)).collect(),
        }
    }

    pub(super) fn sign(&self, claims: &impl Serialize) -> Result<String, IdentityError> {
        let mut header = Header::new(Algorithm::HS256);
        header.typ = Some(self.purpose.to_owned());
        let key = self.encoding.as_ref().ok_or_else(|| IdentityError::Key("none".to_owned()))?;
        jsonwebtoken::encode(&header, claims, key)
            .map_err(|error| IdentityError::Key(error.to_string()))
    }

    /// What it says, if it is genuine and its time is not over.
    pub(super) fn read<T: DeserializeOwned + Clone>(&self, text: &str) -> Option<T> {
        let header = jsonwebtoken::decode_header(text).ok()?;
        if header.typ.as_deref() != Some(self.purpose) {
            return None;
        }
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = 0;
        validation.validate_aud = false;
        let read = |key| jsonwebtoken::decode::<T>(text, key, &validation).ok();
        self.decoding.iter().find_map(read).map(|token| token.claims)
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Signer").field("purpose", &self.purpose).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::Timestamp;
    use serde_json::{Value, json};

    #[test]
    fn only_own_texts_of_the_same_purpose_are_read() {
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let signer = Signer::new(&keys, "one");
        let now = Timestamp::now().as_secs();
        let text = signer.sign(&json!({ "exp": now + 60, "x": 1 })).unwrap();
        assert_eq!(signer.read::<Value>(&text).unwrap()["x"], 1);
        assert!(Signer::new(&keys, "two").read::<Value>(&text).is_none());
        let others = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        assert!(Signer::new(&others, "one").read::<Value>(&text).is_none());
        let over = signer.sign(&json!({ "exp": now - 1 })).unwrap();
        assert!(signer.read::<Value>(&over).is_none());
        assert!(signer.read::<Value>("x.y.z").is_none());
    }
}
