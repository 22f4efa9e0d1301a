//! Cryptography with keys that stay in the host. Each capability has its own keys.
//!
//! ```no_run
//! use portolan_sdk::{prelude::*, secrets};
//!
//! fn ticket(seat: &str) -> Result<Vec<u8>, Refusal> {
//!     Ok(secrets::seal(seat.as_bytes())?)
//! }
//!
//! fn seat(ticket: &[u8]) -> Result<String, Refusal> {
//!     let seat = secrets::open(ticket)?
//!         .ok_or_else(|| Refusal::common(ErrorCode::NotPermitted, "This ticket is not genuine."))?;
//!     Ok(String::from_utf8_lossy(&seat).into_owned())
//! }
//! ```

use crate::contract::{HostError, secrets as host};

/// Returns the HMAC-SHA-256 of the data under the newest key, 32 bytes. To check one, use
/// [`is_mac`].
pub fn mac(data: &[u8]) -> Result<Vec<u8>, HostError> {
    host::mac(data)
}

/// Returns whether `claimed` is the [`mac`] of the data under any of the keys. The comparison takes
/// constant time.
pub fn is_mac(data: &[u8], claimed: &[u8]) -> Result<bool, HostError> {
    Ok(host::macs(data)?.iter().any(|mac| same(mac, claimed)))
}

/// Returns the [`mac`] under every key, the newest first, to look up what was stored under an older
/// key.
pub fn macs(data: &[u8]) -> Result<Vec<Vec<u8>>, HostError> {
    host::macs(data)
}

/// Encrypts and authenticates the data for this capability only.
pub fn seal(data: &[u8]) -> Result<Vec<u8>, HostError> {
    host::seal(data)
}

/// Decrypts what [`seal`] returned. Returns `None` if it was changed or if none of this
/// capability's keys sealed it.
pub fn open(sealed: &[u8]) -> Result<Option<Vec<u8>>, HostError> {
    match host::open(sealed) {
        Ok(data) => Ok(Some(data)),
        Err(HostError::Invalid(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |found, (one, other)| found | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn only_the_same_bytes_are_the_same() {
        assert!(same(&[1, 2], &[1, 2]));
        assert!(!same(&[1, 2], &[1, 3]));
        assert!(!same(&[1, 2], &[1]));
        assert!(!same(&[], &[1]));
    }
}
