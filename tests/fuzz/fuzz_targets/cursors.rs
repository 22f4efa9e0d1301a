//! Cursors: any text, and any content behind a valid tag.
#![no_main]

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac as _};
use libfuzzer_sys::fuzz_target;
use portolan_query::{CursorInvalid, cursor};
use sha2::Sha256;

const KEY: [u8; 32] = [7; 32];
const DIGEST: [u8; 32] = [9; 32];
const TAG: usize = 16;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        for orders in 0..3 {
            assert_eq!(cursor::open(&[KEY], &DIGEST, text, orders), Err(CursorInvalid));
        }
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).unwrap();
    mac.update(&DIGEST);
    mac.update(data);
    let tag = mac.finalize().into_bytes();
    let text = URL_SAFE_NO_PAD.encode([data, &tag[..TAG]].concat());
    for orders in 0..5 {
        if let Ok(placed) = cursor::open(&[KEY], &DIGEST, &text, orders) {
            assert_eq!(placed.sort.len(), orders);
            assert_eq!(cursor::seal(&KEY, &DIGEST, &placed), text);
        }
    }
});
