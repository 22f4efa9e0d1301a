//! The description of the feeds in OpenAPI 3.1, with the schemas of the documents and an example of each
//! from the publication itself.

use crate::{
    entries::{DocumentEntry, entries},
    options::HostDescription,
};
use portolan_feeds::record::Meta;
use serde_json::{Map, Value, json};

/// The version of the description, which is not that of the host.
const VERSION: &str = "0.1.0";
const SCHEMAS: &str = "#/components/schemas/";
const TAGS: [(&str, &str); 3] = [
    ("discovery", "The entry points: the manifest, the index and this description"),
    ("signals", "Events about companies, with their maturity"),
    ("entities", "Companies, organisations, people and roles on the map"),
];

/// A document with its schema and an example.
pub(crate) struct DescribedDocument {
    pub(crate) entry: &'static DocumentEntry,
    pub(crate) schema: Value,
    pub(crate) example: Value,
}

/// Returns the description. Like the other documents, it is listed in the description itself, but
/// without a schema of its own.
pub(crate) fn description(
    host: &HostDescription,
    meta: &Meta,
    described: Vec<DescribedDocument>,
) -> Value {
    let url = &host.public_url;
    let mut schemas = Map::from_iter([("Refusal".to_owned(), refusal_schema())]);
    let mut examples = Map::new();
    for DescribedDocument { entry, schema, example } in described {
        let name = component_name(entry.title);
        add_schema(&name, schema, &mut schemas);
        examples.insert(name, example);
    }
    let described = entries().iter().filter_map(|entry| {
        let (operation, tag) = entry.operation?;
        let example = examples.remove(&component_name(entry.title));
        // The paths are relative to the host, not to the server of the whole description.
        let item = json!({
            "servers": [{ "url": url, "description": "The server of the feeds" }],
            "get": get_operation(entry, operation, tag, example),
        });
        Some((entry.path.clone(), item))
    });
    let paths: Map<String, Value> = described.collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": format!("{}: the feeds of the map", meta.city.name),
            "version": VERSION,
            "description": "Read-only documents with public signals about startups in one city. Funding is source-backed where a source is present; hiring is a lead until it is verified. No credential is needed.",
            "license": { "name": meta.license, "url": license_url(&meta.license, url) },
            "contact": { "name": host.provider.organization, "url": contact_url(host) },
        },
        "servers": [{ "url": format!("{url}/map"), "description": "The map" }],
        "security": [],
        "tags": TAGS.map(|(name, description)| json!({ "name": name, "description": description })),
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// Returns the address of a licence: its page at SPDX, if the name is an SPDX identifier, or else
/// `/llms.txt`.
fn license_url(name: &str, url: &str) -> String {
    match name.contains(' ') {
        true => format!("{url}/llms.txt"),
        false => format!("https://spdx.org/licenses/{name}.html"),
    }
}

fn contact_url(host: &HostDescription) -> String {
    let provider = &host.provider;
    let url = provider.contact.as_ref().or(provider.url.as_ref());
    url.cloned().unwrap_or_else(|| format!("{}/llms.txt", host.public_url))
}

fn get_operation(
    entry: &DocumentEntry,
    operation: &str,
    tag: &str,
    example: Option<Value>,
) -> Value {
    let schema = match entry.schema {
        Some(_) => json!({ "$ref": format!("{SCHEMAS}{}", component_name(entry.title)) }),
        None => json!({
            "type": "object",
            "description": "OpenAPI 3.1: https://spec.openapis.org/oas/3.1/schema/2022-10-07",
            "properties": { "openapi": { "type": "string" }, "info": { "type": "object" }, "paths": { "type": "object" } },
            "required": ["openapi", "info", "paths"],
        }),
    };
    let mut content = json!({ "schema": schema });
    if let (Some(example), Some(fields)) = (example, content.as_object_mut()) {
        let example = json!({ "summary": "With its first record only", "value": example });
        fields.insert("examples".to_owned(), json!({ "first": example }));
    }
    let media_type = entry.media_type;
    json!({
        "operationId": operation,
        "tags": [tag],
        "summary": entry.title,
        "description": format!("{}.", entry.description),
        "responses": {
            "200": {
                "description": entry.title,
                "headers": response_headers(),
                "content": { media_type: content },
            },
            "304": { "description": "The client has this version, by If-None-Match or If-Modified-Since" },
            "503": {
                "description": "No feeds are published here",
                "content": { "application/json": { "schema": { "$ref": format!("{SCHEMAS}Refusal") } } },
            },
        },
    })
}

fn response_headers() -> Value {
    let text =
        |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    json!({
        "ETag": text("The entity tag of these bytes; each Content-Encoding has another one"),
        "Last-Modified": text("When the document last changed"),
        "Cache-Control": text(
            "How long a cached copy may be used before it must be revalidated with this host"
        ),
    })
}

fn refusal_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "error_code": { "type": "string" },
            "message": { "type": "string" },
            "retryable": { "type": "boolean" },
            "conflict": { "type": "object" },
            "next": { "type": "object" },
        },
        "required": ["error_code", "message", "retryable"],
    })
}

/// Returns a title as the name of a schema in OpenAPI: `Job roles` becomes `JobRoles`.
fn component_name(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let capitalize = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => format!("{}{rest}", first.to_uppercase()),
        None => String::new(),
    };
    words.map(capitalize).collect()
}

/// Adds a schema and its definitions to the components. Definitions of one name are the same in
/// every schema.
fn add_schema(name: &str, mut schema: Value, components: &mut Map<String, Value>) {
    rewrite_references(&mut schema);
    if let Some(fields) = schema.as_object_mut() {
        fields.shift_remove("$schema");
        if let Some(Value::Object(definitions)) = fields.shift_remove("$defs") {
            components.extend(definitions);
        }
    }
    components.insert(name.to_owned(), schema);
}

fn rewrite_references(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", SCHEMAS);
            }
            fields.values_mut().for_each(rewrite_references);
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite_references),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery;
    use portolan_feeds::schema::SCHEMAS;

    #[test]
    fn a_definition_is_the_same_in_every_schema() {
        let parsed = SCHEMAS.iter().map(|(_, text)| serde_json::from_str::<Value>(text).unwrap());
        let mut known = Map::new();
        for schema in parsed.chain([discovery::schema()]) {
            for (name, definition) in schema["$defs"].as_object().unwrap() {
                let previous = known.insert(name.clone(), definition.clone());
                assert!(previous.is_none_or(|previous| previous == *definition), "{name}");
            }
        }
        for entry in entries() {
            assert!(!known.contains_key(&component_name(entry.title)), "{}", entry.title);
        }
    }
}
