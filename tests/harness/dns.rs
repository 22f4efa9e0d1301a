//! A DNS server that answers as a test respond, and records its queries.

use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};
use tokio::{net::UdpSocket, task::JoinHandle};

/// Types of records (RFC 1035, section 3.2.2).
const A: u16 = 1;
pub const TXT: u16 = 16;

/// The answer for a name.
#[derive(Debug, Clone)]
pub enum Answer {
    Texts(Vec<String>),
    Address(Ipv4Addr),
    /// The name does not exist (NXDOMAIN).
    NxDomain,
    /// The server fails (SERVFAIL).
    Failure,
    /// The server sends no answer.
    Silence,
}

/// Returns the answer for a name in lower case and a type, after this many
/// earlier queries for both.
type Responder = dyn Fn(&str, u16, usize) -> Answer + Send + Sync;

pub struct Dns {
    pub port: u16,
    queries: Arc<Mutex<Vec<(String, u16)>>>,
    work: JoinHandle<()>,
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Dns {
    pub async fn start(
        respond: impl Fn(&str, u16, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let queries: Arc<Mutex<Vec<(String, u16)>>> = Arc::default();
        let recorded = Arc::clone(&queries);
        let respond: Box<Responder> = Box::new(respond);
        let work = tokio::spawn(async move {
            let mut bytes = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut bytes).await {
                let (name, kind, question) = question(&bytes[..length]);
                let before = {
                    let mut recorded = recorded.lock().unwrap();
                    recorded.push((name.clone(), kind));
                    recorded.iter().filter(|query| **query == (name.clone(), kind)).count() - 1
                };
                if let Some(reply) =
                    reply(&bytes[..2], question, kind, &respond(&name, kind, before))
                {
                    socket.send_to(&reply, from).await.unwrap();
                }
            }
        });
        Self { port, queries, work }
    }

    /// Returns the number of queries for this name and type.
    pub fn query_count(&self, name: &str, kind: u16) -> usize {
        let queries = self.queries.lock().unwrap();
        queries.iter().filter(|(queried, of)| queried == name && *of == kind).count()
    }
}

/// Returns the name in lower case, the type, and the bytes of the question section.
fn question(message: &[u8]) -> (String, u16, &[u8]) {
    let (mut at, mut labels) = (12, Vec::new());
    while message[at] != 0 {
        let end = at + 1 + usize::from(message[at]);
        labels.push(String::from_utf8_lossy(&message[at + 1..end]).to_ascii_lowercase());
        at = end;
    }
    let kind = u16::from_be_bytes([message[at + 1], message[at + 2]]);
    (labels.join("."), kind, &message[12..at + 5])
}

fn reply(id: &[u8], question: &[u8], kind: u16, answer: &Answer) -> Option<Vec<u8>> {
    let (code, records): (u8, Vec<Vec<u8>>) = match answer {
        Answer::Silence => return None,
        Answer::Failure => (2, Vec::new()),
        Answer::NxDomain => (3, Vec::new()),
        Answer::Texts(texts) if kind == TXT => {
            (0, texts.iter().map(|text| strings(text)).collect())
        }
        Answer::Address(address) if kind == A => (0, vec![address.octets().to_vec()]),
        Answer::Texts(_) | Answer::Address(_) => (0, Vec::new()),
    };
    let count = u8::try_from(records.len()).unwrap();
    let mut message = id.to_vec();
    message.extend([0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0]);
    message.extend(question);
    for data in records {
        // A pointer to the name in the question, then its type, the class IN, and
        // a TTL of 60 seconds.
        message.extend([0xc0, 12]);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1, 0, 0, 0, 60]);
        message.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        message.extend(data);
    }
    Some(message)
}

/// Returns a text as the strings of a record, each of at most 255 bytes.
fn strings(text: &str) -> Vec<u8> {
    let parts = text.as_bytes().chunks(255);
    parts.flat_map(|part| [&[u8::try_from(part.len()).unwrap()], part].concat()).collect()
}
