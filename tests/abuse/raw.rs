//! Connections at which bytes are written as they are.

use crate::harness::{Host, PATIENCE};
use std::net::{IpAddr, SocketAddr};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

/// Opens a connection to the host from an address.
pub async fn connect(host: &Host, from: IpAddr) -> TcpStream {
    let address: SocketAddr = host.url.strip_prefix("http://").unwrap().parse().unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from, 0)).unwrap();
    socket.connect(address).await.unwrap()
}

/// Writes bytes, ends the writing if `ends`, and returns everything that is answered until the host closes the
/// connection. The host may close it before everything is written.
pub async fn exchange(host: &Host, from: IpAddr, bytes: &[u8], ends: bool) -> String {
    let (mut read, mut write) = connect(host, from).await.into_split();
    let writing = async {
        let _written = write.write_all(bytes).await;
        // A host that sees the end does not answer further requests.
        if ends {
            let _ended = write.shutdown().await;
        }
    };
    let mut answer = Vec::new();
    let reading = async {
        let _ended = tokio::time::timeout(PATIENCE, read.read_to_end(&mut answer)).await.unwrap();
    };
    tokio::join!(writing, reading);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Returns the statuses of the answers in a text.
pub fn statuses(text: &str) -> Vec<u16> {
    let heads = text.split("HTTP/1.1 ").skip(1);
    heads.filter_map(|head| head.get(..3)?.parse().ok()).collect()
}
