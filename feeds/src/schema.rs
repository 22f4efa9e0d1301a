//! The JSON Schemas of the documents (2020-12). They are files, so that others can use them; a test
//! compares them with the types of the records.

use crate::{
    descriptions,
    document::{INDEX, INDEX_SCHEMA},
    parts::{Parts, records_of},
    record::FEEDS,
};
use jsonschema::Validator;
use schemars::{JsonSchema, generate::SchemaSettings, transform::RestrictFormats};
use serde_json::Value;
use std::{collections::BTreeMap, sync::LazyLock};

/// The file name and the text of each schema, as the host serves them.
pub const SCHEMAS: [(&str, &str); 10] = [
    ("targets.json", include_str!("../schemas/targets.json")),
    ("signals.json", include_str!("../schemas/signals.json")),
    ("questions.json", include_str!("../schemas/questions.json")),
    ("events.json", include_str!("../schemas/events.json")),
    ("roles.json", include_str!("../schemas/roles.json")),
    ("people.json", include_str!("../schemas/people.json")),
    ("social.json", include_str!("../schemas/social.json")),
    ("handoffs.json", include_str!("../schemas/handoffs.json")),
    (INDEX_SCHEMA, include_str!("../schemas/agent-index.schema.json")),
    (descriptions::SCHEMA, include_str!("../schemas/descriptions.json")),
];

/// The validators of a document's head and of each of its records.
struct Validators {
    document: Validator,
    record: Validator,
}

/// The validators by the document's file name.
static VALIDATORS: LazyLock<BTreeMap<&'static str, Validators>> = LazyLock::new(|| {
    let feeds = FEEDS.iter().map(|feed| (feed.file, feed.schema));
    let files = feeds.chain([(INDEX, INDEX_SCHEMA), (descriptions::FOLDER, descriptions::SCHEMA)]);
    files.filter_map(|(file, schema)| Some((file, Validators::new(file, schema)?))).collect()
});

impl Validators {
    fn new(file: &str, schema: &str) -> Option<Self> {
        let (_, text) = SCHEMAS.iter().find(|(name, _)| *name == schema)?;
        let mut document: Value = serde_json::from_str(text).ok()?;
        let definitions = document.get("$defs")?.clone();
        let of_each = document.pointer_mut(&format!("/properties/{}/items", records_of(file)))?;
        let mut record = std::mem::replace(of_each, Value::Bool(true));
        record.as_object_mut()?.insert("$defs".to_owned(), definitions);
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        let build = |schema: &Value| options.build(schema).ok();
        Some(Self { document: build(&document)?, record: build(&record)? })
    }
}

/// Returns the schema of a document, with this title.
pub fn of<T: JsonSchema>(title: &str) -> Value {
    // Formats such as `uint64` are Rust's, and strict validators refuse schemas that have them.
    let settings = SchemaSettings::draft2020_12().with_transform(RestrictFormats::default());
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    // A conversion to `Value` puts the keywords into the usual order.
    serde_json::to_value(schema).unwrap_or_default()
}

/// A place where a document violates its schema.
#[derive(Debug)]
pub struct Violation {
    /// The position of the record; `None` if it is in the head.
    pub record: Option<usize>,
    /// The JSON Pointer of the wrong value.
    pub pointer: String,
    pub what: String,
}

/// Returns where a document violates its schema: at most `most` violations of its head, and the first
/// of each record.
pub fn violations(file: &str, parts: &Parts<'_>, most: usize) -> Vec<Violation> {
    let Some(validators) = VALIDATORS.get(file) else {
        let (pointer, what) = (String::new(), "there is no schema for it".to_owned());
        return vec![Violation { record: None, pointer, what }];
    };
    let whole = broken(&validators.document, None, "", &parts.head, most);
    let each = parts.records.iter().enumerate().flat_map(|(at, record)| {
        let place = format!("/{}/{at}", records_of(file));
        match serde_json::from_str(record.get()) {
            Ok(value) => broken(&validators.record, Some(at), &place, &value, 1),
            Err(error) => {
                vec![Violation { record: Some(at), pointer: place, what: error.to_string() }]
            }
        }
    });
    whole.into_iter().chain(each).collect()
}

fn broken(
    validator: &Validator,
    record: Option<usize>,
    place: &str,
    value: &Value,
    most: usize,
) -> Vec<Violation> {
    let errors = validator.iter_errors(value).take(most);
    errors
        .map(|error| Violation {
            record,
            pointer: format!("{place}{}", error.instance_path()),
            what: error.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{
        Descriptions, Events, Handoff, Index, Listing, Person, Question, Role, Signal, Socials,
        Targets,
    };

    /// If `WRITE_SCHEMAS` is set, this test writes the files.
    #[test]
    fn the_files_are_the_schemas_of_the_records() {
        let all = [
            of::<Targets>("Targets"),
            of::<Listing<Signal>>("Signal feed"),
            of::<Listing<Question>>("Agent-readable signals"),
            of::<Events>("Events"),
            of::<Listing<Role>>("Job roles"),
            of::<Listing<Person>>("People"),
            of::<Socials>("Public social signals"),
            of::<Listing<Handoff>>("Handoff manifest"),
            of::<Index>("Agent index"),
            of::<Descriptions>("Descriptions of roles"),
        ];
        for ((name, text), schema) in SCHEMAS.iter().zip(all) {
            let written = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
            if std::env::var_os("WRITE_SCHEMAS").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/");
                std::fs::write(format!("{folder}{name}"), &written).unwrap();
            } else {
                assert_eq!(*text, written, "{name}: run this test with WRITE_SCHEMAS=1");
                jsonschema::draft202012::meta::validate(&schema).unwrap();
            }
        }
        assert_eq!(VALIDATORS.len(), SCHEMAS.len());
    }
}
