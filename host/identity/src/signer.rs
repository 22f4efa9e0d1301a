//! Texts that only this host can have signed: JSON Web Tokens with keys of the keyring, each for
//! one purpose.

use crate::error::IdentityError;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use portolan_vocabulary::{Keyring, Timestamp};
use serde::{Serialize, de::DeserializeOwned};

/// Claims that are valid until a time, their `exp`.
pub(crate) trait Expiring {
    /// Returns the expiry in seconds since the Unix epoch.
    fn expires_at(&self) -> u64;
}

/// A signer and verifier of texts for one purpose.
pub(crate) struct Signer {
    purpose: &'static str,
    keys: Keyring,
}

impl Signer {
    pub(crate) fn new(keys: &Keyring, purpose: &'static str) -> Self {
        Self { purpose, keys: keys.clone() }
    }

    pub(crate) fn sign(&self, claims: &impl Serialize) -> Result<String, IdentityError> {
        let mut header = Header::new(Algorithm::HS256);
        header.typ = Some(self.purpose.to_owned());
        let missing = || IdentityError::Key("the keyring is empty".to_owned());
        let keys = self.keys.derive(self.purpose);
        let key = EncodingKey::from_secret(keys.first().ok_or_else(missing)?);
        jsonwebtoken::encode(&header, claims, &key)
            .map_err(|error| IdentityError::Key(error.to_string()))
    }

    /// Returns the claims of a text, if this host signed it for this purpose and it has not expired.
    pub(crate) fn verify<T: DeserializeOwned + Clone + Expiring>(
        &self,
        text: &str,
        now: Timestamp,
    ) -> Option<T> {
        let header = jsonwebtoken::decode_header(text).ok()?;
        if header.typ.as_deref() != Some(self.purpose) {
            return None;
        }
        let mut validation = Validation::new(Algorithm::HS256);
        validation.validate_aud = false;
        // The library would read the system's time.
        validation.validate_exp = false;
        let decode = |key: &[u8; 32]| {
            jsonwebtoken::decode::<T>(text, &DecodingKey::from_secret(key), &validation).ok()
        };
        let claims = self.keys.derive(self.purpose).iter().find_map(decode)?.claims;
        (claims.expires_at() > now.as_secs()).then_some(claims)
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
    use serde::Deserialize;

    #[derive(Clone, Serialize, Deserialize)]
    struct Claims {
        exp: u64,
        x: u64,
    }

    impl Expiring for Claims {
        fn expires_at(&self) -> u64 {
            self.exp
        }
    }

    #[test]
    fn only_own_texts_of_the_same_purpose_are_read_until_they_expire() {
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let signer = Signer::new(&keys, "one");
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1000);
        let text = signer.sign(&Claims { exp: 1_000, x: 1 }).unwrap();
        assert_eq!(signer.verify::<Claims>(&text, at(999)).unwrap().x, 1);
        assert!(signer.verify::<Claims>(&text, at(1_000)).is_none());
        assert!(Signer::new(&keys, "two").verify::<Claims>(&text, at(999)).is_none());
        let others = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        assert!(Signer::new(&others, "one").verify::<Claims>(&text, at(999)).is_none());
        assert!(signer.verify::<Claims>("x.y.z", at(999)).is_none());
    }
}
