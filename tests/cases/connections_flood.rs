//! Many connections with half a head, while honest clients, the operator's address and the operator's socket
//! answer.

use crate::harness::{Host, Options, Process, command};
use reqwest::Client;
use std::{net::SocketAddr, process::Stdio};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpSocket, TcpStream},
};

/// The address from which the connections are opened.
const ATTACKER: &str = "127.0.0.2";

/// Opens this many connections and sends half a head on each.
async fn flood(host: &Host, number: usize) -> Vec<TcpStream> {
    // This process needs as many files.
    rlimit::increase_nofile_limit(u64::MAX).unwrap();
    let address: SocketAddr = host.url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut streams = Vec::new();
    for _ in 0..number {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(ATTACKER.parse().unwrap(), 0)).unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        // The host may have closed the connection already.
        let _sent = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost").await;
        streams.push(stream);
    }
    streams
}

/// Checks that a client, one at the attacker's address, the operator's address and its socket are answered.
async fn ensure_everybody_is_answered(host: &Host) {
    let url = format!("{}/healthz", host.url);
    for address in ["127.0.0.1", ATTACKER] {
        let client = Client::builder().local_address(Some(address.parse().unwrap()));
        let answer = client.build().unwrap().get(&url).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{address}");
    }
    assert_eq!(host.operate("/status").await.status, 200);
    // The host listens on ports that no configuration has, so the command finds it by the socket only.
    let mut catalog = command(host.folder.path());
    let output = catalog.arg("catalog").stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn half_open_connections_of_one_address_keep_nobody_out() {
    let limits = "[limits]\nfirst_head_time_ms = 600000\n";
    let host = Process::start(Options::default().configuration(limits));
    let flood = flood(&host, 1_200).await;
    ensure_everybody_is_answered(&host).await;
    let open = host.metric("portolan_connections").await;
    assert!((200..=300).contains(&open), "{open}");
    let closed = host.metric("portolan_connections_closed_total{reason=\"address\"}").await;
    assert!(closed >= 1_200 - 256, "{closed}");
    drop(flood);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_maximum_of_connections_everybody_is_still_answered() {
    let limits = "[limits]\nfirst_head_time_ms = 600000\nconnections = 512\nconnections_per_address = 100000\n";
    let host = Process::start(Options::default().configuration(limits));
    let process = i32::try_from(host.process_id()).unwrap();
    rlimit::prlimit(process, rlimit::Resource::NOFILE, Some((1_024, 1_024)), None).unwrap();
    let flood = flood(&host, 1_400).await;
    ensure_everybody_is_answered(&host).await;
    let closed = host.metric("portolan_connections_closed_total{reason=\"total\"}").await;
    assert!(closed >= 1_400 - 512, "{closed}");
    // A busy machine closes more than it must, because those that it has told to close are still open.
    assert!(host.metric("portolan_connections").await > 128);
    assert!(host.metric("process_open_fds").await < 1_024);
    assert!(!host.log().contains("connections cannot be accepted"), "{}", host.log());
    drop(flood);
}
