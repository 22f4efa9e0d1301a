//! Clients that many people use and whose redirect addresses are not on the person's own machine.
//!
//! Each address is on a host of the client's maker, and is compared as a whole: only the maker gets a code that is
//! sent there, and the code is worth nothing without the PKCE verifier of the application that began the
//! authorization.

/// The addresses to which this server redirects unless the operator sets `known_clients = false`, by client, with
/// the place where each is published. An address that ends with `{id}` stands for any last segment of letters,
/// digits, `-` and `_`.
pub(crate) const KNOWN_REDIRECTS: [&str; 15] = [
    // ChatGPT: developers.openai.com, authentication of apps
    "https://chatgpt.com/connector_platform_oauth_redirect",
    "https://chatgpt.com/connector/oauth/{id}",
    // Claude: support.claude.com, custom connectors
    "https://claude.ai/api/mcp/auth_callback",
    "https://claude.com/api/mcp/auth_callback",
    // Cursor: cursor.com/docs/mcp
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    // Devin: docs.devin.ai
    "https://api.devin.ai/mcp/oauth/callback",
    // Google Antigravity: antigravity.google/docs/mcp
    "https://antigravity.google/oauth-callback",
    // Grok: grok.com/oauth/mcp-client.json
    "https://console.x.ai/connectors-oauth-exchange-code/",
    "https://grok.com/connectors-oauth-exchange-code/",
    // Le Chat: not published; the client's registrations
    "https://callback.mistral.ai/v1/integrations_auth/oauth2_callback",
    // Perplexity: perplexity.ai/help-center, custom connectors
    "https://enterprise.perplexity.ai/rest/connections/oauth_callback",
    "https://www.perplexity.ai/rest/connections/oauth_callback",
    // Visual Studio Code: github.com/microsoft/vscode, src/vs/base/common/oauth.ts
    "https://insiders.vscode.dev/redirect",
    "https://vscode.dev/redirect",
];

/// Returns whether this is the redirect address of a known client.
pub(crate) fn is_known(uri: &str) -> bool {
    KNOWN_REDIRECTS.iter().any(|known| match known.strip_suffix("{id}") {
        None => uri == *known,
        Some(folder) => uri.strip_prefix(folder).is_some_and(is_segment),
    })
}

fn is_segment(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.bytes().all(is_plain)
}
