//! Tool calls that need nothing of the transport, which starts a task with channels for each request.
//!
//! A message is such a call if it belongs to no session, is complete for its revision, names this host and a tool of
//! the catalog, and comes from no page of a browser. The transport answers every other message, so it alone decides
//! what is refused. Both answer a call with the same bytes.

use crate::{
    Mcp, Sender, View,
    call::{Client, ToolAnswer, ToolOutcome},
    sender::SESSION_HEADER,
};
use http::{
    HeaderMap,
    header::{ACCEPT, AsHeaderName, HOST, ORIGIN},
};
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure};
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, ClientCapabilities, JsonRpcError,
    JsonRpcVersion2_0, ProtocolVersion, RequestId, ResultType,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";
const METHOD: &str = "tools/call";
/// The media types that a client of the transport accepts.
const MEDIA_TYPES: [&str; 2] = ["application/json", "text/event-stream"];

/// A call of a tool that is answered without the transport.
#[derive(Debug)]
pub struct DirectCall {
    id: RequestId,
    request: CallToolRequestParams,
    capabilities: ClientCapabilities,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    params: CallToolRequestParams,
}

#[derive(Serialize)]
struct Response<'a, R> {
    jsonrpc: JsonRpcVersion2_0,
    id: &'a RequestId,
    result: R,
}

/// A tool's result, whose text and structured content are the same JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult<'a> {
    result_type: ResultType,
    content: [Text<'a>; 1],
    structured_content: &'a RawValue,
    is_error: bool,
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl Mcp {
    /// Parses a message; `None` if the transport must answer it. `body` is declared as JSON.
    pub fn direct_call(&self, headers: &HeaderMap, body: &[u8]) -> Option<DirectCall> {
        let tools = self.current_tools();
        parse(headers, body, &self.hosts).filter(|call| tools.has(&call.request.name))
    }

    /// Ensures that a token's scopes allow a call, as [`ensure_scope`](Self::ensure_scope) does for the transport.
    ///
    /// # Errors
    ///
    /// Fails with `insufficient_scope`.
    pub fn ensure_scope_of(
        &self,
        caller: &AgentCaller,
        view: &View,
        call: &DirectCall,
    ) -> Result<(), Failure> {
        let CallToolRequestParams { name, arguments, .. } = &call.request;
        self.ensure_scope_of_call(caller, view, (name, arguments.clone().unwrap_or_default()))
    }

    /// Answers a call with the JSON of a response.
    ///
    /// # Errors
    ///
    /// Fails with `internal_error` if the answer cannot be written.
    pub async fn answer(&self, call: DirectCall, sender: Sender) -> Result<Vec<u8>, Failure> {
        let DirectCall { id, request, capabilities } = call;
        let outcome = self.call(request, sender, Client::without_peer(capabilities)).await;
        let response = match outcome {
            Ok(ToolOutcome::Answered(answer)) => answered(&id, &answer),
            Ok(ToolOutcome::Asked(question)) => serde_json::to_vec(&Response {
                jsonrpc: JsonRpcVersion2_0,
                id: &id,
                result: question,
            }),
            Err(error) => serde_json::to_vec(&JsonRpcError::new(Some(id), error)),
        };
        response.map_err(|error| {
            tracing::error!(%error, "the answer to a tool call cannot be written");
            Failure::new(ErrorCode::InternalError)
        })
    }
}

/// Parses a call; `None` if the transport must judge it. `hosts` are the names of this host.
fn parse(headers: &HeaderMap, body: &[u8], hosts: &[String]) -> Option<DirectCall> {
    let version = ProtocolVersion::V_2026_07_28;
    let is_direct = only_text(headers, VERSION_HEADER)? == version.as_str()
        && only_text(headers, METHOD_HEADER)? == METHOD
        && is_one_of(hosts, only_text(headers, HOST)?)
        && accepts_both(only_text(headers, ACCEPT)?)
        && !headers.contains_key(ORIGIN)
        && !headers.contains_key(SESSION_HEADER);
    if !is_direct {
        return None;
    }
    let Message { id, params: request, .. } = serde_json::from_slice(body).ok()?;
    let meta = request.meta.as_ref()?;
    let capabilities = meta.client_capabilities()?;
    let is_direct =
        meta.protocol_version()? == version && only_text(headers, NAME_HEADER)? == request.name;
    is_direct.then_some(DirectCall { id, request, capabilities })
}

/// Returns whether a `Host` header has one of these names. The transport knows more spellings of a name.
fn is_one_of(hosts: &[String], header: &str) -> bool {
    let without_port = header.rsplit_once(':').map_or(header, |(host, _port)| host);
    hosts.iter().any(|host| host == header || host == without_port)
}

fn answered(id: &RequestId, answer: &ToolAnswer) -> serde_json::Result<Vec<u8>> {
    let body = to_raw_value(&answer.body)?;
    let result = ToolResult {
        result_type: ResultType::COMPLETE,
        content: [Text { r#type: "text", text: body.get() }],
        structured_content: &body,
        is_error: answer.is_error,
    };
    serde_json::to_vec(&Response { jsonrpc: JsonRpcVersion2_0, id, result })
}

/// Returns the text of a header that occurs once.
fn only_text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Returns whether an `Accept` header without weights has both media types of the transport.
fn accepts_both(header: &str) -> bool {
    !header.contains([';', '"'])
        && MEDIA_TYPES
            .iter()
            .all(|wanted| header.split(',').any(|range| range.trim().eq_ignore_ascii_case(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use serde_json::{Value, json};

    const HEADERS: [(&str, &str); 5] = [
        (VERSION_HEADER, "2026-07-28"),
        (METHOD_HEADER, METHOD),
        (NAME_HEADER, "notes_book"),
        ("host", "api.example.com:8080"),
        ("accept", "application/json, text/event-stream"),
    ];

    fn message() -> Value {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": METHOD, "params": {
                "name": "notes_book", "arguments": { "action": "list" }, "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        })
    }

    fn is_direct(changed: &[(&'static str, &'static str)], message: &Value) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in HEADERS {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        for (name, value) in changed {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let hosts = ["api.example.com".to_owned(), "[::1]".to_owned()];
        parse(&headers, message.to_string().as_bytes(), &hosts).is_some()
    }

    #[test]
    fn a_complete_call_needs_no_transport() {
        assert!(is_direct(&[], &message()));
        for changed in [
            ("host", "api.example.com"),
            ("host", "[::1]"),
            ("host", "[::1]:8080"),
            ("accept", "text/event-stream,application/JSON"),
        ] {
            assert!(is_direct(&[changed], &message()), "{changed:?}");
        }
    }

    #[test]
    fn the_transport_judges_every_other_message() {
        for changed in [
            ("host", "evil.example"),
            ("host", "api.example.com.evil.example"),
            ("origin", "https://api.example.com"),
            ("mcp-session-id", "1"),
            (VERSION_HEADER, "2025-11-25"),
            (METHOD_HEADER, "tools/list"),
            (NAME_HEADER, "notes_shelf"),
            ("accept", "application/json"),
            ("accept", "application/json, text/event-stream;q=0"),
        ] {
            assert!(!is_direct(&[changed], &message()), "{changed:?}");
        }
        for (pointer, value) in [
            ("/jsonrpc", json!("1.0")),
            ("/id", json!({})),
            ("/method", json!("tools/list")),
            ("/params/name", json!(5)),
            ("/params/arguments", json!([])),
            ("/params/_meta", json!({})),
            ("/params/_meta/io.modelcontextprotocol~1protocolVersion", json!("2025-11-25")),
            ("/params/_meta/io.modelcontextprotocol~1clientCapabilities", json!(5)),
        ] {
            let mut message = message();
            *message.pointer_mut(pointer).unwrap() = value;
            assert!(!is_direct(&[], &message), "{pointer}");
        }
        assert!(!is_direct(&[], &json!([message()])));
    }
}
