//! The declaration of a collection: its stored text, and its shape.

use super::{Path, Shape, ShapeError};
use portolan_vocabulary::{self as vocabulary, Geo, Index};
use serde_json::{Map, Value, json};

/// The version of the word index: with a new number, existing documents are indexed again.
const WORDS: u8 = 3;

/// Returns the canonical text of a declaration, which is stored.
pub(crate) fn declaration_text(declaration: &vocabulary::Collection) -> String {
    let indexes = declaration.indexes.iter();
    let mut kept = Map::from_iter([
        (
            "indexes".to_owned(),
            indexes.map(|index| json!([index.paths, index.unique])).collect::<Vec<_>>().into(),
        ),
        ("text".to_owned(), json!(declaration.text)),
        (
            "geo".to_owned(),
            json!(declaration.geo.as_ref().map(|geo| [&geo.latitude, &geo.longitude])),
        ),
    ]);
    if !declaration.text.is_empty() {
        kept.insert("words".to_owned(), json!(WORDS));
    }
    Value::Object(kept).to_string()
}

/// Parses the stored text of a declaration.
pub(crate) fn declaration(text: &str) -> Option<vocabulary::Collection> {
    let value: Value = serde_json::from_str(text).ok()?;
    let texts = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let index = |value: &Value| {
        let (paths, unique) = (texts(value.get(0)?)?, value.get(1)?.as_bool()?);
        Some(Index { name: String::new(), paths, unique })
    };
    let geo = match texts(value.get("geo")?).as_deref() {
        Some([latitude, longitude]) => {
            Some(Geo { latitude: latitude.clone(), longitude: longitude.clone() })
        }
        _ => None,
    };
    Some(vocabulary::Collection {
        name: String::new(),
        indexes: value.get("indexes")?.as_array()?.iter().map(index).collect::<Option<_>>()?,
        text: texts(value.get("text")?)?,
        geo,
        version: 1,
        people: None,
    })
}

/// Returns the shape of a declaration. Texts that are not paths are left out, because the catalog
/// refuses them with a better message.
pub fn shape(declaration: &vocabulary::Collection) -> Result<Shape, ShapeError> {
    let parse = |paths: &[String]| paths.iter().filter_map(|path| Path::parse(path)).collect();
    let indexes = &declaration.indexes;
    let uniques = indexes.iter().filter(|index| index.unique).map(|index| parse(&index.paths));
    let geo = declaration.geo.as_ref();
    Shape::new(
        indexes
            .iter()
            .flat_map(|index| &index.paths)
            .filter_map(|path| Path::parse(path))
            .collect(),
        uniques.collect(),
        parse(&declaration.text),
        geo.and_then(|geo| Some((Path::parse(&geo.latitude)?, Path::parse(&geo.longitude)?))),
    )
}
