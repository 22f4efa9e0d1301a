//! The signatures of requests to webhooks: Standard Webhooks 1.0.0, symmetric (`v1`).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

/// The prefix of a secret in its text form.
const PREFIX: &str = "whsec_";
/// The length of a secret.
pub(crate) const SECRET_BYTES: usize = 32;

/// Returns a secret in its text form, as its owner sees it.
pub(crate) fn secret_text(secret: &[u8]) -> String {
    format!("{PREFIX}{}", STANDARD.encode(secret))
}

/// Returns the header `webhook-signature`: one signature with each secret, the newest first. The signed
/// text is the id, the time in seconds and the bytes of the body, with dots between.
pub(crate) fn signatures(secrets: &[Vec<u8>], id: &str, timestamp_s: u64, body: &[u8]) -> String {
    let sign = |secret: &Vec<u8>| -> Option<String> {
        let mut mac = <Hmac<Sha256> as hmac::Mac>::new_from_slice(secret).ok()?;
        mac.update(format!("{id}.{timestamp_s}.").as_bytes());
        mac.update(body);
        Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    };
    secrets.iter().filter_map(sign).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderMap, HeaderValue};

    #[test]
    fn signatures_verify_with_the_standardwebhooks_library() {
        let (old, new) = (vec![1; SECRET_BYTES], vec![2; SECRET_BYTES]);
        let body = br#"{"type":"webhook.test"}"#;
        let now = portolan_vocabulary::Clock::system().now().as_secs();
        let headers = |at: u64, body: &[u8]| {
            let signature = signatures(&[new.clone(), old.clone()], "evt_1", at, body);
            let header = |value: &str| HeaderValue::from_str(value).unwrap();
            HeaderMap::from_iter([
                ("webhook-id".parse().unwrap(), header("evt_1")),
                ("webhook-timestamp".parse().unwrap(), header(&at.to_string())),
                ("webhook-signature".parse().unwrap(), header(&signature)),
            ])
        };
        let verifies = |secret: &[u8], headers: &HeaderMap, body: &[u8]| {
            let webhook = standardwebhooks::Webhook::new(&secret_text(secret)).unwrap();
            webhook.verify(body, headers).is_ok()
        };
        // During a rotation, either secret verifies.
        for secret in [&old, &new] {
            assert!(verifies(secret, &headers(now, body), body));
        }
        assert!(!verifies(&[3; SECRET_BYTES], &headers(now, body), body));
        assert!(!verifies(&new, &headers(now, body), br#"{"type":"webhook.tess"}"#));
        assert!(!verifies(&new, &headers(now - 301, body), body));
    }
}
