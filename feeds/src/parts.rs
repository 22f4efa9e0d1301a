//! A document in parts: its head, which is every field but the records, and each record as raw JSON text.
//! A document of many thousand records can then be processed with one record at a time parsed in memory.

use crate::{identifier::sha256, record::FEEDS};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, MapAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::{Map, Value, value::RawValue};
use std::{borrow::Borrow, collections::BTreeMap, fmt};

/// The field with the records of the index, which is in no entry of `FEEDS`.
const ITEMS: &str = "items";
/// The bytes that are reserved for a head; most heads are smaller.
const HEAD_BYTES: usize = 4096;

/// The bytes of each document, keyed by its file name. The parts of feeds are among them, compressed.
pub type Documents = BTreeMap<String, Vec<u8>>;

/// Returns the ETag of these bytes (RFC 9110, section 8.8.3).
pub fn etag(bytes: &[u8]) -> String {
    let digest = sha256(bytes);
    format!("\"{}\"", digest.get(..32).unwrap_or(&digest))
}

/// Returns the name of the field that holds a document's records.
pub fn records_of(file: &str) -> &'static str {
    FEEDS.iter().find(|feed| feed.file == file).map_or(ITEMS, |feed| feed.records)
}

/// The head and the records of a document.
#[derive(Debug)]
pub struct Parts<'a> {
    /// An object with every field; in place of each record there is a null.
    pub head: Value,
    pub records: Vec<&'a RawValue>,
}

impl<'a> Parts<'a> {
    /// Parses the bytes of the document with this file name.
    pub fn of(file: &str, bytes: &'a [u8]) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let parts = PartsVisitor(records_of(file)).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(parts)
    }
}

/// The visitor that makes the parts; it holds the name of the records' field.
struct PartsVisitor(&'static str);

impl<'de> DeserializeSeed<'de> for PartsVisitor {
    type Value = Parts<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Parts<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Parts<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a document")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut fields: M) -> Result<Parts<'de>, M::Error> {
        let (mut head, mut records) = (Map::new(), Vec::new());
        while let Some(name) = fields.next_key::<String>()? {
            let value = match name == self.0 {
                true => {
                    records = fields.next_value()?;
                    Value::Array(vec![Value::Null; records.len()])
                }
                false => fields.next_value()?,
            };
            head.insert(name, value);
        }
        Ok(Parts { head: Value::Object(head), records })
    }
}

/// Serializes a document: the fields of `head`, with these records in their field.
pub fn together(
    file: &str,
    head: &Value,
    records: &[impl Borrow<RawValue>],
) -> serde_json::Result<Vec<u8>> {
    struct Together<'a, R>(&'static str, &'a Value, &'a [R]);
    impl<R: Borrow<RawValue>> Serialize for Together<'_, R> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let Self(place, head, records) = self;
            let mut map = serializer.serialize_map(None)?;
            for (name, value) in head.as_object().into_iter().flatten() {
                match name == place {
                    true => map.serialize_entry(name, &Listed(records))?,
                    false => map.serialize_entry(name, value)?,
                }
            }
            map.end()
        }
    }
    struct Listed<'a, R>(&'a [R]);
    impl<R: Borrow<RawValue>> Serialize for Listed<'_, R> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.iter().map(Borrow::borrow))
        }
    }
    // The buffer is allocated once: growing it would hold a large document twice in memory.
    let length: usize = records.iter().map(|record| record.borrow().get().len() + 1).sum();
    let mut bytes = Vec::with_capacity(length + HEAD_BYTES);
    serde_json::to_writer(&mut bytes, &Together(records_of(file), head, records))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Returns a record's identifier; an empty text if it has none.
pub fn id_of(record: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Known {
        id: String,
    }
    serde_json::from_str(record.get()).map_or_else(|_| String::new(), |known: Known| known.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "sf-live-targets.json";

    #[test]
    fn a_document_can_be_split_and_joined_again() {
        let text = "{\"type\":\"FeatureCollection\",\"features\":[{\"id\":\"a\", \"x\":1},{\"id\":\"b\"}],\"_meta\":{}}\n";
        let parts = Parts::of(FILE, text.as_bytes()).unwrap();
        assert_eq!(
            parts.records.iter().map(|record| id_of(record)).collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert_eq!(parts.head["features"], serde_json::json!([null, null]));
        let bytes = together(FILE, &parts.head, &parts.records).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), text);
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for text in ["", "[]", "{\"features\":{}}", "{\"features\":[1,]}", "{} {}", "{\"features\""]
        {
            assert!(Parts::of(FILE, text.as_bytes()).is_err(), "{text}");
        }
        assert!(Parts::of(FILE, b"{\"_meta\":1}").unwrap().records.is_empty());
    }
}
