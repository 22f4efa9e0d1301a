//! Signed addresses: of uploads, and of files that not everybody may read.

use hmac::{Hmac, Mac as _};
use portolan_vocabulary::Keyring;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// The bytes of a signature that an address has: 128 bits.
const SIGNATURE_BYTES: usize = 16;

/// Returns the signature of a text by the newest key, in hexadecimal digits.
pub(crate) fn sign(keys: &Keyring, text: &str) -> String {
    keys.derive(Keyring::BLOBS).iter().next().map(|key| signature(key, text)).unwrap_or_default()
}

/// Returns whether one of the keys has signed the text.
pub(crate) fn is_signed(keys: &Keyring, text: &str, given: &str) -> bool {
    let keys = keys.derive(Keyring::BLOBS);
    keys.iter().any(|key| signature(key, text).as_bytes().ct_eq(given.as_bytes()).into())
}

fn signature(key: &[u8; 32], text: &str) -> String {
    let Ok(mut mac) = <Hmac<Sha256> as hmac::Mac>::new_from_slice(key) else {
        // HMAC takes keys of any length.
        return String::new();
    };
    mac.update(text.as_bytes());
    let bytes = mac.finalize().into_bytes();
    bytes.iter().take(SIGNATURE_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the text that the address of an upload signs.
pub(crate) fn upload_text(id: &str) -> String {
    format!("upload {id}")
}

/// Returns the text that the address of a private file signs.
pub(crate) fn file_text(digest: &str, id: &str, until: u64) -> String {
    format!("file {digest} {id} {until}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_signed_text_has_the_signature() {
        let (old, new) = (Keyring::generate().unwrap(), Keyring::generate().unwrap());
        let keys = Keyring::parse(&old).unwrap();
        let signed = sign(&keys, "upload blob_1");
        assert_eq!(signed.len(), 2 * SIGNATURE_BYTES);
        let both = Keyring::parse(&format!("{new},{old}")).unwrap();
        assert!(is_signed(&both, "upload blob_1", &signed));
        assert!(!is_signed(&both, "upload blob_2", &signed));
        assert!(!is_signed(&both, "upload blob_1", ""));
        assert!(!is_signed(&Keyring::parse(&new).unwrap(), "upload blob_1", &signed));
    }
}
