//! Many waiting readers: the memory of each, the latency of an event, and the cost of calls meanwhile.

use crate::{
    Effort,
    host::BenchHost,
    load::slice,
    report::{Report, median, percentile, spread},
    throughput::{CONNECTIONS, order},
};
use anyhow::{Context as _, Result, bail, ensure};
use portolan_identity::{Credentials, Registration};
use portolan_store::{Attachments, Audience, NewEvent, Unit};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::{
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinSet,
};

/// The number of concurrent registrations and connections.
const CONCURRENT_CONNECTIONS: usize = 64;
/// The pause between two events, so that each is delivered separately.
const PAUSE: Duration = Duration::from_millis(2);
/// The wait for the last deliveries.
const DELIVERY_WAIT: Duration = Duration::from_secs(1);
const EVENTS: usize = 2_000;
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) async fn measure(host: &BenchHost, effort: &Effort, report: &mut Report) -> Result<()> {
    let agents = register_agents(host, effort.waiters).await?;
    let request = order(host, "/v1/capabilities/template_000/call");
    let call = || slice(&host.address, &request, CONNECTIONS, effort.slice_ms);
    let before = resident_bytes()?;
    let mut waiters = Waiters::start(host, &agents).await?;
    let each = (resident_bytes()? - before) / agents.len() as f64 / 1024.0;
    let waiting = format!("{} waiting agents", agents.len());
    report.add(format!("{waiting}: resident memory of each"), each, "KiB");
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let mut latencies = Vec::new();
    for round in 1..=effort.rounds.min(4) {
        eprintln!("waiters, round {round} of {}", effort.rounds.min(4));
        for event in 0..EVENTS / 4 {
            let agent = agents.get(event * 7919 % agents.len()).context("no agent")?;
            publish_event(host, &agent.id).await?;
            tokio::time::sleep(PAUSE).await;
        }
        tokio::time::sleep(DELIVERY_WAIT).await;
        beside.push(call().await?.per_second);
        latencies.extend(waiters.stop(host).await?);
        alone.push(call().await?.per_second);
        waiters = Waiters::start(host, &agents).await?;
    }
    waiters.stop(host).await?;
    ensure!(latencies.len() >= EVENTS / 4, "only {} events arrived", latencies.len());
    report.add(format!("{waiting}: event to its agent, p50"), median(&latencies), "us");
    report.add(format!("{waiting}: event to its agent, p99"), percentile(&latencies, 99), "us");
    report.add("calls with nobody waiting", median(&alone), "/s");
    report.add(format!("calls beside {waiting}"), median(&beside), "/s");
    let ratios: Vec<f64> = beside.iter().zip(&alone).map(|(rate, base)| rate / base).collect();
    report.compare_with("calls with nobody waiting", median(&ratios), Some(spread(&ratios)));
    Ok(())
}

struct Waiter {
    id: String,
    token: String,
}

async fn register_agents(host: &BenchHost, count: usize) -> Result<Vec<Waiter>> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..CONCURRENT_CONNECTIONS {
        let (app, next) = (Arc::clone(&host.app), Arc::clone(&next));
        tasks.spawn(async move {
            let mut registered = Vec::new();
            while next.fetch_add(1, Ordering::Relaxed) < count {
                let identity = &app.host.identity;
                let new = Registration { identity_type: "anonymous", ..Registration::default() };
                let agent = identity.register(new).await?;
                let secret =
                    Credentials::Secret { client_id: agent.client_id, secret: agent.client_secret };
                let client = identity.authenticate_client(&secret, None).await?;
                let granted = identity.issue_for_client_credentials(&client, None, None).await?;
                registered.push(Waiter { id: agent.agent_id, token: granted.access_token });
            }
            anyhow::Ok(registered)
        });
    }
    let mut agents = Vec::with_capacity(count);
    while let Some(done) = tasks.join_next().await {
        agents.extend(done??);
    }
    Ok(agents)
}

/// Publishes an event with its creation time.
async fn publish_event(host: &BenchHost, agent: &str) -> Result<()> {
    let mut unit = Unit::new(host.app.host.store.clone(), Timestamp::now());
    let data = json!({ "sent_us": clock_us()? });
    let audience = Audience::Agent(agent.to_owned());
    unit.publish(NewEvent::of_host("bench.told", "bench", audience, &data, Timestamp::now()));
    unit.commit(Attachments::default()).await?;
    Ok(())
}

/// Returns the microseconds since the Unix epoch, by a clock that both processes share.
#[expect(clippy::disallowed_methods, reason = "a clock that two processes share")]
fn clock_us() -> Result<u64> {
    Ok(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?)
}

fn resident_bytes() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: f64 = line.context("no VmRSS")?.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024.0)
}

/// The process with the waiting readers.
struct Waiters {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Waiters {
    async fn start(host: &BenchHost, agents: &[Waiter]) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["wait", &host.address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut input = child.stdin.take().context("no input")?;
        let lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        for agent in agents {
            input.write_all(format!("{}\n", agent.token).as_bytes()).await?;
        }
        input.write_all(b"\n").await?;
        let begun = Instant::now();
        while host.app.host.events.waiting_reader_count() < agents.len() {
            ensure!(begun.elapsed() < PATIENCE, "not all of them wait");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tokio::time::sleep(DELIVERY_WAIT).await;
        Ok(Self { child, input, lines })
    }

    /// Stops the process, and returns the latency of each event in microseconds.
    async fn stop(mut self, host: &BenchHost) -> Result<Vec<f64>> {
        drop(self.input);
        let line = self.lines.next_line().await?.context("the waiters ended early")?;
        self.child.wait().await?;
        while host.app.host.events.waiting_reader_count() > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tokio::time::sleep(DELIVERY_WAIT).await;
        Ok(serde_json::from_str(&line)?)
    }
}

/// Runs the other process: `wait ADDRESS`, with tokens on its input up to an empty line. When the input
/// ends, it prints the latency of each event.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let [address] = arguments else { bail!("wait ADDRESS") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut input = BufReader::new(tokio::io::stdin()).lines();
        let mut tasks: JoinSet<Result<()>> = JoinSet::new();
        let (latency_sender, mut latencies) = tokio::sync::mpsc::unbounded_channel();
        let connecting = Arc::new(tokio::sync::Semaphore::new(CONCURRENT_CONNECTIONS));
        while let Some(token) = input.next_line().await?.filter(|token| !token.is_empty()) {
            let (latency_sender, address) = (latency_sender.clone(), (*address).to_owned());
            let connecting = Arc::clone(&connecting);
            tasks.spawn(async move {
                let permit = connecting.acquire().await?;
                let stream = TcpStream::connect(address).await?;
                drop(permit);
                wait(stream, &token, &latency_sender).await
            });
        }
        input.next_line().await?;
        let mut all = Vec::new();
        while let Ok(latency) = latencies.try_recv() {
            all.push(latency);
        }
        println!("{}", Value::from(all));
        anyhow::Ok(())
    })
}

/// Polls as one agent, again and again.
async fn wait(
    mut stream: TcpStream,
    token: &str,
    latency_sender: &tokio::sync::mpsc::UnboundedSender<u64>,
) -> Result<()> {
    let mut query = "wait=55".to_owned();
    loop {
        let request = format!(
            "GET /v1/agent-events/stream?{query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut response = Vec::new();
        let body = loop {
            let mut part = [0; 1024];
            let count = stream.read(&mut part).await?;
            ensure!(count > 0, "the connection was closed");
            response.extend_from_slice(part.get(..count).unwrap_or_default());
            let text = std::str::from_utf8(&response)?;
            if let Some((_, body)) = text.split_once("\r\n\r\n")
                && let Ok(body) = serde_json::from_str::<Value>(body)
            {
                break body;
            }
        };
        let events = body.get("events").and_then(Value::as_array).context("no events")?;
        for event in events {
            let sent = event.pointer("/data/sent_us").and_then(Value::as_u64);
            latency_sender.send(clock_us()? - sent.context("another event")?)?;
        }
        let cursor = body.get("cursor").and_then(Value::as_str).context("no cursor")?;
        let ids: Vec<_> = events.iter().filter_map(|event| event.get("id")?.as_str()).collect();
        query = format!("wait=55&cursor={cursor}&ack_event_ids={}", ids.join(","));
    }
}
