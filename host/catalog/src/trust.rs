//! The publishers of components, and the rules by which this host trusts them.

use crate::file_name::publisher_name;
use portolan_signing::{PublicKey, SignatureError, Signer, signer};
use portolan_vocabulary::Publisher;

/// The publishers whose components are loaded.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The key of the host's own publisher, which was built into the binary.
    pub host: Option<PublicKey>,
    /// The only other keys whose components are loaded; `None` loads those of any key, and unsigned ones.
    pub only: Option<Vec<PublicKey>>,
    /// The ids that only the host's own publisher may take.
    pub reserved_ids: Vec<String>,
    /// The namespaces of events that only the host's own publisher may take.
    pub reserved_namespaces: Vec<String>,
}

/// The publisher of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) publisher: Publisher,
    /// The publishers whose keys the publisher's key succeeds.
    pub(super) predecessors: Vec<Publisher>,
}

/// The reasons to refuse a component because of its publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error("the component is not signed, and this host loads only signed components")]
    Unsigned,
    #[error("the component is signed with a key that this host does not trust")]
    Key,
}

impl Trust {
    /// Returns who published a component. `file` is the name of its file.
    pub(super) fn origin(&self, bytes: &[u8], file: &str) -> Result<Origin, Untrusted> {
        let Some(Signer { key, predecessors }) = signer(bytes)? else {
            let name = publisher_name(file);
            return match self.only {
                Some(_) => Err(Untrusted::Unsigned),
                None => {
                    let publisher = Publisher::Unsigned(name);
                    Ok(Origin { publisher, predecessors: Vec::new() })
                }
            };
        };
        if Some(key) == self.host {
            return Ok(Origin { publisher: Publisher::Host, predecessors: Vec::new() });
        }
        // A key is trusted if it succeeds a trusted key.
        let is_trusted = |only: &Vec<PublicKey>| {
            predecessors.iter().chain([&key]).any(|known| only.contains(known))
        };
        if !self.only.as_ref().is_none_or(is_trusted) {
            return Err(Untrusted::Key);
        }
        let predecessors = predecessors.into_iter().map(Publisher::Key).collect();
        Ok(Origin { publisher: Publisher::Key(key), predecessors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_signing::{SigningKey, Succession, sign};

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_bytes(&[seed; 32])
    }

    fn public(seed: u8) -> PublicKey {
        key(seed).verifying_key().to_bytes()
    }

    #[test]
    fn a_component_is_loaded_if_its_publisher_is_trusted() {
        let component = b"\0asm\x0d\0\x01\0\0\x05\x04note".as_slice();
        let signed = |seed: u8| sign(component, &key(seed), &Succession::default()).unwrap();
        let any = Trust { host: Some(public(1)), only: None, ..Trust::default() };
        let publisher = |trust: &Trust, bytes: &[u8]| {
            trust.origin(bytes, "weather.wasm").map(|origin| origin.publisher)
        };
        assert_eq!(publisher(&any, component), Ok(Publisher::Unsigned("weather".into())));
        assert_eq!(publisher(&any, &signed(1)), Ok(Publisher::Host));
        assert_eq!(publisher(&any, &signed(2)), Ok(Publisher::Key(public(2))));
        let few = Trust { host: Some(public(1)), only: Some(vec![public(2)]), ..Trust::default() };
        assert_eq!(publisher(&few, component), Err(Untrusted::Unsigned));
        assert_eq!(publisher(&few, &signed(1)), Ok(Publisher::Host));
        assert_eq!(publisher(&few, &signed(2)), Ok(Publisher::Key(public(2))));
        assert_eq!(publisher(&few, &signed(3)), Err(Untrusted::Key));
        let succession = Succession::default().followed(&key(2), &public(4)).unwrap();
        let succeeded = sign(component, &key(4), &succession).unwrap();
        assert_eq!(publisher(&few, &succeeded), Ok(Publisher::Key(public(4))));
        let origin = any.origin(&succeeded, "weather.wasm").unwrap();
        assert_eq!(origin.predecessors, [Publisher::Key(public(2))]);
        let mut changed = signed(2);
        changed[10] ^= 1;
        assert_eq!(publisher(&any, &changed), Err(SignatureError::Invalid.into()));
    }
}
