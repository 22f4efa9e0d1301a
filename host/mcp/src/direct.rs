//! Tool calls that need nothing of the transport, which starts a task with channels for each request.
//!
//! A message is such a call if it belongs to no session, is complete for its revision, names this host and a tool of
//! the catalog, and comes from no page of a browser. The transport answers every other message, so it alone decides
//! what is refused. Both answer a call with the same bytes.

use crate::{
    Mcp, Sender, View,
    call::{Client, ToolAnswer, ToolCall, ToolOutcome},
    request::Sent,
    sender::SESSION_HEADER,
};
use http::{
    HeaderMap,
    header::{ACCEPT, AsHeaderName, HOST, ORIGIN},
};
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure};
use rmcp::model::{
    ClientCapabilities, InputResponses, JsonRpcError, JsonRpcResponse, JsonRpcVersion2_0,
    ProtocolVersion, RequestId,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";
const VERSION_OF_JSON_RPC: &str = "2.0";
const METHOD: &str = "tools/call";
/// The media types that a client of the transport accepts.
const MEDIA_TYPES: [&str; 2] = ["application/json", "text/event-stream"];
/// The maximum number of bytes of a response beside the answer itself, for most ids.
const FRAME_BYTES: usize = 256;

/// A call of a tool that is answered without the transport. It borrows the message.
#[derive(Debug)]
pub struct DirectCall<'m> {
    id: RequestId,
    call: ToolCall<'m>,
    capabilities: ClientCapabilities,
}

/// The members of a message that a call needs. Texts without escapes are borrowed from it.
#[derive(Deserialize)]
struct Message<'m> {
    #[serde(borrow)]
    jsonrpc: Cow<'m, str>,
    id: RequestId,
    #[serde(borrow)]
    method: Cow<'m, str>,
    #[serde(borrow)]
    params: Parameters<'m>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters<'m> {
    #[serde(borrow)]
    name: Cow<'m, str>,
    arguments: Option<Map<String, Value>>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
    #[serde(rename = "_meta", borrow)]
    meta: Metadata<'m>,
}

#[derive(Deserialize)]
struct Metadata<'m> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    protocol_version: Cow<'m, str>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    client_capabilities: ClientCapabilities,
    traceparent: Option<String>,
}

impl Mcp {
    /// Parses a message; `None` if the transport must answer it. `body` is declared as JSON.
    pub fn direct_call<'m>(&self, headers: &HeaderMap, body: &'m [u8]) -> Option<DirectCall<'m>> {
        let Message { id, params, .. } = parse(headers, body, &self.hosts)?;
        let Parameters { name, arguments, input_responses, request_state, meta } = params;
        let tools = self.current_tools();
        let request = tools.request(&name, arguments.unwrap_or_default())?;
        let trace = meta.traceparent.as_deref().and_then(TraceContext::parse);
        let sent = Sent::Message(body);
        let call = ToolCall { tools, name, request, sent, input_responses, request_state, trace };
        Some(DirectCall { id, call, capabilities: meta.client_capabilities })
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
        call: &DirectCall<'_>,
    ) -> Result<(), Failure> {
        let ToolCall { tools, request, .. } = &call.call;
        self.ensure_scope_of_request(caller, view, (tools, request))
    }

    /// Answers a call with the JSON of a response.
    ///
    /// # Errors
    ///
    /// Fails with `internal_error` if the answer cannot be written.
    pub async fn answer(&self, call: DirectCall<'_>, sender: Sender) -> Result<Vec<u8>, Failure> {
        let DirectCall { id, call, capabilities } = call;
        let outcome = self.call(call, sender, Client::without_peer(capabilities)).await;
        let response = match outcome {
            Ok(ToolOutcome::Answered(answer)) => answered(&id, &answer),
            Ok(ToolOutcome::Asked(question)) => serde_json::to_vec(&JsonRpcResponse {
                jsonrpc: JsonRpcVersion2_0,
                id,
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
fn parse<'m>(headers: &HeaderMap, body: &'m [u8], hosts: &[String]) -> Option<Message<'m>> {
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
    let message: Message<'m> = serde_json::from_slice(body).ok()?;
    let Parameters { name, meta, .. } = &message.params;
    let is_direct = message.jsonrpc == VERSION_OF_JSON_RPC
        && message.method == METHOD
        && meta.protocol_version == version.as_str()
        && only_text(headers, NAME_HEADER)? == name;
    is_direct.then_some(message)
}

/// Returns whether a `Host` header has one of these names. The transport knows more spellings of a name.
fn is_one_of(hosts: &[String], header: &str) -> bool {
    let without_port = header.rsplit_once(':').map_or(header, |(host, _port)| host);
    hosts.iter().any(|host| host == header || host == without_port)
}

/// Returns the response with a tool's result, whose text and structured content are the same JSON. It is written into
/// one buffer: the types of the transport would need a copy of the answer, and grow their buffer several times.
fn answered(id: &RequestId, answer: &ToolAnswer) -> serde_json::Result<Vec<u8>> {
    let content = serde_json::to_string(&answer.body)?;
    // In the text, each quote has a backslash.
    let mut response = Vec::with_capacity(FRAME_BYTES + content.len() * 5 / 2);
    response.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    serde_json::to_writer(&mut response, id)?;
    response.extend_from_slice(
        br#","result":{"resultType":"complete","content":[{"type":"text","text":"#,
    );
    serde_json::to_writer(&mut response, &content)?;
    response.extend_from_slice(br#"}],"structuredContent":"#);
    response.extend_from_slice(content.as_bytes());
    let end = match answer.is_error {
        true => r#","isError":true}}"#,
        false => r#","isError":false}}"#,
    };
    response.extend_from_slice(end.as_bytes());
    Ok(response)
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
    use crate::call::ToolBody;
    use http::{HeaderName, HeaderValue};
    use portolan_pipeline::{Answer, Meta};
    use rmcp::model::{CallToolResponse, ServerJsonRpcMessage, ServerResult};
    use serde_json::json;
    use std::sync::Arc;

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
                    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
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
            ("/params/_meta/traceparent", json!(5)),
        ] {
            let mut message = message();
            *message.pointer_mut(pointer).unwrap() = value;
            assert!(!is_direct(&[], &message), "{pointer}");
        }
        assert!(!is_direct(&[], &json!([message()])));
    }

    /// Returns the bytes with which the transport answers.
    fn sent_by_transport(id: RequestId, answer: ToolAnswer) -> Vec<u8> {
        let CallToolResponse::Complete(result) = ToolOutcome::Answered(answer).into() else {
            panic!("the call is answered");
        };
        let result = ServerResult::CallToolResult(result);
        serde_json::to_vec(&ServerJsonRpcMessage::response(result, id)).unwrap()
    }

    #[test]
    fn an_answer_has_the_bytes_of_the_transport() {
        let text = "a \"quote\", a \\, a line\nand \u{0} \u{1f600} ä </script>";
        let call = || {
            let result =
                json!({ "z": text, "a": [1.0, -0.5, 1e300, u64::MAX, null, {}], "": true });
            let meta = Meta {
                capability: Arc::from("notes.book"),
                action: "list".to_owned(),
                version: "1.0.0".to_owned(),
                request_id: Arc::from("req_1"),
                replayed: false,
                test_mode: true,
                cost_credits: 3,
                dry_run: true,
                would_emit: Some(Vec::new()),
                needs_approval: None,
            };
            let next = Some(json!({ "tool": "notes_book", "arguments": {} }));
            ToolBody::Call(Box::new(Answer { result, meta, next }))
        };
        let refusal = || ToolBody::Other(json!({ "error_code": "x", "message": text }));
        for id in [RequestId::Number(-7), RequestId::String(Arc::from("a\"b"))] {
            for (body, again, is_error) in [(call(), call(), false), (refusal(), refusal(), true)] {
                let direct = answered(&id, &ToolAnswer { body, is_error }).unwrap();
                let sent = sent_by_transport(id.clone(), ToolAnswer { body: again, is_error });
                let [direct, sent] = [direct, sent].map(|bytes| String::from_utf8(bytes).unwrap());
                assert_eq!(direct, sent);
            }
        }
    }
}
