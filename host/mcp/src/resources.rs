//! Resources: the inbox, the host's documents, the feeds, the pages of a capability, and each capability's schema.

use crate::{
    Sender,
    inbox::{INBOX, JSON},
    server::{CACHE_MS, Server},
};
use portolan_publication::Document;
use portolan_vocabulary::Role;
use rmcp::{
    ErrorData,
    model::{CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const SCHEMA: &str = "application/schema+json";
const MARKDOWN: &str = "text/markdown";
/// The prefix of the URIs of capabilities' pages.
const PAGES: &str = "portolan://pages/";
/// The maximum number of capabilities whose schemas are listed as resources.
const LISTED_SCHEMAS: usize = 100;

impl Server {
    pub(super) async fn resources(&self, sender: &Sender) -> Vec<Resource> {
        let url = &self.mcp.public_url;
        let host_pages = self.mcp.pages.iter().map(|page| {
            Resource::new(format!("{url}{}", page.path), page.path.trim_start_matches('/'))
                .with_title(page.title)
                .with_description(page.description)
                .with_mime_type(page.media_type)
                .with_size(page.text.len() as u64)
        });
        let mut resources: Vec<Resource> = self.mcp.inbox(sender).into_iter().collect();
        resources.extend(host_pages);
        resources.extend(self.feeds());
        resources.extend(self.pages(sender).await);
        let snapshot = self.mcp.host.catalog.snapshot();
        if snapshot.capabilities.len() <= LISTED_SCHEMAS {
            resources.extend(snapshot.capabilities.values().map(|capability| {
                Resource::new(self.schema_address(&capability.id), &*capability.id)
                    .with_title(format!("{}: schema", capability.descriptor.title))
                    .with_description(format!("The input of each action of {}.", capability.id))
                    .with_mime_type(SCHEMA)
                    .with_size(capability.schema.body.len() as u64)
            }));
        }
        resources
    }

    pub(super) fn templates(&self) -> Vec<ResourceTemplate> {
        vec![
            ResourceTemplate::new(self.schema_address("{id}"), "schema")
                .with_title("Schema of a capability")
                .with_description("The input of each action of the capability.")
                .with_mime_type(SCHEMA),
        ]
    }

    pub(super) async fn read_document(
        &self,
        sender: &Sender,
        uri: &str,
    ) -> Result<ReadResourceResult, ErrorData> {
        let path = uri.strip_prefix(self.mcp.public_url.as_str()).unwrap_or_default();
        let host_page = self.mcp.pages.iter().find(|page| page.path == path);
        let (text, media_type, scope) = if let Some(page) = host_page {
            (page.text.clone(), page.media_type, CacheScope::Public)
        } else if let Some(text) = self.schema(path) {
            (text, SCHEMA, CacheScope::Public)
        } else if let Some((text, media_type)) = self.feed(path) {
            (text, media_type, CacheScope::Public)
        } else if uri == INBOX {
            (self.mcp.read_inbox(sender).await?, JSON, CacheScope::Private)
        } else if let Some(text) = self.page(sender, uri).await {
            (text, MARKDOWN, CacheScope::Private)
        } else {
            let data = json!({ "uri": uri });
            return Err(ErrorData::resource_not_found("there is no such resource", Some(data)));
        };
        let contents = ResourceContents::text(text, uri).with_mime_type(media_type);
        let result = ReadResourceResult::new(vec![contents]);
        let ttl_ms = if uri == INBOX { 0 } else { CACHE_MS };
        Ok(result.with_ttl_ms(ttl_ms).with_cache_scope(scope))
    }

    /// Returns the ids of capabilities that start with `prefix`.
    pub(super) fn capability_ids(&self, prefix: &str) -> Vec<String> {
        let snapshot = self.mcp.host.catalog.snapshot();
        let ids = snapshot.capabilities.keys().filter(|id| id.starts_with(prefix));
        ids.map(|id| id.to_string()).collect()
    }

    fn schema_address(&self, id: &str) -> String {
        format!("{}/v1/capabilities/{id}/schema", self.mcp.public_url)
    }

    fn schema(&self, path: &str) -> Option<String> {
        let id = path.strip_prefix("/v1/capabilities/")?.strip_suffix("/schema")?;
        let snapshot = self.mcp.host.catalog.snapshot();
        Some(snapshot.find(id, self.mcp.host.clock.now()).ok()?.schema.body.to_string())
    }

    /// Returns the documents of the publication. Their schemas can be read but are not listed.
    fn feeds(&self) -> Vec<Resource> {
        let Some(publication) = self.mcp.host.feeds.current() else { return Vec::new() };
        let documents =
            publication.documents().filter(|document| document.entry.operation.is_some());
        let resource = |document: &Arc<Document>| {
            let entry = &document.entry;
            let name = entry.path.rsplit('/').next().unwrap_or_default();
            Resource::new(format!("{}{}", self.mcp.public_url, entry.path), name)
                .with_title(entry.title)
                .with_description(entry.description)
                .with_mime_type(entry.media_type)
                .with_size(document.plain().bytes.len() as u64)
        };
        documents.map(resource).collect()
    }

    fn feed(&self, path: &str) -> Option<(String, &'static str)> {
        let publication = self.mcp.host.feeds.current()?;
        let document = publication.document(path)?;
        let text = String::from_utf8_lossy(&document.plain().bytes).into_owned();
        Some((text, document.entry.media_type))
    }

    /// Returns the pages that the capability with the role `pages` lists for this caller.
    async fn pages(&self, sender: &Sender) -> Vec<Resource> {
        let listed = self.call_pages(sender, json!({ "action": "list" })).await;
        let items = listed.and_then(|mut list| Some(list.get_mut("items")?.take()));
        let items = items.as_ref().and_then(Value::as_array).into_iter().flatten();
        let page = |item: &Value| {
            let text = |name: &str| item.get(name).and_then(Value::as_str);
            let slug = text("slug")?;
            Some(
                Resource::new(format!("{PAGES}{slug}"), slug)
                    .with_title(text("title").unwrap_or(slug))
                    .with_description(text("summary").unwrap_or_default())
                    .with_mime_type(MARKDOWN),
            )
        };
        items.filter_map(page).collect()
    }

    async fn page(&self, sender: &Sender, uri: &str) -> Option<String> {
        let slug = uri.strip_prefix(PAGES)?;
        let input = json!({ "action": "get", "slug": slug, "format": "markdown" });
        let page = self.call_pages(sender, input).await?;
        page.get("body")?.as_str().map(str::to_owned)
    }

    async fn call_pages(&self, sender: &Sender, input: Value) -> Option<Value> {
        let snapshot = self.mcp.host.catalog.snapshot();
        let capability = &snapshot.holder(Role::Pages).ok()?.id;
        let input: Map<String, Value> = input.as_object()?.clone();
        Some(self.mcp.run(sender, capability, input).await.ok()?.result)
    }
}
