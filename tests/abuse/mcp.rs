//! Abuses of the endpoint for MCP.

use crate::{
    abuse::{
        attacker::{Attacker, all_answered},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, REQUESTS, Scene},
    },
    harness::{
        Options, Reply, join_all,
        mcp::{LEGACY, MODERN},
    },
};
use reqwest::{Method, header::ACCEPT};
use serde_json::{Value, json};

const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
/// The sessions that the unclaimed agents of one address may have, and those of one agent.
const ADDRESS_SESSIONS: usize = 250;
const AGENT_SESSIONS: usize = 16;

pub fn options() -> Options {
    let names = crate::cases::plugins::names();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    Options::with(&names).configuration(LIVE)
}

pub const ROWS: &[Row] = &[
    Row {
        name: "sessions without end",
        abuse: "starts sessions with 17 agents",
        before: "all 1000 sessions in a second",
        outcome: "`rate_limited` after 16 for an agent, 250 for the address",
        bound: Bound::new(5, 30).held(250),
        attack: |scene| Box::pin(sessions(scene)),
    },
    Row {
        name: "pings",
        abuse: "keeps a session alive by pings without end",
        before: "not counted",
        outcome: "429 after 3000 requests a minute",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(pings(scene)),
    },
    Row {
        name: "notifications",
        abuse: "sends notifications that nobody asked for",
        before: "not counted",
        outcome: "202 or 400; nothing is stored",
        bound: Bound::new(5, 200),
        attack: |scene| Box::pin(notifications(scene)),
    },
    Row {
        name: "streams held open",
        abuse: "opens streams of one session again and again",
        before: "–",
        outcome: "at most 256 connections of the address",
        bound: Bound::new(5, 30).held(256),
        attack: |scene| Box::pin(streams(scene)),
    },
    Row {
        name: "batches",
        abuse: "sends 5,500 messages in one body",
        before: "–",
        outcome: "400, -32600",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(batches(scene)),
    },
    Row {
        name: "deep messages",
        abuse: "sends messages and arguments of 100,000 levels",
        before: "–",
        outcome: "400, -32700",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(deep(scene)),
    },
    Row {
        name: "lists of tools",
        abuse: "asks for the tools, the resources and the prompts without end",
        before: "–",
        outcome: "429 after 3000 requests a minute",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(lists(scene)),
    },
    Row {
        name: "others' sessions",
        abuse: "uses the session of another agent, and guesses sessions",
        before: "–",
        outcome: "404",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(strange_sessions(scene)),
    },
    Row {
        name: "foreign origins and hosts",
        abuse: "has the browser of a person call the endpoint from another page, and under another name",
        before: "–",
        outcome: "403",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(foreign(scene)),
    },
];

/// An agent at the attacker's address, with a token for this endpoint.
struct Client<'a> {
    attacker: &'a Attacker<'a>,
    token: String,
}

impl<'a> Client<'a> {
    async fn new(attacker: &'a Attacker<'a>) -> Self {
        let agent = attacker.register().await;
        Self { attacker, token: attacker.mcp_token(&agent).await }
    }

    async fn send(&self, headers: &[(&str, &str)], body: String) -> Reply {
        let bearer = format!("Bearer {}", self.token);
        let own = [BOTH, ("content-type", "application/json"), ("authorization", &*bearer)];
        self.attacker.send(Method::POST, "/mcp", &[&own[..], headers].concat(), Some(body)).await
    }

    /// Sends a request in the revision without sessions.
    async fn ask(&self, method: &str, parameters: Value) -> Reply {
        let mut parameters = parameters;
        parameters["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", method)];
        self.send(&headers, message(method, &parameters)).await
    }

    async fn initialize(&self) -> Reply {
        let parameters = json!({
            "protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": { "name": "a guest", "version": "1" },
        });
        self.send(&[], message("initialize", &parameters)).await
    }

    /// Starts a session and returns its id.
    async fn session(&self) -> String {
        let reply = self.initialize().await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.header("mcp-session-id").to_owned()
    }

    async fn send_in(&self, session: &str, body: String) -> Reply {
        let headers = [("mcp-session-id", session), ("mcp-protocol-version", LEGACY)];
        self.send(&headers, body).await
    }
}

fn message(method: &str, parameters: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": parameters }).to_string()
}

async fn sessions(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let mut clients = Vec::new();
    for _ in 0..17 {
        clients.push(Client::new(&attacker).await);
    }
    let mut started = 0;
    let attack = async || {
        for client in &clients {
            let mut own = 0;
            while client.initialize().await.status == 200 {
                own += 1;
                assert!(own <= AGENT_SESSIONS, "{own}");
            }
            started += own;
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    assert!(started <= ADDRESS_SESSIONS, "{started}");
    // Somebody else still gets a session.
    let other = scene.attacker();
    Client::new(&other).await.session().await;
    cost.holding(started as u64)
}

async fn pings(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let client = Client::new(&attacker).await;
    let session = client.session().await;
    let ping = async |_| client.send_in(&session, message("ping", &json!({}))).await;
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[200], ping).await).await
}

async fn notifications(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 200;
    let attacker = scene.attacker();
    let client = Client::new(&attacker).await;
    let session = client.session().await;
    let methods = ["initialized", "cancelled", "progress", "roots/list_changed", "nonsense"];
    let send = async |number: usize| {
        let method = format!("notifications/{}", methods[number % methods.len()]);
        let parameters = json!({ "requestId": number, "progressToken": number, "progress": 1 });
        let body = json!({ "jsonrpc": "2.0", "method": method, "params": parameters });
        client.send_in(&session, body.to_string()).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[202, 400], send).await).await
}

async fn streams(scene: &Scene<'_>) -> Cost {
    const STREAMS: usize = 300;
    let attacker = scene.attacker();
    let client = Client::new(&attacker).await;
    let session = client.session().await;
    let before = scene.metric("portolan_connections").await;
    let mut held = 0;
    let attack = async || {
        let open = |_| {
            let request = attacker.client.get(format!("{}/mcp", scene.host.url));
            let request = request.bearer_auth(&client.token).header(ACCEPT, "text/event-stream");
            let request = request.header("mcp-session-id", &session);
            request.header("mcp-protocol-version", LEGACY).send()
        };
        let streams = join_all((0..STREAMS).map(open)).await;
        held = scene.metric("portolan_connections").await.saturating_sub(before);
        drop(streams);
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.holding(held)
}

async fn batches(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 30;
    let attacker = scene.attacker();
    let client = Client::new(&attacker).await;
    let one = json!({ "jsonrpc": "2.0", "id": 1, "method": "x" });
    let body = Value::Array(vec![one; 5_500]).to_string();
    assert!(body.len() < 256 << 10);
    let send = async |number: usize| {
        let version = [LEGACY, MODERN][number % 2];
        client.send(&[("mcp-protocol-version", version)], body.clone()).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[400], send).await).await
}

async fn deep(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 30;
    let attacker = scene.attacker();
    let client = Client::new(&attacker).await;
    let arrays = "[".repeat(100_000);
    let whole = message("tools/call", &json!({ "name": "faq_search", "arguments": {} }));
    let bodies =
        [arrays.clone(), whole.replace("\"arguments\":{}", &format!("\"arguments\":{arrays}"))];
    let send = async |number: usize| {
        client.send(&[("mcp-protocol-version", MODERN)], bodies[number % 2].clone()).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[400], send).await).await
}

async fn lists(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 60;
    let attacker = scene.attacker();
    let client = Client::new(&attacker).await;
    let methods = ["tools/list", "resources/list", "prompts/list", "server/discover"];
    let ask = async |number: usize| client.ask(methods[number % methods.len()], json!({})).await;
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[200], ask).await).await
}

async fn strange_sessions(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 150;
    let (owner, attacker) = (scene.attacker(), scene.attacker());
    let session = Client::new(&owner).await.session().await;
    let client = Client::new(&attacker).await;
    let guess = async |number: usize| {
        let guessed = format!("00000000-0000-4000-8000-{number:012}");
        let session = if number.is_multiple_of(2) { &session } else { &guessed };
        client.send_in(session, message("tools/list", &json!({}))).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[404], guess).await).await
}

async fn foreign(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 150;
    let attacker = scene.attacker();
    let agent = attacker.register().await;
    let client = Client { attacker: &attacker, token: attacker.mcp_token(&agent).await };
    let headers = [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("host", "evil.example"),
        ("host", "localhost.evil.example"),
    ];
    let send = async |number: usize| {
        let headers = [("mcp-protocol-version", MODERN), headers[number % headers.len()]];
        client.send(&headers, message("tools/list", &json!({}))).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[403], send).await).await
}
