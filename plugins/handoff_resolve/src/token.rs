//! Tokens that only this host can make: their content in base64url (RFC 4648, section 5), a dot,
//! and its HMAC-SHA-256. They contain no personal data.

use crate::types::{HandoffError, Result, TTL_S};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_sdk::{prelude::*, secrets};

/// The version of the signed format.
const VERSION: u8 = 1;
const NONCE_BYTES: u32 = 16;

/// The content of a token.
#[document(PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    v: u8,
    /// The id of the contract.
    pub(crate) hof: String,
    pub(crate) record_id: String,
    /// The entity tag of the publication from which it was made.
    pub(crate) feed_etag: String,
    pub(crate) nonce: String,
    /// When it expires, in seconds since the Unix epoch.
    pub(crate) exp: u64,
}

impl Token {
    /// Makes a token that is valid once, for `TTL_S` seconds.
    pub(crate) fn new(call: &Call, hof: &str, record_id: &str, feed_etag: String) -> Self {
        Self {
            v: VERSION,
            hof: hof.to_owned(),
            record_id: record_id.to_owned(),
            feed_etag,
            nonce: URL_SAFE_NO_PAD.encode(call.random(NONCE_BYTES)),
            exp: call.now() / 1000 + TTL_S,
        }
    }

    /// Signs the token. `host` is the address of this host: a token of another host is refused like
    /// a forged one. A token of the other mode is refused too, because that mode does not know
    /// which tokens were redeemed here.
    pub(crate) fn sign(&self, call: &Call, host: &str) -> Result<String, HostError> {
        let payload = URL_SAFE_NO_PAD.encode(portolan_sdk::to_json(self));
        let mac = URL_SAFE_NO_PAD.encode(secrets::mac(&signed(call, host, &payload))?);
        Ok(format!("{payload}.{mac}"))
    }

    /// Verifies a token that this host made within the last 15 minutes, and returns its content.
    pub(crate) fn read(call: &Call, host: &str, text: &str) -> Result<Self> {
        const FORGED: HandoffError = HandoffError::HandoffSignatureInvalid;
        let (payload, mac) = text.split_once('.').ok_or(FORGED)?;
        let mac = URL_SAFE_NO_PAD.decode(mac).map_err(|_| FORGED)?;
        if !secrets::is_mac(&signed(call, host, payload), &mac)? {
            return Err(FORGED);
        }
        let token = parse(payload).ok_or(FORGED)?;
        match token.exp > call.now() / 1000 {
            true => Ok(token),
            false => {
                let Self { hof: handoff_id, record_id, .. } = token;
                Err(HandoffError::HandoffExpired { handoff_id, record_id })
            }
        }
    }
}

fn signed(call: &Call, host: &str, payload: &str) -> Vec<u8> {
    let mode = if call.test_mode() { "\ntest" } else { "" };
    format!("{host}{mode}\n{payload}").into_bytes()
}

fn parse(payload: &str) -> Option<Token> {
    let bytes = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let token: Token = serde_json::from_slice(&bytes).ok()?;
    (token.v == VERSION).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_version_is_read() {
        let token = |v| Token {
            v,
            hof: "hof_1".to_owned(),
            record_id: "rol_1".to_owned(),
            feed_etag: "p1".to_owned(),
            nonce: "n".to_owned(),
            exp: 1,
        };
        let payload = |token: &Token| URL_SAFE_NO_PAD.encode(portolan_sdk::to_json(token));
        assert_eq!(parse(&payload(&token(VERSION))), Some(token(VERSION)));
        assert_eq!(parse(&payload(&token(2))), None);
        assert_eq!(parse("e30"), None);
        assert_eq!(parse("not base64!"), None);
    }
}
