//! Signatures and successions of keys in components: any component, and any succession behind a
//! valid signature.
#![no_main]

use ed25519_dalek::{Signer as _, SigningKey};
use libfuzzer_sys::fuzz_target;
use portolan_signing::{Succession, sign, signer};
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

const PREAMBLE: &[u8] = b"\0asm\x0d\0\x01\0";

static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::from_bytes(&[1; 32]));

fuzz_target!(|data: &[u8]| {
    let public = KEY.verifying_key().to_bytes();
    let found = signer(data);
    assert!(!matches!(&found, Ok(Some(signer)) if signer.key == public), "a forged signature");
    if let Ok(signed) = sign(data, &KEY, &Succession::default()) {
        assert_eq!(signer(&signed).unwrap().unwrap().key, public);
        assert_eq!(sign(&signed, &KEY, &Succession::default()), Ok(signed));
    }
    let succession = [PREAMBLE, &section("portolan-succession", data)].concat();
    if let Ok(Some(signer)) = signer(&signed_by_hand(succession)) {
        assert!(signer.predecessors.is_empty(), "forged statements");
    }
});

/// Signs a component whatever it contains.
fn signed_by_hand(component: Vec<u8>) -> Vec<u8> {
    let digest = Sha256::digest(&component);
    let message = [b"portolan component signature v1\0", &digest[..]].concat();
    let public = KEY.verifying_key().to_bytes();
    let content = [&[1][..], &public, &KEY.sign(&message).to_bytes()].concat();
    [component, section("portolan-signature", &content)].concat()
}

/// Returns a custom section.
fn section(name: &str, content: &[u8]) -> Vec<u8> {
    let mut size = 1 + name.len() + content.len();
    let mut section = vec![0];
    while size >= 0x80 {
        section.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    section.extend([size as u8, name.len() as u8]);
    section.extend(name.as_bytes());
    section.extend(content);
    section
}
