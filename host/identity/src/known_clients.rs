//! Clients that many people use and whose redirect addresses are not on the person's own machine.
//!
//! Each address is on a host of the client's maker, and is compared as a whole: only the maker gets a code that is
//! sent there, and the code is worth nothing without the PKCE verifier of whoever began the authorization.

/// One client, with its redirect addresses and where they are published. An address that ends with `{id}` stands
/// for any last segment of letters, digits, `-` and `_`.
pub(crate) struct KnownClient {
    pub(crate) name: &'static str,
    pub(crate) redirects: &'static [&'static str],
    pub(crate) source: &'static str,
}

/// The clients to which this server redirects unless the operator sets `known_clients = false`.
pub(crate) const KNOWN_CLIENTS: [KnownClient; 9] = [
    KnownClient {
        name: "ChatGPT",
        redirects: &[
            "https://chatgpt.com/connector_platform_oauth_redirect",
            "https://chatgpt.com/connector/oauth/{id}",
        ],
        source: "developers.openai.com, authentication of apps",
    },
    KnownClient {
        name: "Claude",
        redirects: &[
            "https://claude.ai/api/mcp/auth_callback",
            "https://claude.com/api/mcp/auth_callback",
        ],
        source: "support.claude.com, custom connectors",
    },
    KnownClient {
        name: "Cursor",
        redirects: &[
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
        ],
        source: "cursor.com/docs/mcp",
    },
    KnownClient {
        name: "Devin",
        redirects: &["https://api.devin.ai/mcp/oauth/callback"],
        source: "docs.devin.ai",
    },
    KnownClient {
        name: "Google Antigravity",
        redirects: &["https://antigravity.google/oauth-callback"],
        source: "antigravity.google/docs/mcp",
    },
    KnownClient {
        name: "Grok",
        redirects: &[
            "https://console.x.ai/connectors-oauth-exchange-code/",
            "https://grok.com/connectors-oauth-exchange-code/",
        ],
        source: "grok.com/oauth/mcp-client.json",
    },
    KnownClient {
        name: "Le Chat",
        redirects: &["https://callback.mistral.ai/v1/integrations_auth/oauth2_callback"],
        source: "not published; the client's registrations",
    },
    KnownClient {
        name: "Perplexity",
        redirects: &[
            "https://enterprise.perplexity.ai/rest/connections/oauth_callback",
            "https://www.perplexity.ai/rest/connections/oauth_callback",
        ],
        source: "perplexity.ai/help-center, custom connectors",
    },
    KnownClient {
        name: "Visual Studio Code",
        redirects: &["https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect"],
        source: "github.com/microsoft/vscode, src/vs/base/common/oauth.ts",
    },
];

/// Returns whether this is the redirect address of a known client.
pub(crate) fn is_known(uri: &str) -> bool {
    let redirects = KNOWN_CLIENTS.iter().flat_map(|client| client.redirects);
    redirects.into_iter().any(|known| match known.strip_suffix("{id}") {
        None => uri == *known,
        Some(folder) => uri.strip_prefix(folder).is_some_and(is_segment),
    })
}

fn is_segment(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.bytes().all(is_plain)
}
