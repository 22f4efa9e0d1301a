//! Keys of a world, for signatures, encryption and cursors.

use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce, aead::Aead as _};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

const NONCE_BYTES: usize = 24;

/// The keys of a world: different ones for each seed.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    pub(super) mac: [u8; 32],
    pub(super) seal: [u8; 32],
    pub(super) cursor: [u8; 32],
}

impl Keys {
    /// Returns the HMAC-SHA-256 of the data.
    pub(super) fn mac(&self, data: &[u8]) -> Vec<u8> {
        let mut block = [0; 64];
        block.iter_mut().zip(self.mac).for_each(|(to, from)| *to = from);
        let mut mac = <Hmac<Sha256> as hmac::Mac>::new(&block.into());
        mac.update(data);
        mac.finalize().into_bytes().to_vec()
    }

    pub(super) fn seal(&self, nonce: [u8; NONCE_BYTES], data: &[u8]) -> Option<Vec<u8>> {
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), data).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts what `seal` returned. Returns `None` for anything else.
    pub(super) fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        self.cipher().decrypt(&XNonce::from(*nonce), text).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.seal.into())
    }
}
