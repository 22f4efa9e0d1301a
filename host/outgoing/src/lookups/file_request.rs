//! The request for a file that changes, and its sealed form in the database.

use crate::lookups::{error::FILE_ADDRESS_BYTES, request::is_page};
use portolan_vocabulary::{Keyring, from_hex, sealed, to_hex};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The maximum numbers of media types, and of bytes of each and of a validator.
const MEDIA_TYPES: usize = 4;
const MEDIA_TYPE_BYTES: usize = 64;
const VALIDATOR_BYTES: usize = 256;

/// A file to read, and the validators of the one that the component has.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRequest {
    /// An https address, which is a secret.
    pub url: String,
    pub media_types: Vec<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// The look-up of a file as it is stored: `lookup_id`, and the rest sealed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileLookup {
    pub file: FileRequest,
    /// The component's own data, which its action gets back.
    pub about: Value,
}

/// Returns whether a text is an address by which a file may be requested.
pub fn is_file_address(address: &str) -> bool {
    address.len() <= FILE_ADDRESS_BYTES && is_page(address)
}

/// Returns whether a text is a validator that a request may have: printable ASCII of a bounded length.
pub(super) fn is_validator(text: &str) -> bool {
    text.len() <= VALIDATOR_BYTES && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[derive(Serialize, Deserialize)]
struct Stored {
    lookup_id: String,
    sealed: String,
}

// The address is not printed.
impl fmt::Debug for FileRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FileRequest").finish_non_exhaustive()
    }
}

impl FileRequest {
    /// Returns whether it asks only for a newer file.
    pub fn is_conditional(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }

    /// Returns why its parts besides the address are invalid, if they are.
    pub fn fault(&self) -> Option<&'static str> {
        let is_type = |text: &String| {
            let is_token = |part: &str| {
                let is_sound =
                    |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
                !part.is_empty() && part.bytes().all(is_sound)
            };
            text.len() <= MEDIA_TYPE_BYTES
                && text.split_once('/').is_some_and(|(one, other)| is_token(one) && is_token(other))
        };
        if !(1..=MEDIA_TYPES).contains(&self.media_types.len())
            || !self.media_types.iter().all(is_type)
        {
            return Some("give 1 to 4 media types, such as text/calendar");
        }
        let validators = [&self.etag, &self.last_modified];
        let is_sound = validators.into_iter().flatten().all(|text| is_validator(text));
        (!is_sound).then_some("a validator is not one that an answer had")
    }
}

impl FileLookup {
    /// Returns the stored form. `random` is the call's randomness. Returns `None` if sealing fails.
    pub fn seal(&self, lookup_id: &str, keys: &Keyring, random: [u8; 32]) -> Option<String> {
        let plain = serde_json::to_vec(self).ok()?;
        let sealed = sealed::seal(&keys.derive(Keyring::LOOKUPS), random, &plain)?;
        let stored = Stored { lookup_id: lookup_id.to_owned(), sealed: to_hex(&sealed) };
        serde_json::to_string(&stored).ok()
    }

    /// Returns the id of a stored look-up, and the look-up, which is `None` if none of these keys opens it. Returns
    /// `None` if the text is not a sealed look-up.
    pub fn open(stored: &str, keys: &Keyring) -> Option<(String, Option<Self>)> {
        let Stored { lookup_id, sealed } = serde_json::from_str(stored).ok()?;
        let plain = from_hex(&sealed)
            .and_then(|sealed| sealed::open(&keys.derive(Keyring::LOOKUPS), &sealed));
        Some((lookup_id, plain.and_then(|plain| serde_json::from_slice(&plain).ok())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request() -> FileRequest {
        FileRequest {
            url: "https://calendar.example/secret.ics".to_owned(),
            media_types: vec!["text/calendar".to_owned()],
            etag: Some("\"a\"".to_owned()),
            last_modified: None,
        }
    }

    #[test]
    fn a_stored_look_up_does_not_show_its_address() {
        let keys = || Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let own = keys();
        let lookup = FileLookup { file: request(), about: json!({ "n": 1 }) };
        let stored = lookup.seal("lkp_1", &own, [7; 32]).unwrap();
        assert!(!stored.contains("calendar.example") && !stored.contains("secret"), "{stored}");
        let opened = FileLookup::open(&stored, &own);
        assert_eq!(opened, Some(("lkp_1".to_owned(), Some(lookup))));
        assert_eq!(FileLookup::open(&stored, &keys()), Some(("lkp_1".to_owned(), None)));
        assert_eq!(FileLookup::open(r#"{"lookup_id":"lkp_1","question":{}}"#, &own), None);
        assert!(!format!("{:?}", request()).contains("secret"));
    }

    #[test]
    fn the_address_of_a_file_is_bounded() {
        let address = |length: usize| {
            let start = "https://calendar.example/";
            format!("{start}{}", "a".repeat(length - start.len()))
        };
        assert!(is_file_address(&address(FILE_ADDRESS_BYTES)));
        assert!(!is_file_address(&address(FILE_ADDRESS_BYTES + 1)));
        assert!(!is_file_address("http://calendar.example/"));
    }

    #[test]
    fn parts_of_a_request_are_bounded() {
        assert_eq!(request().fault(), None);
        let with = |media_types: &[&str], etag: &str| {
            let media_types = media_types.iter().map(|&text| text.to_owned()).collect();
            FileRequest { media_types, etag: Some(etag.to_owned()), ..request() }.fault()
        };
        assert!(with(&[], "").is_some());
        assert!(with(&["calendar"], "").is_some());
        assert!(with(&["text/calendar\r\nx:y"], "").is_some());
        assert!(with(&["a/b"; 5], "").is_some());
        assert!(with(&["a/b"], "a\nb").is_some());
        assert!(with(&["a/b"], "a\tb").is_some());
        assert!(with(&["a/b"], &"a".repeat(257)).is_some());
    }
}
