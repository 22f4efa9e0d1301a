//! Abuses of the ways in without a redirect: codes of devices, and pages on which people claim agents.

use crate::{
    abuse::{
        attacker::{Attacker, JSON, permitted, until_refused},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, Scene},
    },
    harness::{Options, Reply, oauth::text},
};
use reqwest::Method;
use serde_json::json;
use std::time::Instant;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// The token requests of one address in a minute, and of one client.
const TOKEN_REQUESTS: usize = 300;
const CLIENT_REQUESTS: usize = 60;
/// The pages of one address in a minute: each refusal takes two.
const PAGE_VIEWS: usize = 600;
/// The wrong codes that an address may enter before it has to wait.
const FREE_GUESSES: usize = 5;

pub fn options() -> Options {
    Options::with(&["svc_phone_binding", "svc_whoami", "svc_events", "ledger"]).configuration(LIVE)
}

pub const ROWS: &[Row] = &[
    Row {
        name: "device codes without end",
        abuse: "requests codes for five clients of devices, again and again",
        before: "–",
        outcome: "429 after 300 a minute; codes are removed after an hour",
        bound: Bound::new(40, 120),
        attack: |scene| Box::pin(codes(scene)),
    },
    Row {
        name: "device codes polled",
        abuse: "requests the token of one code without a pause",
        before: "–",
        outcome: "`slow_down`; 429 after 60 a minute",
        bound: Bound::new(15, 60),
        attack: |scene| Box::pin(polls(scene)),
    },
    Row {
        name: "user codes guessed",
        abuse: "enters codes for which no device waits",
        before: "–",
        outcome: "429 after five, then one in ever longer times; two rows of the audit log a minute",
        bound: Bound::new(5, 60),
        attack: |scene| Box::pin(guesses(scene)),
    },
    Row {
        name: "claims refused without end",
        abuse: "has an agent ask for pages of its claim, and refuses on each",
        before: "–",
        outcome: "429 after 300 a minute; two rows of the audit log a minute",
        bound: Bound::new(25, 120),
        attack: |scene| Box::pin(refusals(scene)),
    },
];

async fn device_client(attacker: &Attacker<'_>) -> String {
    let metadata = json!({ "token_endpoint_auth_method": "none", "grant_types": [GRANT] });
    let client = attacker.post("/oauth/register", &metadata).await;
    assert_eq!(client.status, 201, "{}", client.text);
    text(&client.body, "client_id").to_owned()
}

async fn start(attacker: &Attacker<'_>, client: &str) -> Reply {
    attacker.post_form("/oauth/device_authorization", &[("client_id", client)]).await
}

async fn codes(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let mut clients = Vec::new();
    for _ in 0..5 {
        clients.push(device_client(&attacker).await);
    }
    let attack = async || {
        let begun = Instant::now();
        let mut started = 0;
        for client in &clients {
            started += until_refused(100, async |_| start(&attacker, client).await).await;
        }
        assert!(started <= permitted(TOKEN_REQUESTS, begun), "{started}");
    };
    scene.measure(Pace::minutes(2), attack).await
}

async fn polls(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let client = device_client(&attacker).await;
    let attack = async || {
        let begun = Instant::now();
        let codes = start(&attacker, &client).await.body;
        let form = [
            ("grant_type", GRANT),
            ("client_id", client.as_str()),
            ("device_code", text(&codes, "device_code")),
        ];
        let poll = async |number: usize| {
            let reply = attacker.post_form("/oauth/token", &form).await;
            let expected = if number == 0 { "authorization_pending" } else { "slow_down" };
            let error = if reply.status == 429 { "temporarily_unavailable" } else { expected };
            assert_eq!(reply.body["error"], error, "{}", reply.text);
            reply
        };
        let polled = until_refused(2 * CLIENT_REQUESTS, poll).await;
        assert!(polled <= permitted(CLIENT_REQUESTS, begun), "{polled}");
    };
    scene.measure(Pace::minutes(3), attack).await
}

async fn guesses(scene: &Scene<'_>) -> Cost {
    let (owner, attacker) = (scene.attacker(), scene.attacker());
    let client = device_client(&owner).await;
    let path =
        format!("/device?user_code={}", text(&start(&owner, &client).await.body, "user_code"));
    let attack = async || {
        let guessed =
            until_refused(100, async |_| attacker.get("/device?user_code=BBBB-BBBB").await).await;
        assert!(guessed <= FREE_GUESSES, "{guessed}");
        assert_eq!(attacker.get(&path).await.status, 429);
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    // The owner of the device, who is elsewhere, need not wait.
    assert_eq!(owner.get(&path).await.status, 200);
    cost
}

async fn refusals(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let agent = attacker.register().await;
    let token = attacker.mcp_token(&agent).await;
    let mut person = attacker.person();
    let attack = async || {
        let begun = Instant::now();
        let mut refused = 0;
        loop {
            let page = person.open(&ask(&attacker, &token).await).await;
            let form = [("steps", page.steps.as_str()), ("step", "refuse")];
            if page.reply.status == 429 || person.post(&form).await.status == 429 {
                break;
            }
            refused += 1;
        }
        assert!((1..=permitted(PAGE_VIEWS / 2, begun)).contains(&refused), "{refused}");
    };
    scene.measure(Pace::minutes(2), attack).await
}

/// Has the agent ask for the page of its claim, and returns the page's path.
async fn ask(attacker: &Attacker<'_>, token: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "url": {} } },
    });
    let arguments = json!({ "action": "open", "account": "x" });
    let call = json!({ "name": "ledger", "arguments": arguments, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let bearer = format!("Bearer {token}");
    let headers = [
        JSON,
        ("accept", "application/json, text/event-stream"),
        ("authorization", &bearer),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "ledger"),
    ];
    let reply = attacker.send(Method::POST, "/mcp", &headers, Some(message.to_string())).await;
    let asked = &reply.body["result"]["inputRequests"]["answers"]["params"];
    text(asked, "url").strip_prefix(&attacker.host.url).unwrap().to_owned()
}
