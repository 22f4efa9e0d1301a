//! The JSON Schemas of the documents (2020-12). They are files, so that others can use them; a test
//! holds them against the records.

use crate::{
    document::{INDEX, INDEX_SCHEMA},
    record::FEEDS,
};
use jsonschema::Validator;
use schemars::{JsonSchema, generate::SchemaSettings, transform::RestrictFormats};
use serde_json::Value;
use std::{collections::BTreeMap, sync::LazyLock};

/// Names and texts, as they are served.
pub const SCHEMAS: [(&str, &str); 9] = [
    ("targets.json", include_str!("../schemas/targets.json")),
    ("signals.json", include_str!("../schemas/signals.json")),
    ("questions.json", include_str!("../schemas/questions.json")),
    ("events.json", include_str!("../schemas/events.json")),
    ("roles.json", include_str!("../schemas/roles.json")),
    ("people.json", include_str!("../schemas/people.json")),
    ("social.json", include_str!("../schemas/social.json")),
    ("handoffs.json", include_str!("../schemas/handoffs.json")),
    (INDEX_SCHEMA, include_str!("../schemas/agent-index.schema.json")),
];

static VALIDATORS: LazyLock<BTreeMap<&'static str, Validator>> = LazyLock::new(|| {
    let validators = SCHEMAS.iter().filter_map(|(name, text)| {
        let schema: Value = serde_json::from_str(text).ok()?;
        Some((
            *name,
            jsonschema::draft202012::options().should_validate_formats(true).build(&schema).ok()?,
        ))
    });
    validators.collect()
});

/// The schema of a record or a document, with a title.
pub fn of<T: JsonSchema>(title: &str) -> Value {
    // Formats such as `uint64` are Rust's, and strict validators refuse schemas that have them.
    let settings = SchemaSettings::draft2020_12().with_transform(RestrictFormats::default());
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    // Its own words come in their usual order so.
    serde_json::to_value(schema).unwrap_or_default()
}

/// Where a document breaks its schema: pointers and reasons, so many at most.
pub fn violations(file: &str, document: &Value, most: usize) -> Vec<(String, String)> {
    let feed = FEEDS.iter().find(|feed| feed.file == file).map(|feed| feed.schema);
    let name = feed.or((file == INDEX).then_some(INDEX_SCHEMA)).unwrap_or_default();
    match VALIDATORS.get(name) {
        Some(validator) => (validator.iter_errors(document).take(most))
            .map(|error| (error.instance_path().as_str().to_owned(), error.to_string()))
            .collect(),
        None => vec![(String::new(), "there is no schema for it".to_owned())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{
        Events, Handoff, Index, Listing, Person, Question, Role, Signal, Socials, Targets,
    };

    /// With `WRITE_SCHEMAS` set, the files are written.
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
        ];
        for ((name, text), schema) in SCHEMAS.iter().zip(all) {
            let written = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
            if std::env::var_os("WRITE_SCHEMAS").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/");
                std::fs::write(format!("{folder}{name}"), &written).unwrap();
            } else {
                assert_eq!(*text, written, "{name}: run this test with WRITE_SCHEMAS=1");
                jsonschema::draft202012::meta::validate(&schema).unwrap();
                assert!(VALIDATORS.contains_key(name));
            }
        }
    }
}
