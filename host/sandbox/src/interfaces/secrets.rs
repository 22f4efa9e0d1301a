//! `secrets`: message authentication codes and sealing with a capability's own keys, which it never sees.

use crate::{
    contract::{secrets, types::HostError},
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use hmac::{Hmac, Mac as _};
use portolan_vocabulary::{DerivedKeys, Keyring, sealed};
use rand::RngExt as _;
use sha2::Sha256;
use std::sync::Arc;

pub(super) const INTERFACE: Interface =
    Interface::open("secrets", |linker| secrets::add_to_linker::<_, TapedState>(linker, taped));

/// The maximum number of bytes of the data of one `mac`, `macs` or `seal`.
const DATA_BYTES: usize = 64 << 10;

impl secrets::Host for CallState {
    fn mac(&mut self, data: Vec<u8>) -> Reply<Vec<u8>> {
        Ok(self.all_macs(&data).map(|macs| macs.into_iter().next().unwrap_or_default()))
    }

    fn macs(&mut self, data: Vec<u8>) -> Reply<Vec<Vec<u8>>> {
        Ok(self.all_macs(&data))
    }

    fn seal(&mut self, data: Vec<u8>) -> Reply<Vec<u8>> {
        let random = self.random.host().random();
        let sealed = ensure_length(&data).and_then(|()| {
            let keys = self.own_keys(Keyring::SEAL)?;
            sealed::seal(&keys, random, &data)
                .ok_or_else(|| HostError::Unavailable("sealing failed".to_owned()))
        });
        Ok(sealed)
    }

    fn open(&mut self, sealed: Vec<u8>) -> Reply<Vec<u8>> {
        Ok(self.own_keys(Keyring::SEAL).and_then(|keys| {
            let text = "this is not a value that `seal` returned, or not all of it";
            sealed::open(&keys, &sealed).ok_or_else(|| HostError::Invalid(text.to_owned()))
        }))
    }
}

impl CallState {
    /// Returns the capability's own keys for one purpose, the newest first.
    fn own_keys(&mut self, purpose: &str) -> Answer<DerivedKeys> {
        let capability = Arc::clone(&self.capability);
        Ok(self.work()?.unit.keys().derive_for(&capability, purpose))
    }

    fn all_macs(&mut self, data: &[u8]) -> Answer<Vec<Vec<u8>>> {
        ensure_length(data)?;
        let keys = self.own_keys(Keyring::MAC)?;
        Ok(keys.iter().map(|key| hmac_sha256(key, data)).collect())
    }
}

/// Computes HMAC-SHA-256 (RFC 2104).
fn hmac_sha256(key: &[u8; 32], data: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = <Hmac<Sha256> as hmac::Mac>::new_from_slice(key) else {
        // HMAC takes keys of any length.
        return Vec::new();
    };
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

fn ensure_length(data: &[u8]) -> Answer<()> {
    match data.len() > DATA_BYTES {
        true => Err(HostError::Limit(format!("the data must have at most {DATA_BYTES} bytes"))),
        false => Ok(()),
    }
}
