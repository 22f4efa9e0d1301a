//! The description of the feeds in OpenAPI 3.1, with the schemas of the documents and an example of each
//! from the publication itself.

use crate::{entries::DocumentEntry, options::HostDescription};
use portolan_feeds::{Roads, document::CHANGES, record::Meta};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The version of the description, which is not that of the host.
const VERSION: &str = "0.1.0";
const SCHEMAS: &str = "#/components/schemas/";
/// The paths of parts, below the documents.
const PARTS: &str = "parts/{part}";
const TAGS: [(&str, &str); 3] = [
    ("discovery", "The entry points: the manifest, the index and this description"),
    ("signals", "Events about companies, with their maturity"),
    ("entities", "Companies, organisations, people and roles on the map"),
];

/// A document with its schema and an example.
pub(crate) struct DescribedDocument {
    pub(crate) entry: Arc<DocumentEntry>,
    pub(crate) schema: Value,
    pub(crate) example: Value,
}

/// Returns the description. Like the other documents, it is listed in the description itself, but
/// without a schema of its own.
pub(crate) fn description(
    (host, roads): (&HostDescription, &Roads),
    (meta, entries): (&Meta, &[Arc<DocumentEntry>]),
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
    let described = entries.iter().filter_map(|entry| {
        let (operation, tag) = entry.operation?;
        let example = examples.remove(&component_name(entry.title));
        // The paths are relative to the host, not to the server of the whole description.
        let item = json!({
            "servers": [{ "url": url, "description": "The server of the feeds" }],
            "get": get_operation(entry, operation, tag, example),
        });
        Some((entry.path.clone(), item))
    });
    let others = [(CHANGES, changes_operation()), (PARTS, part_operation())];
    let others = others.map(|(file, get)| {
        let servers = json!([{ "url": url, "description": "The server of the feeds" }]);
        (roads.path(file), json!({ "servers": servers, "get": get }))
    });
    let paths: Map<String, Value> = described.chain(others).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": format!("{}: the feeds of the map", meta.city.name),
            "version": VERSION,
            "description": "Read-only documents with public signals about startups in one city. Funding is source-backed where a source is present; hiring is a lead until it is verified. No credential is needed.",
            "license": { "name": meta.license, "url": host.license_url(&meta.license) },
            "contact": contact(host),
        },
        "servers": [{ "url": format!("{url}{}", roads.map), "description": "The map" }],
        "security": [],
        "tags": TAGS.map(|(name, description)| json!({ "name": name, "description": description })),
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

fn contact(host: &HostDescription) -> Value {
    let mut contact = json!({ "name": host.provider.organization });
    if let (Some(url), Some(fields)) = (host.contact_url(), contact.as_object_mut()) {
        fields.insert("url".to_owned(), url.into());
    }
    contact
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

/// Returns the description of the log of changes.
fn changes_operation() -> Value {
    let parameter = |name: &str, description: &str| json!({ "name": name, "in": "query", "required": false, "description": description, "schema": { "type": "string" } });
    let change = json!({
        "type": "object",
        "description": "`document` ends the changes of a document. Readers ignore operations and fields that they do not know.",
        "properties": {
            "cursor": { "type": "string", "description": "The place after this change" },
            "seq": { "type": "integer" },
            "at": { "type": "string", "format": "date-time" },
            "op": { "type": "string", "description": "added, changed, removed or document" },
            "feed": { "type": "string" },
            "id": { "type": "string" },
            "after": { "type": ["string", "null"], "description": "The record that precedes this one in its document; null if it is the first" },
            "record": { "type": "object", "description": "The record as it is now; absent if it was removed" },
            "head": { "type": "object", "description": "The document's fields without its records, with the operation `document`" },
            "etag": { "type": "string", "description": "The entity tag that the document now has, with the operation `document`" },
        },
        "required": ["cursor", "seq", "at", "op", "feed"],
    });
    let page = json!({
        "type": "object",
        "properties": {
            "changes": { "type": "array", "items": change },
            "next": { "type": "string", "description": "The cursor for the next request" },
            "has_more": { "type": "boolean" },
            "snapshot": {
                "type": "object",
                "description": "Where to begin; without `since` only",
                "properties": { "index": { "type": "string" }, "cursor": { "type": "string" } },
                "required": ["index", "cursor"],
            },
        },
        "required": ["changes", "next", "has_more"],
    });
    let refusal = json!({ "$ref": format!("{SCHEMAS}Refusal") });
    json!({
        "operationId": "getChanges",
        "tags": ["discovery"],
        "summary": "Changes",
        "description": "The records that were added, changed and removed since a cursor, in order. The index has the cursor of its publication.",
        "parameters": [
            parameter("since", "A cursor. Without it, nothing is listed, and `next` is the cursor of now"),
            parameter("limit", "How many changes at most: 1 to 1000, 100 if absent"),
            parameter("feed", "Only changes of these feeds: their ids in the index, separated by commas"),
            parameter("id", "Only changes of the record with this id: its history"),
        ],
        "responses": {
            "200": {
                "description": "A page of changes",
                "content": {
                    "application/json": { "schema": page },
                    "application/x-ndjson": { "schema": { "type": "string", "description": "A change in each line" } },
                    "text/event-stream": { "schema": { "type": "string", "description": "An event for each change, with its cursor as id, without end" } },
                },
            },
            "400": { "description": "A parameter is wrong", "content": { "application/json": { "schema": refusal } } },
            "410": { "description": "The changes since this cursor are not kept any more: read the documents again", "content": { "application/problem+json": { "schema": refusal } } },
            "503": { "description": "No feeds are published here, or too many streams are open", "content": { "application/json": { "schema": refusal } } },
        },
    })
}

/// Returns the description of the parts of feeds.
fn part_operation() -> Value {
    json!({
        "operationId": "getPart",
        "tags": ["entities"],
        "summary": "A part of a feed",
        "description": "The long texts of some records: the descriptions of roles. The index lists all parts, and a role has the address of its part in `description_url`.",
        "parameters": [{
            "name": "part", "in": "path", "required": true, "description": "The name of a part, as the index lists it",
            "schema": { "type": "string" },
        }],
        "responses": {
            "200": {
                "description": "The part",
                "headers": part_headers(),
                "content": { "application/json": { "schema": { "type": "object", "description": "See its schema, descriptions.json" } } },
            },
            "304": { "description": "The client has this version, by If-None-Match" },
            "404": { "description": "There is no such part in this publication" },
        },
    })
}

fn header(description: &str) -> Value {
    json!({ "description": description, "schema": { "type": "string" } })
}

/// Returns the headers of a document.
fn response_headers() -> Value {
    let mut headers = part_headers();
    if let Some(fields) = headers.as_object_mut() {
        fields.insert("Last-Modified".to_owned(), header("When the document last changed"));
    }
    headers
}

/// Returns the headers of a part, which has no time of its last change.
fn part_headers() -> Value {
    json!({
        "ETag": header("The entity tag of these bytes; each Content-Encoding has another one"),
        "Cache-Control": header(
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
    use crate::{discovery, entries::entries};
    use portolan_feeds::schema::SCHEMAS;

    #[test]
    fn only_documents_say_when_they_last_changed() {
        let headers = |pointer: &str, operation: &Value| {
            let headers = operation.pointer(pointer).and_then(Value::as_object).unwrap();
            headers.keys().cloned().collect::<Vec<_>>()
        };
        let entries = entries(&Roads::of_host("", None));
        let document = get_operation(entries.first().unwrap(), "getSomething", "discovery", None);
        assert!(headers("/responses/200/headers", &document).contains(&"Last-Modified".to_owned()));
        assert_eq!(headers("/responses/200/headers", &part_operation()), ["ETag", "Cache-Control"]);
    }

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
        for entry in entries(&Roads::of_host("", None)) {
            assert!(!known.contains_key(&component_name(entry.title)), "{}", entry.title);
        }
    }
}
