//! Texts that are compressed in memory.

use flate2::{Compression, bufread::DeflateDecoder, write::DeflateEncoder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{
    fmt,
    io::{Read as _, Write as _},
    sync::Arc,
};

/// A text that is compressed in memory, and shared by its copies: a build holds the descriptions of all roles.
/// It is serialized as the text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Packed {
    deflated: Arc<[u8]>,
    length: usize,
}

impl Packed {
    /// Returns the bytes of the text.
    pub const fn len(&self) -> usize {
        self.length
    }

    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.length);
        if !self.is_empty() {
            // What was compressed in this process can be read.
            let _length = DeflateDecoder::new(&*self.deflated).read_to_string(&mut text);
        }
        text
    }
}

impl From<String> for Packed {
    fn from(text: String) -> Self {
        if text.is_empty() {
            return Self::default();
        }
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        // Writing to a vector does not fail.
        let deflated = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
        Self { deflated: deflated.unwrap_or_default().into(), length: text.len() }
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(formatter)
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_text_is_the_same_and_smaller() {
        for text in ["", "a", "Bygg & kör.\n東京"] {
            let packed = Packed::from(text.to_owned());
            assert_eq!((packed.text().as_str(), packed.len()), (text, text.len()));
            let json = serde_json::to_string(&packed).unwrap();
            assert_eq!(json, serde_json::to_string(text).unwrap());
            assert_eq!(serde_json::from_str::<Packed>(&json).unwrap(), packed);
        }
        let packed = Packed::from("Build and run robots. ".repeat(400));
        assert!(packed.deflated.len() * 20 < packed.len());
    }
}
