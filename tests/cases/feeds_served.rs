//! The eleven documents of the feeds, as any client reads them.

use crate::{
    cases::clients,
    harness::{
        Host,
        feeds::{DOCUMENTS, INDEX_PATH, PUBLIC_URL, city},
    },
};
use portolan_feeds::document::etag;
use reqwest::Method;
use serde_json::Value;
use std::{collections::BTreeSet, path::Path};

#[tokio::test(flavor = "multi_thread")]
async fn every_document_is_served_as_it_was_published() {
    let host = Host::with_city().await;
    let index = host.fetch(INDEX_PATH, &[]).await.json();
    for (path, _, media_type) in DOCUMENTS {
        let got = host.fetch(path, &[]).await;
        assert_eq!(got.status, 200, "{path}");
        for (name, value) in [
            ("content-type", media_type),
            ("cache-control", "public, max-age=60"),
            ("vary", "accept-encoding"),
            ("access-control-allow-origin", "*"),
            ("x-content-type-options", "nosniff"),
            ("content-encoding", ""),
            ("etag", &etag(&got.bytes)),
        ] {
            assert_eq!(got.header(name), value, "{name} of {path}");
        }
        assert!(got.header("last-modified").ends_with(" GMT"), "{path}");
        assert!(got.header("request-id").starts_with("req_"), "{path}");
        let file = city().join("feeds/current").join(path.rsplit('/').next().unwrap());
        if let Ok(published) = std::fs::read(file) {
            assert_eq!(got.bytes, published, "{path}");
        }
        if let Some(entry) =
            index["items"].as_array().unwrap().iter().find(|entry| entry["path"] == path)
        {
            assert_eq!(entry["etag"], got.header("etag"), "{path}");
            assert_eq!(entry["bytes"], got.bytes.len(), "{path}");
        }
        let head = host.request(Method::HEAD, path, &[]).await;
        assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-length"), got.bytes.len().to_string(), "{path}");
        for name in ["etag", "content-type", "last-modified", "vary", "cache-control"] {
            assert_eq!(head.header(name), got.header(name), "{name} of {path}");
        }
    }
    // The state of the build is not served.
    for path in ["/map/data/state.json", "/map/data/nothing.json", "/map/data/schemas/nothing.json"]
    {
        host.get(path).await.assert_refused(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_document_satisfies_the_schema_that_it_names() {
    let host = Host::with_city().await;
    for (path, operation, _) in DOCUMENTS {
        let document = host.fetch(path, &[]).await.json();
        if operation == "getServiceDesc" {
            continue;
        }
        let address = document["_meta"]["schema_url"].as_str().unwrap();
        let schema = host.fetch(address.strip_prefix(PUBLIC_URL).unwrap(), &[]).await;
        assert_eq!(schema.header("content-type"), "application/schema+json", "{address}");
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&schema.json())
            .unwrap();
        let errors: Vec<_> = validator.iter_errors(&document).take(3).collect();
        assert!(errors.is_empty(), "{path}: {errors:?}");
    }
}

/// Collects the links to the public URL in a document, except templates with placeholders.
fn links(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.starts_with(PUBLIC_URL) && !text.contains('{') => {
            found.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| links(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| links(field, found)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_of_the_manifest_and_the_index_leads_somewhere() {
    let host = Host::with_city().await;
    let manifest = host.fetch("/.well-known/agent.json", &[]).await.json();
    let mut found = BTreeSet::new();
    links(&manifest, &mut found);
    links(&host.fetch(INDEX_PATH, &[]).await.json(), &mut found);
    // These are not documents: the base URL of the API, and two addresses that accept only POST.
    let others = [
        &manifest["capability_api"]["base_url"],
        &manifest["capability_api"]["register"],
        &manifest["mcp"]["url"],
    ];
    for other in others {
        assert!(found.remove(other.as_str().unwrap()), "{other}");
    }
    assert!(found.len() > 20, "{found:?}");
    for link in &found {
        let got = host.fetch(link.strip_prefix(PUBLIC_URL).unwrap(), &[]).await;
        assert_eq!(got.status, 200, "{link}");
    }
    assert_eq!(host.register().await["state"], "anonymous");
    let unauthenticated = host.request(Method::POST, "/mcp", &[]).await;
    assert_eq!(unauthenticated.status, 401);
    assert_eq!(manifest["a2a"], false);
    assert_eq!(manifest["feeds"].as_array().unwrap().len(), 8);
    assert_eq!(manifest["auth"]["scopes"].as_array().unwrap().len(), 3);
    let listed = host.get("/llms.txt").await.text;
    let catalog = host.get("/.well-known/api-catalog").await.text;
    for text in [listed, catalog] {
        assert!(text.contains(&format!("{PUBLIC_URL}/.well-known/agent.json")), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_names_each_document_by_its_operation() {
    let host = Host::with_city().await;
    let description = host.fetch("/map/data/openapi.json", &[]).await.json();
    assert_eq!(description["openapi"], "3.1.0");
    assert_eq!(description["info"]["version"], "0.1.0");
    assert_eq!(description["servers"][0]["url"], format!("{PUBLIC_URL}/map"));
    let tags: Vec<_> =
        description["tags"].as_array().unwrap().iter().map(|tag| tag["name"].clone()).collect();
    assert_eq!(tags, ["discovery", "signals", "entities"]);
    let paths = description["paths"].as_object().unwrap();
    // The documents, the changes, and the parts.
    assert_eq!(paths.len(), DOCUMENTS.len() + 2);
    for (path, operation, media_type) in DOCUMENTS {
        let item = &paths[path];
        assert_eq!(item.as_object().unwrap().keys().collect::<Vec<_>>(), ["servers", "get"]);
        assert_eq!(item["servers"][0]["url"], PUBLIC_URL);
        assert_eq!(item["get"]["operationId"], operation);
        assert!(item["get"]["responses"]["200"]["content"][media_type].is_object(), "{path}");
        assert!(tags.contains(&item["get"]["tags"][0]), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manifest_names_the_configured_provider() {
    let folder = city().join("feeds");
    let provider = "organization = \"Harbour Guild\"\nurl = \"https://guild.example\"";
    let configuration = format!("feeds_dir = {folder:?}\n[provider]\n{provider}");
    let host = Host::start(Host::serving(&configuration)).await;
    let manifest = host.fetch("/.well-known/agent.json", &[]).await.json();
    assert_eq!(manifest["provider"]["organization"], "Harbour Guild");
    assert_eq!(manifest["contact"], "https://guild.example");
    assert_eq!(manifest["name"], "Harbour Guild: San Francisco");
}

#[tokio::test(flavor = "multi_thread")]
async fn third_party_validators_find_no_errors() {
    let host = Host::with_city().await;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    clients::run_program_file(&host, "node", &programs.join("feeds.mjs")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn third_party_linters_find_no_errors_in_the_description() {
    let host = Host::with_city().await;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    clients::run_program_file(&host, "node", &programs.join("description.mjs")).await;
}
