//! Cursors: a position in an answer, authenticated so that only the same query can continue from
//! it.

use super::{Placed, SortValue};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

const TAG: usize = 16;
const KEY: u8 = 0;
const NUMBER: u8 = 1;

/// The error for a cursor that this host did not make, or that belongs to another query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one of this query: use the next of its last page, unchanged")]
pub struct CursorInvalid;

/// Returns the cursor with which the query of this digest continues after the document at this
/// position.
pub fn seal(key: &[u8; 32], digest: &[u8; 32], placed: &Placed) -> String {
    let mut bytes = encode(placed);
    let tag = mac(key, digest, &bytes).finalize().into_bytes();
    bytes.extend(tag.iter().take(TAG));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the position in a cursor. Fails unless one of these keys authenticated the cursor for
/// the query of this digest and the position has a value for each of the query's sort keys
/// (`orders`).
pub fn open(
    keys: &[[u8; 32]],
    digest: &[u8; 32],
    text: &str,
    orders: usize,
) -> Result<Placed, CursorInvalid> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorInvalid)?;
    let (payload, tag) = bytes.split_last_chunk::<TAG>().ok_or(CursorInvalid)?;
    let genuine =
        keys.iter().any(|key| mac(key, digest, payload).verify_truncated_left(tag).is_ok());
    let placed = genuine.then(|| decode(payload)).flatten().ok_or(CursorInvalid)?;
    if placed.sort.len() == orders { Ok(placed) } else { Err(CursorInvalid) }
}

fn mac(key: &[u8; 32], digest: &[u8; 32], payload: &[u8]) -> Hmac<Sha256> {
    // HMAC pads a short key with zeros to the hash's block. `new` takes a key of exactly that
    // length and, unlike `new_from_slice`, cannot fail.
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let mut mac = <Hmac<Sha256> as hmac::Mac>::new(&block.into());
    mac.update(digest);
    mac.update(payload);
    mac
}

/// Encodes the number of values, the values, and the id as the rest.
fn encode(placed: &Placed) -> Vec<u8> {
    let mut bytes = (placed.sort.len() as u32).to_be_bytes().to_vec();
    for value in &placed.sort {
        match value {
            SortValue::Key(key) => {
                bytes.push(KEY);
                bytes.extend((key.len() as u32).to_be_bytes());
                bytes.extend(key.as_bytes());
            }
            SortValue::Number(number) => {
                bytes.push(NUMBER);
                bytes.extend(number.to_bits().to_be_bytes());
            }
        }
    }
    bytes.extend(placed.id.as_bytes());
    bytes
}

fn decode(payload: &[u8]) -> Option<Placed> {
    let (count, mut rest) = take_u32(payload)?;
    let mut sort = Vec::new();
    for _ in 0..count {
        let (kind, after) = rest.split_first()?;
        let (value, after) = match *kind {
            KEY => {
                let (length, after) = take_u32(after)?;
                let (key, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
                (SortValue::Key(String::from_utf8(key.to_vec()).ok()?), after)
            }
            NUMBER => {
                let (bits, after) = after.split_first_chunk()?;
                (SortValue::Number(f64::from_bits(u64::from_be_bytes(*bits))), after)
            }
            _ => return None,
        };
        sort.push(value);
        rest = after;
    }
    Some(Placed { sort, id: String::from_utf8(rest.to_vec()).ok()? })
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEYS: [[u8; 32]; 2] = [[1; 32], [2; 32]];
    const DIGEST: [u8; 32] = [7; 32];

    fn placed() -> Placed {
        let sort = vec![SortValue::Key("3äb".to_owned()), SortValue::Number(0.1)];
        Placed { sort, id: "note-1".to_owned() }
    }

    #[test]
    fn a_cursor_is_authenticated_by_hmac_sha_256() {
        let text = seal(&KEYS[0], &DIGEST, &placed());
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        let (payload, tag) = bytes.split_last_chunk::<16>().unwrap();
        let mut other = Hmac::<Sha256>::new_from_slice(&KEYS[0]).unwrap();
        other.update(&DIGEST);
        other.update(payload);
        assert_eq!(other.finalize().into_bytes()[..16], *tag);
    }

    #[test]
    fn any_of_the_keys_opens_and_no_other() {
        let text = seal(&KEYS[1], &DIGEST, &placed());
        assert_eq!(open(&KEYS, &DIGEST, &text, 2), Ok(placed()));
        assert_eq!(open(&KEYS[..1], &DIGEST, &text, 2), Err(CursorInvalid));
        assert_eq!(open(&[], &DIGEST, &text, 2), Err(CursorInvalid));
    }

    #[test]
    fn another_query_s_cursor_is_refused() {
        let text = seal(&KEYS[0], &DIGEST, &placed());
        assert_eq!(open(&KEYS, &[8; 32], &text, 2), Err(CursorInvalid));
        assert_eq!(open(&KEYS, &DIGEST, &text, 1), Err(CursorInvalid));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let text = seal(&KEYS[0], &DIGEST, &placed());
        for length in 0..text.len() {
            assert_eq!(open(&KEYS, &DIGEST, &text[..length], 2), Err(CursorInvalid));
        }
        for wrong in
            [format!("{text}="), format!("{text}A"), format!("{text}AAAA"), format!(" {text}")]
        {
            assert_eq!(open(&KEYS, &DIGEST, &wrong, 2), Err(CursorInvalid));
        }
    }

    fn places() -> impl Strategy<Value = Placed> {
        let value = prop_oneof![
            any::<String>().prop_map(SortValue::Key),
            any::<u64>().prop_map(|bits| SortValue::Number(f64::from_bits(bits))),
            Just(SortValue::Number(-0.0)),
        ];
        (prop::collection::vec(value, 0..5), any::<String>())
            .prop_map(|(sort, id)| Placed { sort, id })
    }

    proptest! {
        #[test]
        fn cursors_come_back_to_the_bit(placed in places()) {
            let text = seal(&KEYS[0], &DIGEST, &placed);
            let opened = open(&KEYS, &DIGEST, &text, placed.sort.len()).unwrap();
            // Bytes, because a NaN is not equal to itself.
            prop_assert_eq!(encode(&opened), encode(&placed));
            prop_assert_eq!(opened.id, placed.id);
        }

        #[test]
        fn any_changed_byte_is_refused(
            placed in places(), at in any::<prop::sample::Index>(), flip in 1_u8..,
        ) {
            let mut bytes = URL_SAFE_NO_PAD.decode(seal(&KEYS[0], &DIGEST, &placed)).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let text = URL_SAFE_NO_PAD.encode(bytes);
            prop_assert_eq!(open(&KEYS, &DIGEST, &text, placed.sort.len()), Err(CursorInvalid));
        }

        #[test]
        fn any_text_is_refused(text in any::<String>(), letters in "[A-Za-z0-9_-]{0,80}") {
            for text in [text, letters] {
                prop_assert_eq!(open(&KEYS, &DIGEST, &text, 0), Err(CursorInvalid));
            }
        }

        #[test]
        fn any_payload_decodes_or_not(payload in any::<Vec<u8>>()) {
            if let Some(placed) = decode(&payload) {
                prop_assert_eq!(encode(&placed), payload);
            }
        }
    }
}
