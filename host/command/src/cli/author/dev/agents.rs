//! The agents with which an author calls: one without a person, and one that a person has claimed.

use super::server::Server;
use crate::cli::client::{client, unreachable_host};
use anyhow::Context as _;
use portolan_catalog::Capability;
use portolan_vocabulary::{Access, ActionDescriptor};
use serde_json::{Value, json};

/// The key of the test person who claims one of the agents.
const TEST_PERSON: &str = "author";
/// The revision of MCP in which the printed command calls a tool.
const MCP_REVISION: &str = "2026-07-28";
const SCOPES: &str = "svc.read svc.write svc.events";

/// An agent of test mode, with a token for REST and one for MCP.
pub(super) struct Agent {
    name: &'static str,
    rest: String,
    mcp: String,
}

pub(super) struct Agents {
    anonymous: Agent,
    claimed: Agent,
    url: String,
}

impl Agents {
    pub(super) async fn register(server: &Server) -> anyhow::Result<Self> {
        let url = server.url.clone();
        let anonymous = Agent::register(server, "anonymous", false).await?;
        let claimed = Agent::register(server, "claimed", true).await?;
        Ok(Self { anonymous, claimed, url })
    }

    pub(super) fn print(&self) {
        line!("REST {0}  MCP {0}/mcp  (test mode)", self.url);
        for agent in [&self.anonymous, &self.claimed] {
            line!("{} agent\n  REST {}\n  MCP  {}", agent.name, agent.rest, agent.mcp);
        }
    }

    /// Returns a command line for the first example of each action over REST, and for the first action over
    /// MCP.
    pub(super) fn curl_commands(&self, capability: &Capability) -> String {
        let mut lines = Vec::new();
        for action in capability.callable() {
            let (body, agent) = (example(&action.descriptor), self.agent_for(&action.descriptor));
            lines.push(format!(
                "# {}\ncurl -s {}/v1/capabilities/{}/call -H 'authorization: Bearer {}' -H 'content-type: application/json' -d {}",
                action.descriptor.name, self.url, capability.id, agent.rest, shell_quoted(&body)
            ));
        }
        if let Some(action) = capability.callable().next() {
            let (tool, agent) = (capability.tool_name(), self.agent_for(&action.descriptor));
            let body = json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {
                    "name": tool,
                    "arguments": example(&action.descriptor),
                    "_meta": {
                        "io.modelcontextprotocol/protocolVersion": MCP_REVISION,
                        "io.modelcontextprotocol/clientCapabilities": {},
                    },
                },
            });
            lines.push(format!(
                "# {} over MCP\ncurl -s {}/mcp -H 'authorization: Bearer {}' -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -H 'mcp-protocol-version: {MCP_REVISION}' -H 'mcp-method: tools/call' -H 'mcp-name: {tool}' -d {}",
                action.descriptor.name, self.url, agent.mcp, shell_quoted(&body)
            ));
        }
        lines.join("\n")
    }

    /// Returns the agent that may call an action.
    fn agent_for(&self, action: &ActionDescriptor) -> &Agent {
        match action.access {
            Access::Write => &self.claimed,
            _ => &self.anonymous,
        }
    }
}

/// Returns the body of a call with the first example of an action.
fn example(action: &ActionDescriptor) -> Value {
    action.example().unwrap_or_else(|| json!({ "action": action.name }))
}

/// Returns JSON in single quotes for a shell, where a quote within is written as `'\''`.
fn shell_quoted(json: &Value) -> String {
    format!("'{}'", json.to_string().replace('\'', r"'\''"))
}

impl Agent {
    async fn register(server: &Server, name: &'static str, claimed: bool) -> anyhow::Result<Self> {
        let (client, url) = (client()?, &server.url);
        let body = json!({ "type": "anonymous", "agent_name": name, "mode": "test" });
        let request = client.post(format!("{url}/v1/agents/register")).json(&body);
        let registered = send(request, url).await?;
        let field = |name: &str| registered.get(name).and_then(Value::as_str).unwrap_or_default();
        if claimed {
            let result = server.app.host.bind_agent(field("agent_id"), TEST_PERSON).await;
            result.map_err(|error| anyhow::anyhow!("the agent cannot be claimed: {error}"))?;
        }
        let token = async |resource: &str| -> anyhow::Result<String> {
            let form = [
                ("grant_type", "client_credentials"),
                ("client_id", field("client_id")),
                ("client_secret", field("client_secret")),
                ("scope", SCOPES),
                ("resource", resource),
            ];
            let issued = send(client.post(format!("{url}/oauth/token")).form(&form), url).await?;
            let token = issued.get("access_token").and_then(Value::as_str);
            Ok(token
                .with_context(|| format!("the host did not issue a token: {issued}"))?
                .to_owned())
        };
        Ok(Self { name, rest: token(url).await?, mcp: token(&format!("{url}/mcp")).await? })
    }
}

async fn send(request: reqwest::RequestBuilder, url: &str) -> anyhow::Result<Value> {
    let answer = request.send().await.with_context(|| unreachable_host(url))?;
    answer.json().await.context("the answer is not JSON")
}
