//! `/auth.md`: the guide from no credentials to the first call. MCP offers it as a resource too.

use askama::Template;
use portolan_mcp::Page;
use portolan_pipeline::Host;
use portolan_vocabulary::Role;

/// The steps of an agent: discover, register, claim, call.
#[derive(Template)]
#[template(path = "auth.md", escape = "none")]
pub(super) struct AuthGuide<'a> {
    url: &'a str,
    access_minutes: u64,
    /// The capabilities of these roles; empty if none is assigned.
    phone_verification: &'a str,
    agent_management: &'a str,
    webhook_management: &'a str,
}

pub(super) fn guide<'a>(host: &'a Host, url: &'a str) -> AuthGuide<'a> {
    let assigned = |role| host.catalog.roles().assigned(role).unwrap_or_default();
    AuthGuide {
        url,
        access_minutes: host.identity.access_seconds() / 60,
        phone_verification: assigned(Role::PhoneVerification),
        agent_management: assigned(Role::AgentManagement),
        webhook_management: assigned(Role::WebhookManagement),
    }
}

/// Returns the documents of the host that do not change while it runs.
pub(super) fn pages(host: &Host, url: &str) -> Vec<Page> {
    let text = guide(host, url).render().unwrap_or_default();
    vec![Page {
        path: "/auth.md",
        title: "How to authenticate",
        description: "From no credentials to the first call: register, get a token, be claimed by a person.",
        media_type: "text/markdown",
        text,
    }]
}
