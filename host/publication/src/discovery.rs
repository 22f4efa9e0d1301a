//! The discovery manifest: from it agents find the feeds, the capability API and MCP. Its fields are
//! named as in an A2A agent card, which older clients look for at this path.

use crate::{cities::CitySettings, data_catalog::DATA_CATALOG, options::HostDescription};
use portolan_feeds::{
    Roads,
    document::{CHANGES, INDEX},
    record::{FEEDS, Index, Links, Meta, SERVICE},
    schema,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::iter;

/// The file name of the manifest's schema.
pub(crate) const SCHEMA: &str = "agent.schema.json";
const TITLE: &str = "Agent discovery";

/// Id, name, description, tags, and an example of what a person would ask for.
const SKILLS: [(&str, &str, &str, &[&str], &str); 4] = [
    (
        "read_map",
        "Read the map",
        "Companies and organisations of the city with their coordinates, kind and ask, joined by target_id with signals, roles and people.",
        &["map", "startups"],
        "Which robotics companies in this city are hiring?",
    ),
    (
        "follow_signals",
        "Follow signals",
        "Funding that is source-backed, and hiring that is a lead until it is verified, each with its sources and its history.",
        &["funding", "hiring", "news"],
        "Who raised a seed round this month, and where was it announced?",
    ),
    (
        "find_roles",
        "Find open roles",
        "Open roles from companies' own public boards, with place, kind of work and pay where the employer shows it.",
        &["jobs"],
        "Find a hybrid role for a data engineer.",
    ),
    (
        "hand_off",
        "Continue in the capability API",
        "Contracts that turn a record of the map into a draft: apply, get in touch, offer a service, correct what is wrong.",
        &["handoff"],
        "Prepare an application for this role.",
    ),
];

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Discovery {
    #[serde(rename = "_meta")]
    meta: Meta,
    name: String,
    description: String,
    version: String,
    provider: Organization,
    documentation_url: String,
    feeds_index: String,
    openapi: String,
    feeds: Vec<FeedAddress>,
    capability_api: CapabilityApi,
    mcp: McpEndpoint,
    auth: Auth,
    handoffs_url: String,
    /// The additions, changes and removals: pages of JSON or NDJSON, or server-sent events.
    changes_url: String,
    /// The catalogue of the feeds in DCAT, as JSON-LD.
    data_catalog_url: String,
    /// The page on which people and companies can object to being listed.
    objection_url: String,
    /// All cities of this host, if it has more than one. The other addresses here are the first one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cities: Vec<CityAddress>,
    policies: Policies,
    contact: String,
    skills: Vec<Skill>,
    /// Whether this host supports A2A.
    a2a: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Organization {
    organization: String,
    url: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FeedAddress {
    id: String,
    url: String,
    title: String,
}

/// A city of this host.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CityAddress {
    name: String,
    /// The page with its map.
    map_url: String,
    feeds_index: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CapabilityApi {
    base_url: String,
    catalog: String,
    protected_resource_metadata: String,
    /// The address for POST requests.
    register: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct McpEndpoint {
    url: String,
    transport: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Auth {
    #[serde(rename = "type")]
    kind: String,
    scopes: Vec<String>,
}

/// The agents that may read, and those that may write.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Policies {
    read: String,
    write: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Skill {
    id: String,
    name: String,
    description: String,
    tags: Vec<String>,
    examples: Vec<String>,
}

/// Returns the manifest for these feeds.
pub(crate) fn discovery(host: &HostDescription, roads: &Roads, index: &Index) -> Discovery {
    let HostDescription { public_url, mcp_url, scopes, provider, cities } = host;
    let absolute = |path: &str| format!("{public_url}{path}");
    let documentation_url = absolute("/llms.txt");
    let url = provider.url.clone().unwrap_or_else(|| documentation_url.clone());
    let handoffs_url = roads.document("hi-handoff-manifest.json");
    let city = &index.meta.city.name;
    Discovery {
        name: format!("{}: {city}", provider.organization),
        description: format!(
            "Public signals about startups in {city}, and capabilities through which an agent acts for a person."
        ),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        contact: provider.contact.clone().unwrap_or_else(|| url.clone()),
        provider: Organization { organization: provider.organization.clone(), url },
        documentation_url,
        feeds_index: roads.document(INDEX),
        openapi: roads.document(SERVICE),
        feeds: FEEDS
            .iter()
            .map(|feed| FeedAddress {
                id: feed.id.to_owned(),
                url: roads.document(feed.file),
                title: feed.title.to_owned(),
            })
            .collect(),
        capability_api: CapabilityApi {
            base_url: public_url.clone(),
            catalog: absolute("/v1/capabilities"),
            protected_resource_metadata: absolute("/.well-known/oauth-protected-resource"),
            register: absolute("/v1/agents/register"),
        },
        mcp: McpEndpoint { url: mcp_url.clone(), transport: "streamable-http".to_owned() },
        auth: Auth {
            kind: "oauth2.1".to_owned(),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        },
        changes_url: roads.document(CHANGES),
        data_catalog_url: roads.document(DATA_CATALOG),
        objection_url: absolute(&roads.objection()),
        cities: city_addresses(public_url, roads, city, cities),
        policies: Policies { read: "anonymous".to_owned(), write: "claimed identity".to_owned() },
        skills: SKILLS.iter().map(skill).collect(),
        a2a: false,
        meta: Meta {
            feed: "discovery".to_owned(),
            title: TITLE.to_owned(),
            schema_url: roads.schema(SCHEMA),
            count: FEEDS.len(),
            links: Links {
                this: roads.discovery(),
                discovery: roads.discovery(),
                index: roads.document(INDEX),
                openapi: roads.document(SERVICE),
                handoffs: handoffs_url.clone(),
            },
            ..index.meta.clone()
        },
        handoffs_url,
    }
}

/// Returns the cities, the first one first; none if there is only this one.
fn city_addresses(
    public_url: &str,
    first: &Roads,
    first_name: &str,
    others: &[CitySettings],
) -> Vec<CityAddress> {
    if others.is_empty() {
        return Vec::new();
    }
    let of_city = |name: &str, roads: &Roads| CityAddress {
        name: name.to_owned(),
        map_url: format!("{public_url}{}", roads.page("")),
        feeds_index: roads.document(INDEX),
    };
    let others = others.iter().map(|city| {
        let roads = Roads::of_host(public_url, Some(&city.slug));
        of_city(&city.name, &roads)
    });
    iter::once(of_city(first_name, first)).chain(others).collect()
}

fn skill((id, name, description, tags, example): &(&str, &str, &str, &[&str], &str)) -> Skill {
    Skill {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        examples: vec![(*example).to_owned()],
    }
}

/// Returns the JSON Schema 2020-12 of the manifest.
pub(crate) fn schema() -> Value {
    schema::of::<Discovery>(TITLE)
}
