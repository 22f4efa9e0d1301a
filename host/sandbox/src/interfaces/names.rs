//! The form of names that components choose.

use crate::{contract::types::HostError, interfaces::reply::Answer};

const NAME_BYTES: usize = 128;

/// Ensures that the length and the characters of a name are permitted; `label` is the subject of the
/// error's sentence.
pub(super) fn ensure_name(label: &str, name: &str) -> Answer<()> {
    if name.is_empty() || name.len() > NAME_BYTES || name.contains(char::is_control) {
        let text = format!("{label} must have 1 to {NAME_BYTES} bytes and no control characters");
        return Err(HostError::Invalid(text));
    }
    Ok(())
}
