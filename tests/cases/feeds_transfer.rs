//! Documents sent to clients that read slowly, pipeline requests, or disconnect.

use crate::harness::{
    Host, PATIENCE, Process,
    feeds::{DOCUMENTS, INDEX_PATH, edition, publish},
};
use portolan_feeds::document::Documents;
use std::{
    borrow::Borrow,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

const ROLES: &str = "/map/data/sf-job-roles.json";
const ROLES_FILE: &str = "sf-job-roles.json";
const CODINGS: [&str; 3] = ["identity", "gzip", "br"];

/// Connects with a small receive buffer, so that most of a response waits in the host.
async fn connect_with_small_buffer(host: &Host) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let address = host.url.strip_prefix("http://").unwrap().parse().unwrap();
    socket.connect(address).await.unwrap()
}

async fn send_request(stream: &mut TcpStream, path: &str, coding: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\naccept-encoding: {coding}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
}

/// Reads the next answer and returns its body.
async fn read_body(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = tokio::time::timeout(PATIENCE, stream.read_u8()).await;
        head.push(byte.unwrap().unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut body)).await;
    read.unwrap().unwrap();
    body
}

async fn wait_until(what: &str, mut is_met: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_met().await {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn host_with(files: &Documents, configuration: &str) -> Host {
    publish_and_wait(Host::start(Host::serving(configuration)).await, files).await
}

/// Publishes these documents for a started host, and waits until it serves them.
async fn publish_and_wait<H: Borrow<Host>>(started: H, files: &Documents) -> H {
    let host: &Host = started.borrow();
    publish(&host.folder.path().join("data/feeds"), files, 1);
    wait_until("the feeds are served", async || host.get(INDEX_PATH).await.status == 200).await;
    started
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_has_begun_keeps_its_publication() {
    let (first, second) = (edition("CC0-1.0"), edition("CC-BY-4.0"));
    let host = host_with(&first, "").await;
    let mut slow = connect_with_small_buffer(&host).await;
    send_request(&mut slow, ROLES, "identity").await;
    // The answer has begun, and most of it is still in the host.
    slow.readable().await.unwrap();
    assert!(first[ROLES_FILE].len() > 512 << 10);
    publish(&host.folder.path().join("data/feeds"), &second, 2);
    let is_next = async || host.fetch(ROLES, &[]).await.bytes == second[ROLES_FILE];
    wait_until("the next publication is served", is_next).await;
    assert!(read_body(&mut slow).await == first[ROLES_FILE]);
    // The next answer on the same connection is of the current publication.
    send_request(&mut slow, ROLES, "identity").await;
    assert!(read_body(&mut slow).await == second[ROLES_FILE]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order() {
    let host = Host::with_city().await;
    let mut stream = connect_with_small_buffer(&host).await;
    let asked = || {
        DOCUMENTS.iter().flat_map(|(path, ..)| CODINGS.iter().map(move |coding| (*path, *coding)))
    };
    for (path, coding) in asked() {
        send_request(&mut stream, path, coding).await;
    }
    for (path, coding) in asked() {
        let alone = host.fetch(path, &[("accept-encoding", coding)]).await;
        assert!(read_body(&mut stream).await == alone.bytes, "{path}, {coding}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_is_disconnected() {
    const CLIENTS: u64 = 8;
    let options = Host::serving("[limits]\nanswer_stall_time_ms = 300\n");
    let host = publish_and_wait(Process::start(options), &edition("CC0-1.0")).await;
    let sockets = || {
        let open = std::fs::read_dir(format!("/proc/{}/fd", host.process_id())).unwrap();
        let links = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        links.filter(|link| link.to_string_lossy().starts_with("socket:")).count() as u64
    };
    let before = sockets();
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut client = connect_with_small_buffer(&host).await;
        // The answers are far larger than the buffers of a connection.
        for _ in 0..16 {
            send_request(&mut client, ROLES, "identity").await;
        }
        clients.push(client);
    }
    wait_until("all clients are connected", async || sockets() >= before + CLIENTS).await;
    wait_until("all clients are disconnected", async || sockets() <= before).await;
    for client in &mut clients {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, client.read_to_end(&mut rest)).await;
        ended.unwrap().unwrap_err();
    }
    // A client that keeps reading gets the whole document, however slowly it reads.
    let mut steady = connect_with_small_buffer(&host).await;
    send_request(&mut steady, ROLES, "br").await;
    let alone = host.fetch(ROLES, &[("accept-encoding", "br")]).await;
    assert!(read_body(&mut steady).await == alone.bytes);
}
