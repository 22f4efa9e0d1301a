//! The list of a catalog's capabilities as JSON documents, in pages.

use crate::{action::Action, capability::Capability, document::Document};
use portolan_store::ServedCapability;
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The maximum number of capabilities of a page.
const PAGE: usize = 100;

/// A page of the list of a catalog's capabilities.
#[derive(Debug)]
pub struct Page {
    pub capabilities: Vec<Arc<Capability>>,
    /// The answer of `GET /v1/capabilities`: `{catalog_version, generated_at, count, capabilities, next_cursor}`. The
    /// last page has no `next_cursor`.
    pub document: Document,
    /// The cursor of the page after this one, which is the last id of this one.
    pub next_cursor: Option<Arc<str>>,
}

/// The list of a catalog's capabilities.
#[derive(Debug)]
pub(super) struct Listing {
    pages: Vec<Page>,
    /// A page without capabilities, which follows the last one.
    end: Page,
}

impl Listing {
    /// Returns the page that follows a cursor.
    pub(super) fn page(&self, cursor: Option<&str>) -> &Page {
        let is_before = |page: &Page| {
            page.capabilities
                .last()
                .is_none_or(|last| cursor.is_some_and(|cursor| *last.id <= *cursor))
        };
        self.pages.get(self.pages.partition_point(is_before)).unwrap_or(&self.end)
    }
}

/// Returns the list of capabilities.
pub(super) fn listing(
    version: u64,
    changed_at: Timestamp,
    capabilities: &BTreeMap<Arc<str>, Arc<Capability>>,
    served: &BTreeMap<String, ServedCapability>,
) -> Listing {
    let all: Vec<_> = capabilities.values().cloned().collect();
    let page = |part: &[Arc<Capability>]| {
        let since = |id: &str| served.get(id).map(|served| served.since);
        let entries: Vec<_> =
            part.iter().map(|capability| entry(capability, since(&capability.id))).collect();
        let mut document = json!({
            "catalog_version": version,
            "generated_at": changed_at,
            "count": all.len(),
            "capabilities": entries,
        });
        let is_last = part.last().map(|last| &last.id) == all.last().map(|last| &last.id);
        let next_cursor = part.last().filter(|_| !is_last).map(|last| Arc::clone(&last.id));
        if let (Some(cursor), Some(fields)) = (&next_cursor, document.as_object_mut()) {
            fields.insert("next_cursor".to_owned(), json!(cursor));
        }
        Page { capabilities: part.to_vec(), document: Document::new(&document), next_cursor }
    };
    Listing { pages: all.chunks(PAGE).map(page).collect(), end: page(&[]) }
}

fn entry(capability: &Capability, since: Option<Timestamp>) -> Value {
    let descriptor = &capability.descriptor;
    let mut entry = json!({
        "id": descriptor.id,
        "title": descriptor.title,
        "summary": descriptor.summary,
        "description": descriptor.description,
        "version": descriptor.version,
        "status": descriptor.status,
        "tags": descriptor.tags,
        "schema_url": format!("/v1/capabilities/{}/schema", descriptor.id),
        "call_url": format!("/v1/capabilities/{}/call", descriptor.id),
        "mcp_tool": capability.tool_name(),
        "component_digest": capability.digest,
        "default_action": descriptor.default_action,
        "actions": capability.callable().map(action_entry).collect::<Vec<_>>(),
        "errors": descriptor.errors.iter().map(|error| json!({
            "error_code": error.code,
            "retryable": error.retryable,
            "description": error.description,
        })).collect::<Vec<_>>(),
        "since": since,
    });
    if let Some(fields) = entry.as_object_mut() {
        let optional = [
            ("sunset_at", descriptor.sunset_at.map(|at| json!(at))),
            ("successor", descriptor.successor.as_ref().map(|id| json!(id))),
        ];
        fields.extend(
            optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))),
        );
    }
    entry
}

fn action_entry(action: &Action) -> Value {
    let action = &action.descriptor;
    let mut entry = json!({
        "name": action.name,
        "title": action.title,
        "description": action.description,
        "access": action.access,
        "requires_claim": action.access.requires_claim(),
        "scopes": action.access.scope().into_iter().collect::<Vec<_>>(),
        "idempotent": action.idempotent,
        "destructive": action.destructive,
        "cost_credits": action.cost_credits,
        "emits": action.emits,
        "errors": action.errors,
    });
    if let (Some(reason), Some(fields)) = (&action.deprecated, entry.as_object_mut()) {
        fields.insert("deprecated".to_owned(), json!(reason));
    }
    entry
}
