//! One address that uses every endpoint for an hour, until each of them refuses it.

use crate::{
    abuse::{
        attacker::{Attacker, FORM, JSON, all_answered},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, Scene},
    },
    cases::plugins::names,
    harness::{Options, Reply, feeds::city, mcp::MODERN},
};
use portolan_vocabulary::Limits;
use reqwest::Method;
use serde_json::{Value, json};

/// The host gives this part of the work and of the stored bytes of production.
const PART: u64 = 8;
/// The settings that bound all endpoints together.
const BUDGETS: [&str; 3] = ["work_ms_per_hour", "page_work_ms_per_hour", "stored_bytes_per_hour"];
/// Registrations store the most for each request, and few are permitted: they are sent in one of so many rounds.
const RARE: usize = 20;
/// The rounds after which the budget must be used up.
const ROUNDS: usize = 2_000;
/// This text in a path or a body is replaced by the number of the round.
const NUMBER: &str = "{n}";

fn budgets() -> [u64; 3] {
    let limits = Limits::default();
    let all = [limits.work_ms_per_hour, limits.page_work_ms_per_hour, limits.stored_bytes_per_hour];
    all.map(|limit| limit / PART)
}

/// The host of this abuse.
pub fn options() -> Options {
    let budgets = BUDGETS.iter().zip(budgets()).map(|(name, part)| format!("{name} = {part}\n"));
    let budgets: String = budgets.collect();
    let settings = format!("{LIVE}feeds_dir = {:?}\n[limits]\n{budgets}", city().join("feeds"));
    let names = names();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    Options::with(&names).configuration(&settings)
}

pub const ROWS: &[Row] = &[Row {
    name: "everything in one hour",
    abuse: "uses every endpoint in turn until each refuses, whenever something has refilled, and goes on with a thousand requests a second",
    before: "–",
    outcome: "429 from every endpoint when the work of the hour is used up; addresses of other networks are served",
    bound: Bound::new(50, 300),
    attack: |scene| Box::pin(everything(scene)),
}];

/// A request that is sent again and again.
struct Request {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<String>,
    is_rare: bool,
}

impl Request {
    fn get(path: &str) -> Self {
        let (method, headers) = (Method::GET, Vec::new());
        Self { method, path: path.to_owned(), headers, body: None, is_rare: false }
    }

    fn post(path: &str, (field, kind): (&'static str, &str), body: String) -> Self {
        let headers = vec![(field, kind.to_owned())];
        let (method, body) = (Method::POST, Some(body));
        Self { method, path: path.to_owned(), headers, body, is_rare: false }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn rare(self) -> Self {
        Self { is_rare: true, ..self }
    }

    async fn send(&self, attacker: &Attacker<'_>, round: usize) -> Reply {
        let numbered = |text: &str| text.replace(NUMBER, &format!("{round:022}"));
        let headers: Vec<_> =
            self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = self.body.as_deref().map(numbered);
        attacker.send(self.method.clone(), &numbered(&self.path), &headers, body).await
    }
}

/// Returns requests to the endpoints of every kind.
async fn requests(attacker: &Attacker<'_>) -> Vec<Request> {
    let agent = attacker.register().await;
    let (token, mcp_token) = (attacker.token(&agent).await, attacker.mcp_token(&agent).await);
    let (bearer, mcp_bearer) = (format!("Bearer {token}"), format!("Bearer {mcp_token}"));
    let grant = "urn:ietf:params:oauth:grant-type:device_code";
    let metadata = json!({ "token_endpoint_auth_method": "none", "grant_types": [grant] });
    let device = attacker.post("/oauth/register", &metadata).await;
    assert_eq!(device.status, 201, "{}", device.text);
    let text = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
    let device = format!("client_id={}", text(&device.body, "client_id"));
    let secret = format!(
        "client_id={}&client_secret={}",
        text(&agent, "client_id"),
        text(&agent, "client_secret")
    );
    let call = |capability: &str, body: Value| {
        let path = format!("/v1/capabilities/{capability}/call");
        Request::post(&path, JSON, body.to_string()).with("authorization", &bearer)
    };
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": { "_meta": meta } });
    let ids = vec!["evt_00000000000000000000000000"; 100];
    let acknowledged = json!({ "ack_event_ids": ids }).to_string();
    let markdown = "**a *b ".repeat(1_000);
    let mut all: Vec<_> = [
        "/",
        "/docs",
        "/docs/connect",
        "/status",
        "/v1/capabilities",
        "/v1/capabilities/svc.whoami/schema",
        "/openapi.json",
        "/llms.txt",
        "/healthz",
        "/.well-known/jwks.json",
        "/v1/install/install.sh",
        "/sitemap.xml",
        "/map/data/changes.json?limit=1000",
        "/map/data/sf-people.csv",
        "/map/objection",
        "/no/such/path",
        "/media/none?blob=x",
        "/m/{n}",
        "/claim/000000000000000000000{n}",
        "/email/{n}",
        "/passkey?ceremony=000000000000000000000{n}",
        "/published/calendar/000000000000000000000{n}",
        "/map/handoffs/none_{n}/tgt_{n}",
        "/handoff/x.{n}",
        "/device",
        "/oauth/authorize?client_id=cli_{n}",
    ]
    .iter()
    .map(|path| Request::get(path))
    .collect();
    let cookie = "portolan_session=000000000000000000000{n}";
    all.extend([
        Request::get("/account").with("cookie", cookie),
        Request::get("/approve?approval_code=0000-0000").with("cookie", cookie),
        Request::get("/v1/agent-events/stream?wait=0").with("authorization", &bearer),
        Request::post("/v1/agent-events/ack", JSON, acknowledged).with("authorization", &bearer),
        Request::post("/oauth/token", FORM, format!("grant_type=client_credentials&{secret}")),
        Request::post("/oauth/introspect", FORM, format!("token={NUMBER}&{secret}")),
        Request::post("/oauth/revoke", FORM, format!("token={NUMBER}&{secret}")),
        Request::post("/oauth/device_authorization", FORM, device),
        Request::post("/oauth/authorize/continue", FORM, format!("steps={}", "A".repeat(10_000))),
        Request::post("/v1/sms/reports/sms_{n}", FORM, "MessageStatus=failed".to_owned()),
        call("svc.whoami", json!({ "action": "get" })),
        call("no_such_capability", json!({ "action": "get" })),
        call(
            "content_render",
            json!({ "action": "render", "markdown": markdown, "format": "html" }),
        ),
        Request::post("/mcp", JSON, list.to_string())
            .with("accept", "application/json, text/event-stream")
            .with("authorization", mcp_bearer)
            .with("mcp-protocol-version", MODERN)
            .with("mcp-method", "tools/list"),
        Request::post("/oauth/register", JSON, metadata.to_string()).rare(),
        Request::post("/v1/agents/register", JSON, json!({ "type": "anonymous" }).to_string())
            .rare(),
    ]);
    all
}

/// Sends every request in turn until each of them is refused as one too many.
async fn use_up(attacker: &Attacker<'_>, requests: &[Request]) {
    let mut is_whole = true;
    for round in 0..ROUNDS {
        is_whole |= round % RARE == 0;
        let mut answered = 0;
        for request in requests.iter().filter(|request| is_whole || !request.is_rare) {
            answered += usize::from(request.send(attacker, round).await.status != 429);
        }
        if answered == 0 && is_whole {
            return;
        }
        // The next round tells whether the rare ones are refused too.
        is_whole = answered == 0;
    }
    panic!("{ROUNDS} rounds are not refused");
}

/// Returns what an address has used of each budget and not got back.
async fn used(scene: &Scene<'_>, account: &str) -> [u64; 3] {
    let callers = scene.host.operate("/callers").await.body;
    let accounts = callers["accounts"].as_array().unwrap_or_else(|| panic!("{callers}"));
    let Some(found) = accounts.iter().find(|found| found["account"] == account) else {
        return [0; 3];
    };
    let rates = found["rates"].as_array().unwrap();
    BUDGETS.map(|name| {
        let rate = rates.iter().find(|rate| rate["limit"] == name);
        rate.map_or(0, |rate| rate["used"].as_u64().unwrap())
    })
}

async fn everything(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 1_000;
    let attacker = scene.attacker();
    let account = format!("{}/32", attacker.address);
    let requests = requests(&attacker).await;
    let mut accounted = used(scene, &account).await;
    let window = async || {
        let before = used(scene, &account).await;
        use_up(&attacker, &requests).await;
        let after = used(scene, &account).await;
        for ((sum, after), before) in accounted.iter_mut().zip(after).zip(before) {
            *sum += after.saturating_sub(before);
        }
    };
    let spent = scene.measure(Pace::HOURLY, window).await;
    let refused = attacker.get("/healthz").await;
    refused.assert_refused(429, "rate_limited");
    let conflict = &refused.body["conflict"];
    assert_eq!((&conflict["name"], &conflict["of"]), (&json!(BUDGETS[1]), &json!("address")));
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
    // The budget at once, and what has refilled in the hour.
    for ((name, budget), used) in BUDGETS.iter().zip(budgets()).zip(accounted) {
        println!("accounted: {used} of {budget}, {name}");
        assert!(used <= budget * 21 / 10, "{name}: {accounted:?}");
        // Agents meet the limits of their calls too, and what is stored is bounded by the work first.
        let least = if *name == BUDGETS[1] { budget * 3 / 2 } else { 1 };
        assert!(used >= least, "{name}: {accounted:?}");
    }
    assert_eq!(scene.attacker().get("/healthz").await.status, 200);

    let flood = async || {
        all_answered(SENT, &[200, 429], async |_| attacker.get("/healthz").await).await;
    };
    let refusals = scene.measure(Pace::flood(SENT), flood).await;
    let spent = spent.scaled(PART as f64, 1.0);
    Cost { cpu: spent.cpu + refusals.cpu, ..spent }
}
