//! `/auth.md`: the guide from no credentials to the first call, which MCP offers as a resource too.

use askama::Template;
use portolan_mcp::Page;
use portolan_pipeline::Host;

/// The steps of an agent: discover, register, claim, call.
#[derive(Template)]
#[template(path = "auth.md", escape = "none")]
pub(super) struct AuthGuide<'a> {
    url: &'a str,
    access_minutes: u64,
}

pub(super) fn guide<'a>(host: &Host, url: &'a str) -> AuthGuide<'a> {
    AuthGuide { url, access_minutes: host.identity.access_seconds() / 60 }
}

/// Returns the documents of the host that stay the same as long as it runs.
pub(super) fn pages(host: &Host, url: &str) -> Vec<Page> {
    let text = guide(host, url).render().unwrap_or_default();
    vec![Page {
        path: "/auth.md",
        title: "How to authenticate",
        description: "From nothing to the first call: register, get a token, be claimed by a person.",
        media_type: "text/markdown",
        text,
    }]
}
