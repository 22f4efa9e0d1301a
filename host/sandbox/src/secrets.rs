//! Keyed functions of a capability, with keys of its own that it never sees.

use crate::{
    contract::{secrets, types::HostError},
    state::CallState,
};
use hmac::{Hmac, Mac as _};
use portolan_vocabulary::{Keyring, sealed};
use rand::RngExt as _;
use sha2::Sha256;
use wasmtime::Result;

/// What `seal` and the like take at most.
const DATA_BYTES: usize = 64 << 10;

type Reply<T> = Result<std::result::Result<T, HostError>>;

impl CallState {
    /// The capability's own keys for one purpose, the newest first.
    fn own_keys(&mut self, purpose: &str) -> std::result::Result<Vec<[u8; 32]>, HostError> {
        let purpose = format!("{purpose} of {}", self.capability);
        Ok(self.work()?.unit.keys().derive(&purpose))
    }
}

/// HMAC-SHA-256 (RFC 2104).
fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> Vec<u8> {
    let Ok(mut mac) = <Hmac<Sha256> as hmac::Mac>::new_from_slice(key) else {
        // Keys of any length are taken.
        return Vec::new();
    };
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

fn check_length(data: &[u8]) -> std::result::Result<(), HostError> {
    match data.len() > DATA_BYTES {
        true => Err(HostError::Limit(format!("secrets take at most {DATA_BYTES} bytes"))),
        false => Ok(()),
    }
}

impl secrets::Host for CallState {
    fn mac(&mut self, data: Vec<u8>) -> Reply<Vec<u8>> {
        Ok(self.all_macs(&data).map(|macs| macs.into_iter().next().unwrap_or_default()))
    }

    fn macs(&mut self, data: Vec<u8>) -> Reply<Vec<Vec<u8>>> {
        Ok(self.all_macs(&data))
    }

    fn seal(&mut self, data: Vec<u8>) -> Reply<Vec<u8>> {
        let chance = self.chance.generator().random();
        let sealed = check_length(&data).and_then(|()| {
            let keys = self.own_keys(Keyring::SEAL)?;
            sealed::seal(&keys, chance, &data)
                .ok_or_else(|| HostError::Unavailable("sealing failed".to_owned()))
        });
        Ok(sealed)
    }

    fn open(&mut self, sealed: Vec<u8>) -> Reply<Vec<u8>> {
        Ok(self.own_keys(Keyring::SEAL).and_then(|keys| {
            let genuine = "this is not what seal gave, or not all of it";
            sealed::open(&keys, &sealed).ok_or_else(|| HostError::Invalid(genuine.to_owned()))
        }))
    }
}

impl CallState {
    fn all_macs(&mut self, data: &[u8]) -> std::result::Result<Vec<Vec<u8>>, HostError> {
        check_length(data)?;
        let keys = self.own_keys(Keyring::MAC)?;
        Ok(keys.iter().map(|key| hmac(key, &[data])).collect())
    }
}
