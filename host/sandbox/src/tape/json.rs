//! Arguments and answers as JSON: bounded while they are written, or only a keyed digest of them.

use hmac::{Hmac, Mac as _};
use portolan_vocabulary::to_hex;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use sha2::Sha256;
use std::io::{self, Write};

/// Text of at most `limit` bytes. Writing more fails.
struct Bounded {
    text: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.limit.saturating_sub(self.text.len()) {
            return Err(io::Error::other("too long"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A digest of what is written.
struct Keyed(Hmac<Sha256>);

impl Write for Keyed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a value as JSON; `None` if it takes more than `limit` bytes, or is what JSON cannot have.
pub(crate) fn as_json(value: &impl Serialize, limit: usize) -> Option<Box<RawValue>> {
    let mut written = Bounded { text: Vec::new(), limit };
    serde_json::to_writer(&mut written, value).ok()?;
    RawValue::from_string(String::from_utf8(written.text).ok()?).ok()
}

/// Returns the digest of a value under a key, as JSON: the text `hmac-sha256:` with hexadecimal digits. It differs
/// for each `about`, so that equal values of two calls have different digests.
pub(crate) fn as_keyed_digest(
    value: &impl Serialize,
    key: &[u8; 32],
    about: [&str; 2],
) -> Option<Box<RawValue>> {
    let mut digest = Keyed(<Hmac<Sha256> as hmac::Mac>::new_from_slice(key).ok()?);
    for part in about {
        digest.0.update(part.as_bytes());
        digest.0.update(&[0]);
    }
    serde_json::to_writer(&mut digest, value).ok()?;
    to_raw_value(&format!("hmac-sha256:{}", to_hex(&digest.0.finalize().into_bytes()))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_too_long_is_not_written_whole() {
        struct Endless;
        impl Serialize for Endless {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(std::iter::repeat("more"))
            }
        }
        assert!(as_json(&Endless, 1000).is_none());
        assert_eq!(as_json(&["a", "b"], 9).unwrap().get(), r#"["a","b"]"#);
        assert!(as_json(&["a", "b"], 8).is_none());
    }

    #[test]
    fn a_digest_needs_the_key_and_belongs_to_one_call() {
        let code = ["+16135550123", "123456"];
        let digest = |key: u8, request: &str| {
            let about = [request, "sms.send"];
            as_keyed_digest(&code, &[key; 32], about).unwrap().get().to_owned()
        };
        assert_eq!(digest(1, "req_1"), digest(1, "req_1"));
        assert_ne!(digest(1, "req_1"), digest(2, "req_1"));
        assert_ne!(digest(1, "req_1"), digest(1, "req_2"));
    }
}
