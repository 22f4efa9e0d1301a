//! `GET /docs/connect`: how each client of MCP is connected to this host, as a text to paste.

use crate::{App, install::shell_string, page::public_page};
use askama::Template;
use axum::{extract::State, http::HeaderMap, response::Response};
use serde_json::{Value, json};
use std::sync::Arc;

/// The name that clients give the host.
const NAME: &str = "portolan";
/// The bridge for clients that read only local servers from their files.
const BRIDGE: &str = "mcp-remote@0.15.1";

#[derive(Template)]
#[template(path = "docs/connect.html")]
struct ConnectPage {
    address: String,
    clients: Vec<Client>,
}

/// The steps that connect a client.
struct Client {
    id: &'static str,
    name: &'static str,
    /// The instructions for the text.
    steps: &'static str,
    text: String,
}

pub(crate) async fn show(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let address = format!("{}/mcp", app.public_url);
    let clients = clients(&address);
    public_page(&headers, &ConnectPage { address, clients })
}

fn clients(address: &str) -> Vec<Client> {
    let client = |id, name, steps, text| Client { id, name, steps, text };
    vec![
        client(
            "claude-code",
            "Claude Code",
            "Run this in the folder of your project, then /mcp in Claude Code to sign in.",
            format!("claude mcp add --transport http {NAME} {}", shell_string(address)),
        ),
        client(
            "claude-desktop",
            "Claude Desktop",
            "For a public address, choose Settings, Connectors, Add custom connector, and paste the address. For an address on your machine, add this to claude_desktop_config.json; the bridge needs Node.js.",
            pretty(&json!({
                "mcpServers": { NAME: { "command": "npx", "args": ["-y", BRIDGE, address] } },
            })),
        ),
        client(
            "cursor",
            "Cursor",
            "Save this as .cursor/mcp.json in your project, or as ~/.cursor/mcp.json for all projects.",
            pretty(&json!({ "mcpServers": { NAME: { "url": address } } })),
        ),
        client(
            "vs-code",
            "Visual Studio Code",
            "Save this as .vscode/mcp.json in your workspace.",
            pretty(&json!({ "servers": { NAME: { "type": "http", "url": address } } })),
        ),
        client(
            "codex",
            "Codex",
            "Add this to ~/.codex/config.toml, then run: codex mcp login portolan",
            format!("[mcp_servers.{NAME}]\nurl = {}", Value::from(address)),
        ),
        client(
            "chatgpt",
            "ChatGPT",
            "The address must be public and begin with https. In Settings, Apps & Connectors, Advanced settings, switch the developer mode on. Then choose Create, paste the address, and choose OAuth.",
            address.to_owned(),
        ),
    ]
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}
