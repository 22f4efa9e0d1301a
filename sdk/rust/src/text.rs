//! Texts of inputs, bounded by their types.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, ops::Deref};

/// A text of `LEAST` to `MOST` characters, as the type of an input's field: the host refuses other
/// texts. The type derefs to `&str` and becomes a `String` with `.into()`.
///
/// ```
/// use portolan_sdk::prelude::*;
///
/// #[input]
/// struct Rename {
///     /// The new name.
///     name: Text<2, 80>,
/// }
///
/// let schema = portolan_sdk::to_value(&schemars::schema_for!(Rename));
/// assert_eq!(schema["properties"]["name"]["maxLength"], 80);
/// let input = Rename { name: "Momo".into() };
/// assert_eq!((input.name.len(), String::from(input.name)), (4, "Momo".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text<const LEAST: u32, const MOST: u32>(String);

impl<const LEAST: u32, const MOST: u32> JsonSchema for Text<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text_{LEAST}_{MOST}").into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": LEAST, "maxLength": MOST })
    }
}

impl<const LEAST: u32, const MOST: u32> Deref for Text<LEAST, MOST> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const LEAST: u32, const MOST: u32> From<String> for Text<LEAST, MOST> {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl<const LEAST: u32, const MOST: u32> From<&str> for Text<LEAST, MOST> {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<const LEAST: u32, const MOST: u32> From<Text<LEAST, MOST>> for String {
    fn from(text: Text<LEAST, MOST>) -> Self {
        text.0
    }
}
