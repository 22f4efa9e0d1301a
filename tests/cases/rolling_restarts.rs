//! Nodes that stop: those of one database are restarted one after the other behind a load balancer, while agents call
//! over REST and over both revisions of MCP.

use crate::harness::{
    Host, Options, PATIENCE, Process, Reply,
    mcp::{LEGACY, MODERN, Mcp, message},
    postgres,
};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const PUBLIC_URL: &str = "http://127.0.0.1:1";
const ALL: &str = "svc.read svc.write svc.events";
/// The time between two looks of the load balancer at a node, far below the nodes' delay before they stop.
const LOOK_INTERVAL: Duration = Duration::from_millis(25);
/// The pause of an agent between two calls, which leaves processor time to other tests.
const PAUSE: Duration = Duration::from_millis(10);

fn restarts() -> usize {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { 100 } else { 4 }
}

/// The nodes in service: their addresses for agents and for operators.
#[derive(Default)]
struct Balancer {
    nodes: Mutex<Vec<(String, String)>>,
    turns: AtomicUsize,
}

impl Balancer {
    fn add(&self, node: &Host) {
        self.nodes.lock().unwrap().push((node.url.clone(), node.admin_url.clone()));
    }

    fn has(&self, node: &Host) -> bool {
        self.nodes.lock().unwrap().iter().any(|(url, _)| *url == node.url)
    }

    /// Returns the address of a node for the next request.
    fn next(&self) -> String {
        let nodes = self.nodes.lock().unwrap();
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        nodes[turn % nodes.len()].0.clone()
    }

    /// Takes nodes out of service when they are not ready.
    async fn look(&self, client: &Client) {
        loop {
            let nodes = self.nodes.lock().unwrap().clone();
            for (url, admin_url) in nodes {
                let probe = client.get(format!("{admin_url}/readyz")).send().await;
                if !probe.is_ok_and(|answer| answer.status() == 200) {
                    self.nodes.lock().unwrap().retain(|(known, _)| *known != url);
                }
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }
}

/// The protocol by which an agent opens accounts of the capability `ledger`.
enum Door {
    Rest,
    /// The newer revision of MCP.
    Modern,
    /// The older one, in this session.
    Session(String),
}

impl Door {
    fn name(&self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Modern => "modern",
            Self::Session(_) => "session",
        }
    }

    fn request(&self, client: &Client, url: &str, account: &str) -> RequestBuilder {
        let input = json!({ "action": "open", "account": account });
        let mut parameters = json!({ "name": "ledger_write", "arguments": input });
        let call = |parameters: &Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters });
        let mcp = || {
            let request = client.post(format!("{url}/mcp"));
            request.header("accept", "application/json, text/event-stream")
        };
        match self {
            Self::Rest => client.post(format!("{url}/v1/capabilities/ledger/call")).json(&input),
            Self::Modern => {
                parameters["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
                });
                mcp()
                    .header("mcp-protocol-version", MODERN)
                    .header("mcp-method", "tools/call")
                    .header("mcp-name", "ledger_write")
                    .json(&call(&parameters))
            }
            Self::Session(id) => mcp()
                .header("mcp-protocol-version", LEGACY)
                .header("mcp-session-id", id)
                .json(&call(&parameters)),
        }
    }

    /// Makes a call, and returns what went wrong.
    async fn open(&self, request: RequestBuilder, account: &str) -> Result<(), String> {
        let response = request.send().await.map_err(|error| format!("{error:?}"))?;
        let status = response.status();
        let result = match self {
            Self::Rest => Reply::read(response).await.body["result"].clone(),
            _ if status == 200 => {
                message(response).await["result"]["structuredContent"]["result"].clone()
            }
            _ => json!(response.text().await.unwrap()),
        };
        let is_opened = status == 200 && result["account"] == account;
        is_opened.then_some(()).ok_or_else(|| format!("{status}: {result}"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_call_fails_while_nodes_are_restarted_one_after_the_other() {
    let url = postgres::database().await;
    let configuration = format!("public_url = \"{PUBLIC_URL}\"\n[limits]\nstop_delay_ms = 2000\n");
    let start = || {
        let options = Options::with(&["ledger"]).configuration(&configuration).postgres(&url);
        tokio::task::block_in_place(|| Process::start(options))
    };
    let mut nodes = vec![start(), start()];
    let balancer = Arc::new(Balancer::default());
    nodes.iter().for_each(|node| balancer.add(node));
    let (client, is_over) = (Client::new(), Arc::new(AtomicBool::new(false)));

    let registered = nodes[0].register().await;
    nodes[0].claim(registered["agent_id"].as_str().unwrap()).await;
    let rest = nodes[0].token_of(&registered, ALL).await;
    let mcp = nodes[0].mcp_token_at(PUBLIC_URL, &registered, ALL).await;
    let session = Mcp::new(&nodes[0], mcp.clone()).legacy().await.session().to_owned();
    let doors = [(Door::Rest, rest), (Door::Modern, mcp.clone()), (Door::Session(session), mcp)];
    let agents = doors.map(|(door, token)| {
        let (balancer, client, is_over) =
            (Arc::clone(&balancer), client.clone(), Arc::clone(&is_over));
        tokio::spawn(async move {
            let (mut opened, mut failures) = (0, Vec::new());
            while !is_over.load(Ordering::Relaxed) {
                let account = format!("{}_{}", door.name(), opened + failures.len());
                let request = door.request(&client, &balancer.next(), &account).bearer_auth(&token);
                match door.open(request, &account).await {
                    Ok(()) => opened += 1,
                    Err(failure) => failures.push(failure),
                }
                tokio::time::sleep(PAUSE).await;
            }
            (door.name(), opened, failures)
        })
    });
    let looking = {
        let (balancer, client) = (Arc::clone(&balancer), client.clone());
        tokio::spawn(async move { balancer.look(&client).await })
    };

    for _ in 0..restarts() {
        let node = nodes.remove(0);
        node.signal("TERM");
        let started = Instant::now();
        while balancer.has(&node) {
            assert!(started.elapsed() < PATIENCE, "a node that stops stays ready");
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        let (status, folder) = tokio::task::block_in_place(|| node.wait());
        assert!(status.success());
        let node = tokio::task::block_in_place(|| Process::start_in(folder));
        balancer.add(&node);
        nodes.push(node);
    }
    is_over.store(true, Ordering::Relaxed);
    let mut total = 0;
    for agent in agents {
        let (door, opened, failures) = agent.await.unwrap();
        assert!(
            failures.is_empty(),
            "{door}: {} of {opened} failed: {failures:#?}",
            failures.len()
        );
        assert!(opened > restarts(), "{door}: {opened}");
        total += opened;
    }
    looking.abort();
    println!("{} restarts, {total} calls", restarts());
    // Each call has opened one account.
    let sql =
        "SELECT CAST(count(*) AS TEXT) FROM documents d JOIN collections c ON c.id = d.collection
               WHERE c.capability = 'ledger' AND c.name = 'accounts'";
    assert_eq!(nodes[0].database().texts(sql).await, [total.to_string()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_stops_still_keeps_its_records() {
    let options = Options::with(&["ledger"]);
    let configuration = format!("public_url = \"{PUBLIC_URL}\"\n[limits]\nstop_delay_ms = 5000\n");
    let node = Process::start(options.configuration(&configuration));
    node.signal("TERM");
    let started = Instant::now();
    loop {
        let ready = node.client.get(format!("{}/readyz", node.admin_url)).send().await.unwrap();
        if ready.status() == 503 {
            assert_eq!(ready.headers()["connection"], "close");
            break;
        }
        assert!(started.elapsed() < PATIENCE, "a node that stops stays ready");
    }
    let refused = node.client.get(format!("{}/v1/agent-events/stream", node.url));
    assert_eq!(refused.bearer_auth("made.up.1").send().await.unwrap().status(), 401);
    let (status, folder) = tokio::task::block_in_place(|| node.wait());
    assert!(status.success());
    let node = tokio::task::block_in_place(|| Process::start_in(folder));
    let rows = node.operate("/audit?limit=1000&action=auth:token_refused").await.body;
    assert_eq!(rows["entries"].as_array().unwrap().len(), 1, "{rows:#}");
}
