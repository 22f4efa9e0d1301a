//! The text that proves a domain, and where it is looked for.

use crate::types::{About, Method, Verification};
use people_kit::hex;
use portolan_sdk::{lookups, prelude::*, secrets};

const NAME: &str = "_portolan-challenge";
const PATH: &str = ".well-known/portolan-verification.txt";
/// The bytes of the signature in the text: 160 bits.
const TOKEN_BYTES: usize = 20;

/// Returns the text, which nobody else can make: it is bound to the person, the record, its domain
/// and this challenge.
pub(crate) fn text(id: &str, it: &Verification) -> Result<String, HostError> {
    Ok(challenge_text(&secrets::mac(bound(id, it).as_bytes())?))
}

/// Returns whether the challenge text is among the texts that were found. The text is computed with
/// every key of the host, because the operator may have changed the key since the text was issued.
pub(crate) fn is_among(found: &[String], id: &str, it: &Verification) -> Result<bool, HostError> {
    let macs = secrets::macs(bound(id, it).as_bytes())?;
    let texts: Vec<String> = macs.iter().map(|mac| challenge_text(mac)).collect();
    let mut said = found.iter().flat_map(|text| said(it.method, text));
    Ok(said.any(|line| texts.iter().any(|text| text == line)))
}

fn bound(id: &str, it: &Verification) -> String {
    format!("{id}\n{}\n{}\n{}\n{}", it.owner_id, it.subject_id, it.domain, it.challenge)
}

fn challenge_text(mac: &[u8]) -> String {
    format!("portolan-verification={}", hex::encode(mac.get(..TOKEN_BYTES).unwrap_or(mac)))
}

/// Returns the texts of an answer: a TXT record is one text, a file has one on each line.
fn said(method: Method, text: &str) -> Vec<&str> {
    match method {
        Method::DnsTxt => vec![text.trim()],
        Method::WellKnownFile => text.lines().map(str::trim).collect(),
    }
}

/// Returns where the text is looked for.
pub(crate) fn place(it: &Verification) -> String {
    match it.method {
        Method::DnsTxt => format!("{NAME}.{}", it.domain),
        Method::WellKnownFile => format!("https://{}/{PATH}", it.domain),
    }
}

/// Requests the look-up; its answer is delivered to `on_answer`.
pub(crate) fn look(id: &str, it: &Verification) -> Result<String, HostError> {
    let about = About::of(id, it);
    match it.method {
        Method::DnsTxt => lookups::txt(&place(it), "on_answer", &about),
        Method::WellKnownFile => lookups::page(&place(it), "on_answer", &about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_a_record_of_its_own_or_a_line() {
        assert_eq!(said(Method::DnsTxt, " a\nb "), ["a\nb"]);
        assert_eq!(said(Method::WellKnownFile, "# ours\r\n a \nb"), ["# ours", "a", "b"]);
        let text = format!("portolan-verification={}", "ab".repeat(20));
        assert_eq!(challenge_text(&[0xab; 32]), text);
    }
}
