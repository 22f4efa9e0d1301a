//! A client of MCP that writes its messages itself, in either revision of the protocol.

use crate::harness::{Host, PATIENCE, Reply};
use reqwest::{Method, Response, header::HeaderMap};
use serde_json::{Value, json};

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";
const ACCEPT: &str = "application/json, text/event-stream";

/// A client with one token.
pub struct Mcp<'a> {
    pub host: &'a Host,
    pub token: String,
    /// The session of a client of the older revision; `None` for the newer one.
    session: Option<String>,
    /// The capabilities that the client declares.
    capabilities: Value,
    /// The end of the endpoint's path, such as `/all`.
    view: String,
}

impl Host {
    /// Returns a token of a registered agent for the MCP endpoint.
    pub async fn mcp_token(&self, agent: &Value, scope: &str) -> String {
        self.mcp_token_at(&self.url, agent, scope).await
    }

    /// Returns a token for the endpoint at a public address that is not the host's own.
    pub async fn mcp_token_at(&self, public_url: &str, agent: &Value, scope: &str) -> String {
        let resource = format!("{public_url}/mcp");
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", agent["client_id"].as_str().unwrap()),
            ("client_secret", agent["client_secret"].as_str().unwrap()),
            ("scope", scope),
            ("resource", &resource),
        ];
        let reply = self.client.post(format!("{}/oauth/token", self.url)).form(&form);
        let reply = Reply::read(reply.send().await.unwrap()).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["access_token"].as_str().unwrap().to_owned()
    }

    /// Registers an anonymous agent and returns a client of it.
    pub async fn mcp(&self, scope: &str) -> Mcp<'_> {
        let agent = self.register().await;
        Mcp::new(self, self.mcp_token(&agent, scope).await)
    }
}

impl<'a> Mcp<'a> {
    pub fn new(host: &'a Host, token: String) -> Self {
        Self { host, token, session: None, capabilities: json!({}), view: String::new() }
    }

    /// Returns the same client, in the same session, at another node.
    pub fn at<'b>(&self, host: &'b Host) -> Mcp<'b> {
        let Self { token, session, capabilities, view, .. } = self;
        let (token, session) = (token.clone(), session.clone());
        Mcp { host, token, session, capabilities: capabilities.clone(), view: view.clone() }
    }

    /// Returns the same client at another view of the endpoint, such as `/all`.
    pub fn view(self, view: &str) -> Self {
        Self { view: view.to_owned(), ..self }
    }

    pub fn with_capabilities(self, capabilities: Value) -> Self {
        Self { capabilities, ..self }
    }

    /// Returns the same client in the older revision, in a new session.
    pub async fn legacy(self) -> Self {
        let parameters = json!({
            "protocolVersion": LEGACY, "capabilities": self.capabilities,
            "clientInfo": { "name": "a test", "version": "1" },
        });
        let reply = self.send(&request(1, "initialize", &parameters), &[]).await;
        assert_eq!(reply.status(), 200);
        let session = reply.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let answer = message(reply).await;
        assert_eq!(answer["result"]["protocolVersion"], LEGACY, "{answer}");
        let client = Self { session: Some(session), ..self };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.send(&initialized, &[]).await.status(), 202);
        client
    }

    pub fn session(&self) -> &str {
        self.session.as_deref().unwrap()
    }

    /// Sends a request with the headers and metadata of the revision.
    pub async fn request(&self, method: &str, parameters: Value) -> Response {
        self.request_with(method, parameters, &[]).await
    }

    pub async fn request_with(
        &self,
        method: &str,
        mut parameters: Value,
        headers: &[(&str, &str)],
    ) -> Response {
        if self.session.is_none() {
            parameters["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
                "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
            });
        }
        self.send(&request(7, method, &parameters), headers).await
    }

    /// Sends any body; `headers` replace the usual ones of the same name.
    pub async fn send(&self, body: &Value, headers: &[(&str, &str)]) -> Response {
        let token = self.host.current_token(&self.token).await;
        let mut map = HeaderMap::new();
        let mut set = |name: &str, value: &str| {
            let name: reqwest::header::HeaderName = name.parse().unwrap();
            map.insert(name, value.parse().unwrap());
        };
        set("accept", ACCEPT);
        set("content-type", "application/json");
        set("authorization", &format!("Bearer {token}"));
        match &self.session {
            Some(session) => {
                set("mcp-session-id", session);
                set("mcp-protocol-version", LEGACY);
            }
            None if body["method"] != "initialize" => {
                set("mcp-protocol-version", MODERN);
                set("mcp-method", body["method"].as_str().unwrap_or_default());
                let name = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
                if let Some(name) = name {
                    set("mcp-name", name);
                }
            }
            None => {}
        }
        headers.iter().for_each(|(name, value)| set(name, value));
        let url = format!("{}/mcp{}", self.host.url, self.view);
        let request = self.host.client.request(Method::POST, url).headers(map).json(body);
        request.send().await.unwrap()
    }

    /// Sends a request that must succeed, and returns its result.
    pub async fn result(&self, method: &str, parameters: Value) -> Value {
        let response = self.request(method, parameters).await;
        assert_eq!(response.status(), 200, "{method}: {}", response.text().await.unwrap());
        let answer = message(response).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool and returns its result, also if that is an error.
    pub async fn tool(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// Returns the tools with their names, in the order of the answer.
    /// Returns the tools of all pages by their names.
    pub async fn tools(&self) -> Vec<(String, Value)> {
        let (mut tools, mut parameters) = (Vec::new(), json!({}));
        loop {
            let page = self.result("tools/list", parameters).await;
            let listed = page["tools"].as_array().unwrap().iter();
            tools.extend(
                listed.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone())),
            );
            match page["nextCursor"].as_str() {
                Some(cursor) => parameters = json!({ "cursor": cursor }),
                None => return tools,
            }
        }
    }

    pub async fn tool_names(&self) -> Vec<String> {
        self.tools().await.into_iter().map(|(name, _)| name).collect()
    }
}

pub fn request(id: u64, method: &str, parameters: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters })
}

/// Returns the one message of an answer, or the last of a stream.
pub async fn message(response: Response) -> Value {
    let streams = content_type(&response).contains("event-stream");
    let text = response.text().await.unwrap();
    match streams {
        true => events(&text).last().cloned().unwrap_or_else(|| panic!("no message in {text}")),
        false => serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}")),
    }
}

pub fn content_type(response: &Response) -> &str {
    response.headers().get("content-type").map_or("", |value| value.to_str().unwrap())
}

fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
}

/// The messages of a stream, read one by one.
pub struct Messages {
    response: Response,
    text: String,
    read: usize,
}

impl Messages {
    pub fn of(response: Response) -> Self {
        assert!(content_type(&response).contains("event-stream"), "{response:?}");
        Self { response, text: String::new(), read: 0 }
    }

    /// Waits for the next message; returns `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let known = events(&self.text);
            if let Some(message) = known.get(self.read) {
                self.read += 1;
                return Some(message.clone());
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.unwrap_or_else(|_| panic!("no message comes")).ok()??;
            self.text.push_str(&String::from_utf8_lossy(&chunk));
        }
    }
}
