//! A document taken apart: what it says of itself, and its records, each as the text that it is. Of a
//! document of many thousand records no more than one need be a tree in memory then.

use crate::record::FEEDS;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, MapAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::{Map, Value, value::RawValue};
use std::{borrow::Borrow, fmt};

/// Where records are that no feed describes: those of the index.
const ITEMS: &str = "items";
/// What most documents say of themselves takes less.
const HEAD_BYTES: usize = 4096;

/// The field of a document that its records are in.
pub fn records_of(file: &str) -> &'static str {
    FEEDS.iter().find(|feed| feed.file == file).map_or(ITEMS, |feed| feed.records)
}

/// A document, taken apart.
#[derive(Debug)]
pub struct Parts<'a> {
    /// An object with every field; a list of as many nulls stands for the records.
    pub head: Value,
    pub records: Vec<&'a RawValue>,
}

impl<'a> Parts<'a> {
    /// Of the bytes of the document in this file.
    pub fn of(file: &str, bytes: &'a [u8]) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let parts = TakenApart(records_of(file)).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(parts)
    }
}

/// With the name of the field that the records are in.
struct TakenApart(&'static str);

impl<'de> DeserializeSeed<'de> for TakenApart {
    type Value = Parts<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Parts<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TakenApart {
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

/// Puts a document together: the fields of `head`, with these records in their place.
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
    // A buffer that grows by itself would be there twice for a moment.
    let length: usize = records.iter().map(|record| record.borrow().get().len() + 1).sum();
    let mut bytes = Vec::with_capacity(length + HEAD_BYTES);
    serde_json::to_writer(&mut bytes, &Together(records_of(file), head, records))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What a record is known by; empty if it is not.
pub fn id_of(record: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Known {
        id: String,
    }
    serde_json::from_str(record.get()).map_or_else(|_| String::new(), |it: Known| it.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "sf-live-targets.json";

    #[test]
    fn what_is_taken_apart_can_be_put_together() {
        let text = "{\"type\":\"FeatureCollection\",\"features\":[{\"id\":\"a\", \"x\":1},{\"id\":\"b\"}],\"_meta\":{}}\n";
        let parts = Parts::of(FILE, text.as_bytes()).unwrap();
        assert_eq!(parts.records.iter().map(|it| id_of(it)).collect::<Vec<_>>(), ["a", "b"]);
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
