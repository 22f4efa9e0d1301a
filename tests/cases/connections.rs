//! Connections of clients that are slow, send too much, or send on after the answer.

use crate::harness::{Host, Options, PATIENCE};
use std::time::Duration;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

async fn connect(host: &Host) -> BufReader<TcpStream> {
    let address = host.url.strip_prefix("http://").unwrap();
    BufReader::new(TcpStream::connect(address).await.unwrap())
}

/// Reads the next answer to its end and returns its status.
async fn answer(stream: &mut BufReader<TcpStream>) -> u16 {
    let (mut status, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_line(&mut line)).await;
        assert_ne!(read.unwrap().unwrap(), 0, "the connection was closed");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
        status.get_or_insert_with(|| line.split(' ').nth(1).unwrap().parse().unwrap());
    }
    stream.read_exact(&mut vec![0; length]).await.unwrap();
    status.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_arrives_after_its_refusal_keeps_the_connection_usable() {
    let host = Host::start(Options::with(&["greeter"])).await;
    for (path, status) in [
        ("/mcp", 401),
        ("/v1/capabilities/greeter/call", 401),
        ("/v1/capabilities", 405),
        ("/nowhere", 404),
    ] {
        let mut stream = connect(&host).await;
        for length in [2, 200 << 10] {
            let head =
                format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            assert_eq!(answer(&mut stream).await, status, "{path}");
            stream.write_all(&vec![b' '; length]).await.unwrap();
            stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            assert_eq!(answer(&mut stream).await, 200, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_request_body_is_not_awaited() {
    let limits = "[limits]\nrequest_body_time_ms = 300\n";
    let host = Host::start(Options::with(&["greeter"]).configuration(limits)).await;
    let token = host.token("svc.read").await;
    for (path, status) in [("/nowhere", 404), ("/v1/capabilities/greeter/call", 400), ("/mcp", 401)]
    {
        let mut stream = connect(&host).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(answer(&mut stream).await, status, "{path}");
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        assert_eq!(ended.unwrap().unwrap(), 0, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_is_not_asked_for_its_body() {
    let host = Host::start(Options::default()).await;
    let mut stream = connect(&host).await;
    let head = "POST /mcp HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(answer(&mut stream).await, 401);
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    assert_eq!(ended.unwrap().unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_its_head_too_slowly_is_disconnected() {
    let limits = "[limits]\nrequest_head_time_ms = 300\n";
    let host = Host::start(Options::default().configuration(limits)).await;
    // The first client sends nothing, the second a part of a head, the third a whole request and
    // nothing else.
    for (said, answered) in
        [("", ""), ("GET /healthz HT", ""), ("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", "200 OK")]
    {
        let mut stream = connect(&host).await;
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        ended.unwrap().unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(answered), "{said:?}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_head_has_less_time_than_later_ones() {
    let limits = "[limits]\nfirst_head_time_ms = 500\n";
    let host = Host::start(Options::default().configuration(limits)).await;
    let (mut read, mut write) = connect(&host).await.into_inner().into_split();
    let trickle = async {
        loop {
            // The connection may be closed while this is sent.
            let _sent = write.write_all(b"x").await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, async {
        tokio::select! {
            _ended = read.read_to_end(&mut answer) => {}
            () = trickle => {}
        }
    });
    ended.await.unwrap();
    assert!(answer.is_empty(), "{answer:?}");
    let late = host.metric("portolan_connections_closed_total{reason=\"head_time\"}").await;
    assert_eq!(late, 1);

    let mut stream = connect(&host).await;
    for _ in 0..2 {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        assert_eq!(self::answer(&mut stream).await, 200);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_large_is_refused_and_the_host_runs_on() {
    let host = Host::start(Options::default()).await;
    let mut stream = connect(&host).await;
    let head = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(40_000));
    // The head may be refused before it is sent whole.
    let _written = stream.write_all(head.as_bytes()).await;
    let mut answer = Vec::new();
    let _ended = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_eq!(host.get("/healthz").await.text, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_exactly_one_host_is_refused() {
    let host = Host::start(Options::default()).await;
    for hosts in ["", "host: x\r\nhost: x\r\n", "host: x y\r\n"] {
        for path in ["/healthz", "/.well-known/agent.json", "/v1/capabilities"] {
            let mut stream = connect(&host).await;
            let head = format!("GET {path} HTTP/1.1\r\n{hosts}\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            assert_eq!(answer(&mut stream).await, 400, "{path} {hosts:?}");
        }
    }
}
