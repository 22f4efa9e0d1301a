//! Abuses of connections and of the protocol below the requests.

use crate::{
    abuse::{
        attacker::Attacker,
        cost::{Bound, Cost},
        raw::{connect, exchange, statuses},
        row::{LIVE, Row},
        scene::{Pace, Scene},
    },
    harness::{Options, feeds::city, join_all},
};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

pub fn options() -> Options {
    let feeds = format!("{LIVE}feeds_dir = {:?}\n", city().join("feeds"));
    Options::with(&["svc_whoami", "svc_events"]).configuration(&feeds)
}

pub const ROWS: &[Row] = &[
    Row {
        name: "half heads",
        abuse: "opens 1,000 connections and sends half a head on each",
        before: "8,000 held, 24 KB each; 1,100 stop a host with 1024 files",
        outcome: "256 of the address; the longest waiting is closed for a new one",
        bound: Bound::new(5, 30).held(260),
        attack: |scene| Box::pin(half_heads(scene)),
    },
    Row {
        name: "slow bodies",
        abuse: "sends heads of requests on 300 connections, and of each body one byte",
        before: "–",
        outcome: "256 of the address; 30 seconds for a body",
        bound: Bound::new(5, 30).held(260),
        attack: |scene| Box::pin(slow_bodies(scene)),
    },
    Row {
        name: "answers that nobody reads",
        abuse: "asks for large documents on 300 connections and reads nothing",
        before: "–",
        outcome: "256 of the address; a minute without progress",
        bound: Bound::new(5, 30).held(260),
        attack: |scene| Box::pin(unread(scene)),
    },
    Row {
        name: "new connections",
        abuse: "opens and closes a thousand connections a second",
        before: "–",
        outcome: "accepted and closed",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(new_connections(scene)),
    },
    Row {
        name: "many requests in one write",
        abuse: "writes 500 requests before it reads an answer",
        before: "–",
        outcome: "answered in their order, or 429",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(pipelined(scene)),
    },
    Row {
        name: "large heads",
        abuse: "sends heads of 40 KB and of a thousand headers",
        before: "40 KB passed",
        outcome: "431 or closed",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(large_heads(scene)),
    },
    Row {
        name: "missing and several Host headers",
        abuse: "sends requests without one Host",
        before: "200",
        outcome: "400",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(hosts(scene)),
    },
    Row {
        name: "smuggled requests",
        abuse: "sends bodies whose length two servers would see differently",
        before: "none passed",
        outcome: "400, and the connection is closed",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(smuggled(scene)),
    },
    Row {
        name: "HTTP/2, TLS and nonsense",
        abuse: "begins other protocols on the connection",
        before: "–",
        outcome: "closed",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(other_protocols(scene)),
    },
    Row {
        name: "bodies announced",
        abuse: "announces bodies of 10 GB, and waits for the host to ask for them",
        before: "–",
        outcome: "refused, at the limit of a body at the latest",
        bound: Bound::new(5, 10),
        attack: |scene| Box::pin(announced(scene)),
    },
];

/// Opens connections, writes the same on each, and counts those that stay open.
async fn held(scene: &Scene<'_>, number: usize, bytes: &str) -> Cost {
    rlimit::increase_nofile_limit(u64::MAX).unwrap();
    let attacker = scene.attacker();
    let before = scene.metric("portolan_connections").await;
    let mut held = 0;
    let attack = async || {
        let mut streams: Vec<TcpStream> = Vec::new();
        for _ in 0..number {
            let mut stream = connect(scene.host, attacker.address).await;
            // The host may have closed the connection already.
            let _sent = stream.write_all(bytes.as_bytes()).await;
            streams.push(stream);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        held = scene.metric("portolan_connections").await.saturating_sub(before);
        // Somebody at the same address is answered.
        assert_eq!(attacker.get("/healthz").await.status, 200);
        drop(streams);
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.holding(held)
}

async fn half_heads(scene: &Scene<'_>) -> Cost {
    held(scene, 1_000, "GET /healthz HTTP/1.1\r\nhost").await
}

async fn slow_bodies(scene: &Scene<'_>) -> Cost {
    let head = "POST /v1/agents/register HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
        content-length: 100000\r\n\r\n{";
    held_without_answer(scene, 300, head).await
}

async fn unread(scene: &Scene<'_>) -> Cost {
    let head = "GET /map/data/sf-live-targets.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(20);
    held_without_answer(scene, 300, &head).await
}

/// The same for connections that answer, which are not closed for others.
async fn held_without_answer(scene: &Scene<'_>, number: usize, bytes: &str) -> Cost {
    let attacker = scene.attacker();
    let before = scene.metric("portolan_connections").await;
    let mut held = 0;
    let attack = async || {
        let open = async |_| {
            let mut stream = connect(scene.host, attacker.address).await;
            let _sent = stream.write_all(bytes.as_bytes()).await;
            stream
        };
        let streams = join_all((0..number).map(open)).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        held = scene.metric("portolan_connections").await.saturating_sub(before);
        drop(streams);
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    cost.holding(held)
}

async fn new_connections(scene: &Scene<'_>) -> Cost {
    const OPENED: usize = 2_400;
    let attacker = scene.attacker();
    let attack = async || {
        for _ in 0..OPENED {
            drop(connect(scene.host, attacker.address).await);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    scene.measure(Pace::flood(OPENED), attack).await
}

async fn pipelined(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 500;
    let attacker = scene.attacker();
    let attack = async || {
        let request = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
        let last = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let requests = format!("{}{last}", request.repeat(SENT - 1));
        let answers = exchange(scene.host, attacker.address, requests.as_bytes(), false).await;
        let answers = statuses(&answers);
        assert!(answers.len() == SENT && answers.iter().all(|status| *status == 200));
    };
    scene.measure(Pace::minutes(2).sampling(SENT, 3_000), attack).await
}

/// Sends each text on its own connection, and asserts that each gets at most one answer, with a status in
/// `allowed`.
async fn refused(scene: &Scene<'_>, texts: &[String], allowed: &[u16]) -> Cost {
    let attacker: Attacker<'_> = scene.attacker();
    let attack = async || {
        for text in texts {
            let answer = exchange(scene.host, attacker.address, text.as_bytes(), true).await;
            let statuses = statuses(&answer);
            let start = &text[..text.floor_char_boundary(120)];
            let known = statuses.iter().all(|status| allowed.contains(status));
            assert!(known && statuses.len() <= 1, "{start:?}: {answer}");
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

async fn large_heads(scene: &Scene<'_>) -> Cost {
    let many: String = (0..1_000).map(|number| format!("x-{number}: y\r\n")).collect();
    let texts = [
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(40_000)),
        format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "y".repeat(70_000)),
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{many}\r\n"),
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{}: y\r\n\r\n", "x".repeat(40_000)),
    ];
    refused(scene, &texts, &[400, 414, 431]).await
}

async fn hosts(scene: &Scene<'_>) -> Cost {
    let hosts =
        ["", "host: x\r\nhost: x\r\n", "host: x\r\nhost: y\r\n", "host: x y\r\n", "host: \r\n"];
    let texts =
        hosts.map(|hosts| format!("GET /healthz HTTP/1.1\r\n{hosts}connection: close\r\n\r\n"));
    refused(scene, &texts, &[400]).await
}

async fn smuggled(scene: &Scene<'_>) -> Cost {
    let hidden = "GET /v1/capabilities HTTP/1.1\r\nhost: x\r\n\r\n";
    let lengths = [
        "content-length: 5\r\ncontent-length: 6\r\n",
        "content-length: 0\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding : chunked\r\n",
        "content-length: +5\r\n",
        "content-length: 0x5\r\n",
        "content-length: 5, 6\r\n",
        "content-length: 99999999999999999999\r\n",
        " content-length: 5\r\n",
    ];
    let texts = lengths.map(|length| {
        format!("POST /healthz HTTP/1.1\r\nhost: x\r\n{length}\r\n0\r\n\r\n{hidden}")
    });
    refused(scene, &texts, &[400]).await
}

async fn other_protocols(scene: &Scene<'_>) -> Cost {
    let texts = [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".to_owned(),
        "SSH-2.0-OpenSSH_9.0\r\n".to_owned(),
        "GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n".to_owned(),
        "GET  /healthz HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        "\0".repeat(50_000),
    ];
    refused(scene, &texts, &[400, 505]).await
}

async fn announced(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let attack = async || {
        for path in ["/oauth/token", "/mcp", "/v1/agents/register", "/nowhere"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-type: application/json\r\n\
                 content-length: 10000000000\r\n\r\n"
            );
            let mut stream = connect(scene.host, attacker.address).await;
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut answer = next_answer(&mut stream).await;
            if answer.contains("100 Continue") {
                // The host asks for a body that it may read, and stops at the limit.
                let _written = stream.write_all(&vec![b' '; 400 << 10]).await;
                answer = next_answer(&mut stream).await;
            }
            let refused = statuses(&answer).iter().all(|status| (400..500).contains(status));
            assert!(refused, "{path}: {answer}");
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

/// Reads what arrives next.
async fn next_answer(stream: &mut TcpStream) -> String {
    let mut answer = vec![0; 4_096];
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut answer)).await;
    String::from_utf8_lossy(&answer[..read.unwrap().unwrap()]).into_owned()
}
