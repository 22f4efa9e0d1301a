//! The keys of recordings: one for each person and agent, and one for each day for calls that name nobody.

use portolan_vocabulary::{Keyring, Timestamp, entropy, sealed};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeSet,
    io::{self, Read as _, Write as _},
};
use zeroize::Zeroizing;

use flate2::{Compression, read::GzDecoder, write::GzEncoder};

/// The beginning of the name of a key for the calls of a day that name nobody.
pub(super) const DAY: &str = "day:";

/// The key that seals one recording.
pub(super) type ContentKey = Zeroizing<[u8; 32]>;

/// Returns the names of the keys that seal a recording of a call at `at` about these people and agents.
pub(super) fn key_names(people: &BTreeSet<String>, at: Timestamp) -> Vec<String> {
    match people.is_empty() {
        true => vec![format!("{DAY}{}", at.day())],
        false => people.iter().cloned().collect(),
    }
}

/// Makes a new key, sealed by the newest of the host's keys.
pub(super) fn new_key(keyring: &Keyring, name: &str) -> Option<Vec<u8>> {
    let key: Zeroizing<[u8; 32]> = Zeroizing::new(entropy());
    sealed::seal(&keyring.derive_for(name, Keyring::RECORDINGS), entropy(), &key[..])
}

/// Returns the key of a recording, which needs all of these sealed keys with their names; `None` if one cannot be
/// opened.
pub(super) fn content_key(keyring: &Keyring, keys: &[(String, Vec<u8>)]) -> Option<ContentKey> {
    let mut hash = Sha256::new_with_prefix(b"recording");
    for (name, key) in keys {
        let opened = sealed::open(&keyring.derive_for(name, Keyring::RECORDINGS), key)?;
        hash.update(Zeroizing::new(opened).as_slice());
    }
    (!keys.is_empty()).then(|| Zeroizing::new(hash.finalize().into()))
}

pub(super) fn seal_content(key: &ContentKey, content: &[u8]) -> Option<Vec<u8>> {
    sealed::seal(&[**key], entropy(), content)
}

/// Returns the content of a recording; `None` if this key has not sealed it or it is damaged.
pub(super) fn open_content(key: &ContentKey, content: &[u8]) -> Option<Vec<u8>> {
    let compressed = sealed::open(&[**key], content)?;
    let mut text = Vec::new();
    GzDecoder::new(compressed.as_slice()).read_to_end(&mut text).ok()?;
    Some(text)
}

pub(super) fn compress(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_needs_the_keys_of_all_people_in_it() {
        let keyring = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let key = |name: &str| (name.to_owned(), new_key(&keyring, name).unwrap());
        let (one, other) = (key("own_1"), key("own_2"));
        let both = content_key(&keyring, &[one.clone(), other.clone()]).unwrap();
        let sealed = seal_content(&both, &compress(b"a call").unwrap()).unwrap();
        assert_eq!(open_content(&both, &sealed).unwrap(), b"a call");
        for keys in [vec![one.clone()], vec![other.clone()], vec![other, one]] {
            let key = content_key(&keyring, &keys).unwrap();
            assert_eq!(open_content(&key, &sealed), None);
        }
        assert!(content_key(&keyring, &[]).is_none());
    }

    #[test]
    fn a_call_that_names_nobody_has_the_key_of_its_day() {
        let at = Timestamp::from_millis(1_767_225_600_000);
        assert_eq!(key_names(&BTreeSet::new(), at), [format!("day:{}", at.day())]);
        let agents = BTreeSet::from(["agt_1".to_owned()]);
        assert_eq!(key_names(&agents, at), ["agt_1"]);
        let people = BTreeSet::from(["own_2".to_owned(), "agt_1".to_owned(), "own_1".to_owned()]);
        assert_eq!(key_names(&people, at), ["agt_1", "own_1", "own_2"]);
    }
}
