//! Who published a component, and whose components this host loads.

use portolan_signing::{PublicKey, SignatureError, proven_key};
use portolan_vocabulary::Publisher;

/// Which publishers' components are loaded.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The key of the host's own publisher, which was built into the binary.
    pub host: Option<PublicKey>,
    /// The only other keys whose components are loaded; `None` loads those of any key, and unsigned ones.
    pub only: Option<Vec<PublicKey>>,
}

/// Why a component is not loaded, whatever it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error("it is not signed, and this host loads only signed components")]
    Unsigned,
    #[error("it is signed with a key that this host does not trust")]
    Key,
}

impl Trust {
    /// Returns who published a component. `file` is the name of its file.
    pub(super) fn publisher(&self, bytes: &[u8], file: &str) -> Result<Publisher, Untrusted> {
        let publisher = match proven_key(bytes)? {
            Some(key) if Some(key) == self.host => Publisher::Host,
            Some(key) => Publisher::Key(key),
            None => Publisher::Unsigned(file.strip_suffix(".wasm").unwrap_or(file).to_owned()),
        };
        match (&publisher, &self.only) {
            (Publisher::Unsigned(_), Some(_)) => Err(Untrusted::Unsigned),
            (Publisher::Key(key), Some(only)) if !only.contains(key) => Err(Untrusted::Key),
            _ => Ok(publisher),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_signing::{SigningKey, sign};

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_bytes(&[seed; 32])
    }

    fn public(seed: u8) -> PublicKey {
        key(seed).verifying_key().to_bytes()
    }

    #[test]
    fn a_component_is_loaded_if_its_publisher_is_trusted() {
        let component = b"\0asm\x0d\0\x01\0\0\x05\x04note".as_slice();
        let signed = |seed: u8| sign(component, &key(seed)).unwrap();
        let any = Trust { host: Some(public(1)), only: None };
        let publisher = |trust: &Trust, bytes: &[u8]| trust.publisher(bytes, "weather.wasm");
        assert_eq!(publisher(&any, component), Ok(Publisher::Unsigned("weather".into())));
        assert_eq!(publisher(&any, &signed(1)), Ok(Publisher::Host));
        assert_eq!(publisher(&any, &signed(2)), Ok(Publisher::Key(public(2))));
        let few = Trust { host: Some(public(1)), only: Some(vec![public(2)]) };
        assert_eq!(publisher(&few, component), Err(Untrusted::Unsigned));
        assert_eq!(publisher(&few, &signed(1)), Ok(Publisher::Host));
        assert_eq!(publisher(&few, &signed(2)), Ok(Publisher::Key(public(2))));
        assert_eq!(publisher(&few, &signed(3)), Err(Untrusted::Key));
        let mut changed = signed(2);
        changed[10] ^= 1;
        assert_eq!(publisher(&any, &changed), Err(SignatureError::Invalid.into()));
    }
}
