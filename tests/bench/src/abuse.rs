//! Honest agents beside a flood: the latency of their requests while one address floods a group of endpoints, against
//! the same requests without the flood, in turns. Rates and limits are those of production.

use crate::{
    Effort,
    client::Client,
    host::{BenchHost, Setup},
    report::{Report, percentile},
    response::{Head, read},
    throughput::{ORDER, tool},
};
use anyhow::{Context as _, Result, bail, ensure};
use portolan_vocabulary::Limits;
use serde_json::{Value, json};
use std::{
    io::Read as _,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    process::Stdio,
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpSocket, TcpStream},
    process::Command,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval_at, sleep, timeout},
};

/// The honest agents, and how many of them have one address.
const AGENTS: usize = 32;
const HOUSEHOLD: usize = 8;
/// The pause between two requests of an honest agent: two of three are calls or polls, of which it may make 60 a
/// minute.
const PAUSE: Duration = Duration::from_millis(800);
/// The connections of the flood, and the pause between two requests on each: a thousand requests a second in all.
const CONNECTIONS: usize = 16;
const FLOOD_PAUSE: Duration = Duration::from_millis(16);
/// The time that a flood has run before the honest agents are measured beside it.
const LEAD: Duration = Duration::from_millis(500);
/// How often each group is measured without and with its flood, and how many slices of other benchmarks that takes
/// each time.
const ROUNDS: u8 = 2;
const SLICES: u64 = 6;
/// The time after which an answer counts as missing.
const PATIENCE: Duration = Duration::from_secs(20);
/// The p99 beside a flood that is aimed at, in parts of that without.
const GOAL: f64 = 2.0;
const CAPABILITY: &str = "template_000";
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The endpoints of one flood.
struct Group {
    name: &'static str,
    requests: Vec<String>,
    /// Whether each request has a connection of its own.
    reconnects: bool,
}

/// What clients have seen.
#[derive(Default)]
struct Seen {
    took_ms: Vec<f64>,
    /// The answers with another status than 200, and those that did not arrive.
    refused: u64,
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let limits = Limits::default();
    let setup =
        Setup { limits, rate_limits: true, runs_due_work: true, ..Setup::with(&["template"]) };
    let host = BenchHost::of(setup).await?;
    let agents = honest_agents(&host).await?;
    let time = Duration::from_millis(SLICES * effort.slice_ms);
    let visit = async || visits(&host, plan(&agents, PAUSE, time, false)).await;
    // Warms up.
    visit().await?;
    let mut worst: f64 = 0.0;
    for (number, group) in groups(&host).iter().enumerate() {
        let (mut alone, mut beside) = (Seen::default(), Seen::default());
        for round in 0..ROUNDS {
            eprintln!("abuse, {}, round {} of {ROUNDS}", group.name, round + 1);
            alone.add(visit().await?);
            // Nobody has used anything of the rates of this address.
            let from = Ipv4Addr::new(127, u8::try_from(number + 1)?, round, 1);
            let client = json!({ "from": from.to_string(), "requests": group.requests });
            let clients = vec![client; CONNECTIONS];
            let flood = plan(&clients, FLOOD_PAUSE, LEAD + time, group.reconnects);
            let measured = async {
                sleep(LEAD).await;
                visit().await
            };
            let (flooded, measured) = tokio::join!(visits(&host, flood), measured);
            flooded?;
            beside.add(measured?);
        }
        worst = worst.max(add(report, group.name, &alone, &beside));
    }
    report.add("abuse: the highest ratio of p99", worst, "");
    Ok(())
}

/// Adds the figures of a group, and returns the ratio of the p99 with the flood to that without.
fn add(report: &mut Report, name: &str, alone: &Seen, beside: &Seen) -> f64 {
    let figure = |what: &str, flood: &str| format!("abuse, {name}: {what} {flood}");
    let mut ratio = f64::NAN;
    for percent in [50, 99] {
        let what = format!("p{percent}");
        let [base, with] = [alone, beside].map(|seen| percentile(&seen.took_ms, percent));
        let without = figure(&what, "without the flood");
        report.add(without.clone(), base, "ms");
        report.add(figure(&what, "with it"), with, "ms");
        ratio = with / base;
        report.compare_with(&without, ratio, None);
        if percent == 99 {
            report.aim_at_most(GOAL);
        }
    }
    let refused = alone.refused + beside.refused;
    report.add(figure("refused honest calls,", "goal 0"), refused as f64, "");
    ratio
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.took_ms.extend(other.took_ms);
        self.refused += other.refused;
    }

    fn count(&mut self, status: Option<u16>, took: Duration, is_measured: bool) {
        if status != Some(200) {
            self.refused += 1;
        } else if is_measured {
            self.took_ms.push(took.as_secs_f64() * 1e3);
        }
    }
}

/// Returns the plan of clients for the process that acts for them.
fn plan(clients: &[Value], pause: Duration, time: Duration, reconnects: bool) -> Value {
    json!({
        "clients": clients,
        "pause_us": pause.as_micros() as u64,
        "time_us": time.as_micros() as u64,
        "reconnects": reconnects,
    })
}

/// Registers the agents. Each reads the catalog, makes a call and polls its inbox.
async fn honest_agents(host: &BenchHost) -> Result<Vec<Value>> {
    let mut agents = Vec::new();
    for number in 0..AGENTS {
        let token = Client::anonymous(host).await?.token;
        let requests = [
            get("/v1/capabilities", ""),
            post(&call_path(CAPABILITY), JSON, &bearer(&token), ORDER),
            get("/v1/agent-events/stream?wait=0", &bearer(&token)),
        ];
        let from = Ipv4Addr::new(127, 250, 0, u8::try_from(number / HOUSEHOLD + 1)?);
        agents.push(json!({ "from": from.to_string(), "requests": requests }));
    }
    Ok(agents)
}

fn groups(host: &BenchHost) -> [Group; 8] {
    let (own, (id, secret)) = (bearer(&host.token), &host.client);
    let client = format!("client_id={id}&client_secret={secret}");
    let form = |path: &str, form: &str| post(path, FORM, "", form);
    let call = |capability: &str, body: &str| post(&call_path(capability), JSON, &own, body);
    let fields: Vec<String> = (0..20_000).map(|number| format!("\"f{number}\":1")).collect();
    let wide = format!("{{\"action\":\"alpha\",{}}}", fields.join(","));
    let group = |name, requests| Group { name, requests, reconnects: false };
    [
        group(
            "registrations",
            vec![
                post("/v1/agents/register", JSON, "", r#"{"type":"anonymous"}"#),
                post("/oauth/register", JSON, "", r#"{"redirect_uris":["http://127.0.0.1/cb"]}"#),
            ],
        ),
        group(
            "tokens",
            vec![
                form("/oauth/token", &format!("grant_type=client_credentials&{client}")),
                form("/oauth/token", "grant_type=client_credentials&client_id=x&client_secret=x"),
                form("/oauth/introspect", &format!("token=x&{client}")),
                form("/oauth/revoke", &format!("token=x&{client}")),
            ],
        ),
        group(
            "pages of people",
            vec![
                get("/m/0000000000000000000000", ""),
                get("/claim/0000000000000000000000000000000000000000000", ""),
                get("/account", "cookie: portolan_session=0000\r\n"),
                get("/oauth/authorize?client_id=x", ""),
                form("/oauth/authorize/continue", &format!("steps={}", "A".repeat(10_000))),
            ],
        ),
        group("MCP", vec![tool(host, CAPABILITY, ORDER), tools(host)]),
        group(
            "calls",
            vec![
                call(CAPABILITY, ORDER),
                call("no_such_capability", ORDER),
                call(CAPABILITY, &wide),
            ],
        ),
        group(
            "events",
            vec![
                get("/v1/agent-events/stream?wait=0", &own),
                post("/v1/agent-events/ack", JSON, &own, r#"{"ack_event_ids":["evt_0"]}"#),
            ],
        ),
        group(
            "documents",
            ["/v1/capabilities", "/openapi.json", "/docs", "/", "/status", "/no/such/path"]
                .map(|path| get(path, ""))
                .into(),
        ),
        Group { name: "connections", requests: vec![get("/healthz", "")], reconnects: true },
    ]
}

fn call_path(capability: &str) -> String {
    format!("/v1/capabilities/{capability}/call")
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

/// Returns a request; `fields` are whole lines of its head.
fn get(path: &str, fields: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{fields}\r\n")
}

fn post(path: &str, kind: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{fields}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Returns a request for the list of tools, in the revision without sessions.
fn tools(host: &BenchHost) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let fields = format!(
        "{}accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\n",
        bearer(&host.mcp_token)
    );
    post("/mcp", JSON, &fields, body)
}

/// Has another process carry out a plan, and returns what its clients have seen.
async fn visits(host: &BenchHost, plan: Value) -> Result<Seen> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["visit", &host.address])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    input.write_all(plan.to_string().as_bytes()).await?;
    drop(input);
    let output = child.wait_with_output().await?;
    ensure!(output.status.success(), "the clients failed");
    let seen: Value = serde_json::from_slice(&output.stdout)?;
    let took = seen.get("took_ms").and_then(Value::as_array).context("no times")?;
    let refused = seen.get("refused").and_then(Value::as_u64).context("no refusals")?;
    Ok(Seen { took_ms: took.iter().filter_map(Value::as_f64).collect(), refused })
}

/// A client of a plan.
struct Visitor {
    from: IpAddr,
    requests: Vec<String>,
}

impl Visitor {
    fn of(client: &Value) -> Result<Self> {
        let from = client.get("from").and_then(Value::as_str).context("no address")?.parse()?;
        let requests = client.get("requests").and_then(Value::as_array).context("no requests")?;
        let requests = requests.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { from, requests })
    }

    /// Sends the requests in turn, one at each tick. The first one, which connects, is not measured.
    async fn visit(
        self,
        host: SocketAddr,
        (first, pause, until): (Instant, Duration, Instant),
        reconnects: bool,
    ) -> Seen {
        let (mut seen, mut kept) = (Seen::default(), None);
        let mut ticks = interval_at(first, pause);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        for (number, request) in self.requests.iter().cycle().enumerate() {
            let begun = ticks.tick().await;
            if begun >= until {
                break;
            }
            let begun = Instant::now();
            let answer = timeout(PATIENCE, exchange(kept.take(), (self.from, host), request)).await;
            let status = match answer {
                Ok(Ok((status, stream))) => {
                    kept = Some(stream).filter(|_| !reconnects);
                    Some(status)
                }
                Ok(Err(_)) | Err(_) => None,
            };
            seen.count(status, begun.elapsed(), number > 0);
        }
        seen
    }
}

/// Sends a request on a connection, or on a new one. Returns the status of the answer.
async fn exchange(
    kept: Option<TcpStream>,
    (from, to): (IpAddr, SocketAddr),
    request: &str,
) -> Result<(u16, TcpStream)> {
    let mut stream = match kept {
        Some(stream) => stream,
        None => {
            let socket = TcpSocket::new_v4()?;
            socket.bind(SocketAddr::new(from, 0))?;
            let stream = socket.connect(to).await?;
            stream.set_nodelay(true)?;
            stream
        }
    };
    stream.write_all(request.as_bytes()).await?;
    let response = read(&mut stream).await?;
    let status = Head::of(&response)?.context("no head")?.status()?;
    Ok((status, stream))
}

/// Runs the other process: `visit ADDRESS`, with a plan on its input. It prints what its clients have seen.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let [address] = arguments else { bail!("visit ADDRESS") };
    let address: SocketAddr = address.parse()?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let plan: Value = serde_json::from_str(&text)?;
    let time = |name: &str| {
        plan.get(name).and_then(Value::as_u64).map(Duration::from_micros).context("no time")
    };
    let (pause, time) = (time("pause_us")?, time("time_us")?);
    let reconnects = plan.get("reconnects").and_then(Value::as_bool).unwrap_or_default();
    let clients = plan.get("clients").and_then(Value::as_array).context("no clients")?;
    let visitors: Vec<Visitor> = clients.iter().map(Visitor::of).collect::<Result<_>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(async {
        let (begun, count) = (Instant::now(), u32::try_from(visitors.len())?);
        let mut visits = JoinSet::new();
        for (number, visitor) in (0..count).zip(visitors) {
            // They do not act at the same moment.
            let first = begun + pause * number / count;
            visits.spawn(visitor.visit(address, (first, pause, begun + time), reconnects));
        }
        let mut seen = Seen::default();
        while let Some(visited) = visits.join_next().await {
            seen.add(visited?);
        }
        anyhow::Ok(seen)
    })?;
    println!("{}", json!({ "took_ms": seen.took_ms, "refused": seen.refused }));
    Ok(())
}
