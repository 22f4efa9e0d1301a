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
pub(crate) fn text(id: &str, verification: &Verification) -> Result<String, HostError> {
    Ok(challenge_text(&secrets::mac(mac_input(id, verification).as_bytes())?))
}

/// Returns whether the challenge text is among the texts that were found. The text is computed with
/// every key of the host, because the operator may have changed the key since the text was issued.
pub(crate) fn is_among(
    found: &[String],
    id: &str,
    verification: &Verification,
) -> Result<bool, HostError> {
    let macs = secrets::macs(mac_input(id, verification).as_bytes())?;
    let texts: Vec<String> = macs.iter().map(|mac| challenge_text(mac)).collect();
    let mut candidates = found.iter().flat_map(|text| candidates(verification.method, text));
    Ok(candidates.any(|line| texts.iter().any(|text| text == line)))
}

fn mac_input(id: &str, verification: &Verification) -> String {
    format!(
        "{id}\n{}\n{}\n{}\n{}",
        verification.owner_id, verification.subject_id, verification.domain, verification.challenge
    )
}

fn challenge_text(mac: &[u8]) -> String {
    format!("portolan-verification={}", hex::encode(mac.get(..TOKEN_BYTES).unwrap_or(mac)))
}

/// Returns the texts of an answer: a TXT record is one text, a file has one on each line.
fn candidates(method: Method, text: &str) -> Vec<&str> {
    match method {
        Method::DnsTxt => vec![text.trim()],
        Method::WellKnownFile => text.lines().map(str::trim).collect(),
    }
}

/// Returns where the text is looked for.
pub(crate) fn place(verification: &Verification) -> String {
    match verification.method {
        Method::DnsTxt => format!("{NAME}.{}", verification.domain),
        Method::WellKnownFile => format!("https://{}/{PATH}", verification.domain),
    }
}

/// Requests the look-up; its answer is delivered to `on_answer`.
pub(crate) fn request_lookup(id: &str, verification: &Verification) -> Result<String, HostError> {
    let about = About::of(id, verification);
    match verification.method {
        Method::DnsTxt => lookups::txt(&place(verification), "on_answer", &about),
        Method::WellKnownFile => lookups::page(&place(verification), "on_answer", &about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_a_record_of_its_own_or_a_line() {
        assert_eq!(candidates(Method::DnsTxt, " a\nb "), ["a\nb"]);
        assert_eq!(candidates(Method::WellKnownFile, "# ours\r\n a \nb"), ["# ours", "a", "b"]);
        let text = format!("portolan-verification={}", "ab".repeat(20));
        assert_eq!(challenge_text(&[0xab; 32]), text);
    }
}
