//! Calls over MCP beside peers: servers by other authors that run the same tool.

use crate::{
    Effort, PATIENCE,
    host::{BenchHost, guests},
    load::{Slice, children, slice_of_processes},
    report::{Report, median, spread},
    response::{Head, read},
    throughput::{CONNECTIONS, ORDER, tool},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::{
    fs::File,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

/// A server by other authors.
struct Peer {
    name: &'static str,
    /// The file that runs the tool, in the folder of the peers; missing if the peer could not be installed.
    program: &'static str,
    /// Returns the command that serves the program at an address.
    command: fn(&Path, &str, u16) -> Command,
}

/// Each peer is started as its documentation starts it, without a line in a log for each call.
const PEERS: [Peer; 3] = [
    Peer {
        name: "ACT",
        program: "act/order.wasm",
        command: |program, address, _| {
            let mut act = Command::new(program.with_file_name("python/bin/act"));
            act.args(["run", "--mcp", "--http", "--no-audit", "--listen", address]).arg(program);
            act
        },
    },
    Peer {
        name: "FastMCP",
        program: "fastmcp/order.py",
        command: |program, _, port| {
            let mut python = Command::new("python3");
            python.arg(program).arg(port.to_string());
            python.env("PYTHONPATH", program.with_file_name("python"));
            python
        },
    },
    Peer {
        name: "TypeScript SDK",
        program: "typescript/order.mjs",
        command: |program, _, port| {
            let mut node = Command::new("node");
            node.arg(program).arg(port.to_string());
            node
        },
    },
];

/// A figure of a slice: its name, its unit, and the function that reads it.
type Figure = (&'static str, &'static str, fn(&Slice) -> f64);

const FIGURES: [Figure; 4] = [
    ("calls", "/s", |slice| slice.per_second),
    ("p50", "us", |slice| slice.p50_us),
    ("p99", "us", |slice| slice.p99_us),
    ("processor time", "us", |slice| slice.cpu_us),
];

/// The revisions of MCP: the one without sessions, and the one before it.
const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = guests()?.with_file_name("peers");
    let installed: Vec<&Peer> =
        PEERS.iter().filter(|peer| folder.join(peer.program).exists()).collect();
    ensure!(!installed.is_empty(), "no peer is installed: run `cargo xtask bench peers`");
    let host = BenchHost::start(&["template"]).await?;
    let request = tool(&host, "template_000", ORDER);
    let (_, answer) = exchange(&host.address, &request).await?;
    let receipt = answer.pointer("/result/structuredContent/result").cloned();
    let receipt = receipt.with_context(|| format!("the host refuses the order: {answer}"))?;
    for peer in installed {
        match Server::start(peer, &folder, &receipt).await {
            Ok(server) => compare(&host, &request, &server, effort, report).await?,
            Err(error) => eprintln!("peers, {} is skipped: {error:#}", peer.name),
        }
    }
    Ok(())
}

/// Measures the host and a peer in turns.
async fn compare(
    host: &BenchHost,
    request: &str,
    peer: &Server,
    effort: &Effort,
    report: &mut Report,
) -> Result<()> {
    let name = peer.name;
    let (mut ours, mut theirs): (Vec<Slice>, Vec<Slice>) = (Vec::new(), Vec::new());
    let here = vec!["self".to_owned()];
    let time = effort.slice_ms;
    // The first round warms up and is not counted.
    for round in 0..=effort.rounds {
        eprintln!("peers, {name}, round {round} of {}", effort.rounds);
        let one = slice_of_processes(&here, &host.address, request, CONNECTIONS, time).await?;
        let (there, address) = (peer.processes()?, &peer.address);
        let two = slice_of_processes(&there, address, &peer.request, CONNECTIONS, time).await?;
        if round > 0 {
            ours.push(one);
            theirs.push(two);
        }
    }
    for (figure, unit, of) in FIGURES {
        let (own, other): (Vec<f64>, Vec<f64>) =
            (ours.iter().map(of).collect(), theirs.iter().map(of).collect());
        let ratios: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other).collect();
        let theirs = format!("{name}: {figure}");
        report.add(&theirs, median(&other), unit);
        report.add(format!("Portolan beside {name}: {figure}"), median(&own), unit);
        report.compare_with(&theirs, median(&ratios), Some(spread(&ratios)));
    }
    Ok(())
}

/// A running peer, which ends with this value.
struct Server {
    name: &'static str,
    address: String,
    /// The call in the newest revision that the peer answers.
    request: String,
    process: Child,
}

impl Server {
    /// Starts a peer, and ensures that its answer is this receipt.
    async fn start(peer: &Peer, folder: &Path, receipt: &Value) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let program = folder.join(peer.program);
        let log = program.with_file_name("log");
        let mut process = (peer.command)(&program, &address.to_string(), address.port())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .kill_on_drop(true)
            .spawn()
            .context("it cannot be started")?;
        let begun = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = process.try_wait()? {
                anyhow::bail!("it has ended ({status}): {}", last_line(&log));
            }
            ensure!(begun.elapsed() < PATIENCE, "it does not answer: {}", last_line(&log));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let address = address.to_string();
        let (revision, request) = negotiate(&address, receipt).await?;
        eprintln!("peers, {} answers in {revision}", peer.name);
        Ok(Self { name: peer.name, address, request, process })
    }

    /// Returns the ids of the process and its children.
    fn processes(&self) -> Result<Vec<String>> {
        let id = self.process.id().with_context(|| format!("{} has ended", self.name))?;
        let mut processes = children(id)?;
        processes.push(id.to_string());
        Ok(processes)
    }
}

fn last_line(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned()
}

/// Returns the newest revision in which the server at an address answers with this receipt, and the call.
async fn negotiate(address: &str, receipt: &Value) -> Result<(&'static str, String)> {
    let mut arguments: Value = serde_json::from_str(ORDER)?;
    // Only Portolan's capabilities have actions.
    arguments.as_object_mut().context("the order is no object")?.remove("action");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "add_up", "arguments": arguments, "_meta": meta });
    let headers =
        [("mcp-protocol-version", NEW), ("mcp-method", "tools/call"), ("mcp-name", "add_up")];
    let request = post(address, &headers, &message("tools/call", Some(1), &params));
    let answered = exchange(address, &request).await;
    if answered.is_ok_and(|(_, answer)| is_receipt(&answer, receipt)) {
        return Ok((NEW, request));
    }
    let client = json!({ "name": "portolan-bench", "version": "1" });
    let hello = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client });
    let initialize = post(address, &[], &message("initialize", Some(0), &hello));
    let (session, _) = exchange(address, &initialize).await?;
    let mut headers = vec![("mcp-protocol-version", OLD)];
    headers.extend(session.as_deref().map(|session| ("mcp-session-id", session)));
    let initialized = message("notifications/initialized", None, &json!({}));
    exchange(address, &post(address, &headers, &initialized)).await?;
    let params = json!({ "name": "add_up", "arguments": arguments });
    let request = post(address, &headers, &message("tools/call", Some(1), &params));
    let (_, answer) = exchange(address, &request).await?;
    ensure!(is_receipt(&answer, receipt), "its answer differs from that of the host: {answer}");
    Ok((OLD, request))
}

fn is_receipt(answer: &Value, receipt: &Value) -> bool {
    answer.pointer("/result/structuredContent") == Some(receipt)
}

/// Returns a message, which is a notification if it has no id.
fn message(method: &str, id: Option<u32>, params: &Value) -> String {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#)
}

fn post(address: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends a request, and returns the session and the JSON of its response.
async fn exchange(address: &str, request: &str) -> Result<(Option<String>, Value)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let response = tokio::time::timeout(PATIENCE, read(&mut stream)).await??;
    let head = Head::of(&response)?.context("no head")?;
    let session = head.field("mcp-session-id").map(str::to_owned);
    // A refusal may be a text.
    let refused = || Value::from(String::from_utf8_lossy(&response).into_owned());
    Ok((session, head.json(&response).unwrap_or_else(|_| refused())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    /// Serves a function from requests to responses. Responses arrive in two parts.
    async fn serve(answer: fn(&str) -> String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 8192];
                let length = stream.read(&mut request).await.unwrap();
                let response = answer(std::str::from_utf8(&request[..length]).unwrap());
                let (first, rest) = response.as_bytes().split_at(response.len() / 2);
                stream.write_all(first).await.unwrap();
                stream.flush().await.unwrap();
                stream.write_all(rest).await.unwrap();
            }
        });
        address
    }

    fn plain(status: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}")
    }

    fn receipt() -> Value {
        json!({ "customer": "Ada Lovelace", "articles": 13, "total": 11_400, "dearest": "lamp" })
    }

    fn answer() -> String {
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "structuredContent": receipt() } })
            .to_string()
    }

    /// A server that knows only sessions, and answers with an event stream in chunks.
    fn old(request: &str) -> String {
        if request.contains("\r\nmcp-protocol-version: 2026") {
            plain("400 Bad Request", "", "this revision is not known")
        } else if request.contains("\"initialize\"") {
            plain("200 OK", "Mcp-Session-Id: seven\r\n", "{}")
        } else if !request.contains("\r\nmcp-session-id: seven\r\n") {
            plain("404 Not Found", "", "")
        } else if request.contains("notifications/initialized") {
            plain("202 Accepted", "", "")
        } else {
            let event = format!("data: {}\n\n", answer());
            let headers = "content-type: text/event-stream\r\ntransfer-encoding: chunked";
            format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n{:x}\r\n{event}\r\n0\r\n\r\n", event.len())
        }
    }

    #[tokio::test]
    async fn a_call_has_the_newest_revision_that_the_peer_answers() {
        let address = serve(|_| plain("200 OK", "", &answer())).await;
        let (revision, request) = negotiate(&address, &receipt()).await.unwrap();
        assert_eq!(revision, NEW);
        assert!(!request.contains("mcp-session-id"), "{request}");

        let address = serve(old).await;
        let (revision, request) = negotiate(&address, &receipt()).await.unwrap();
        assert_eq!(revision, OLD);
        assert!(request.contains("\r\nmcp-session-id: seven\r\n"), "{request}");
    }

    #[tokio::test]
    async fn another_answer_than_ours_is_an_error() {
        let address = serve(|_| plain("200 OK", "", r#"{"result":{"isError":true}}"#)).await;
        let error = negotiate(&address, &receipt()).await.unwrap_err().to_string();
        assert!(error.contains("differs from that of the host"), "{error}");
    }

    #[tokio::test]
    async fn a_peer_that_ends_is_told_with_its_last_words() {
        let folder = tempfile::tempdir().unwrap();
        let ends = Peer {
            name: "a peer",
            program: "program",
            command: |_, _, _| {
                let mut shell = Command::new("sh");
                shell.args(["-c", "echo first >&2; echo no module >&2; exit 3"]);
                shell
            },
        };
        let error = Server::start(&ends, folder.path(), &receipt()).await.err().unwrap();
        assert_eq!(error.to_string(), "it has ended (exit status: 3): no module");
    }
}
