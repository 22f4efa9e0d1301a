//! Transfers of the capability `ledger` that many callers write while something fails: what they were answered, and what
//! is stored.

use crate::harness::{PATIENCE, Process};
use rand::{RngExt as _, rngs::StdRng};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::Notify;

/// The number of accounts beside the bank, which may be overdrawn.
const ACCOUNTS: u64 = 24;
/// The initial balance of an account: more than it ever transfers away.
const FUNDS: i64 = 1_000_000;
/// The components that a node needs.
pub const COMPONENTS: [&str; 2] = ["ledger", "notes"];
/// The settings of a node. Tokens name the public URL, and nodes are started again at other addresses. Quotas are for
/// more calls than the people of one owner make.
pub const SETTINGS: &str = "public_url = \"http://ledger.test\"
[quotas]
owner_documents_per_day = 5000000
owner_bytes_per_day = 8589934592
event_bytes_per_day = 8589934592
";

/// A transfer that a caller requested, and its answers.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The caller's own name for the transfer, which is also its idempotency key.
    pub memo: String,
    pub from: String,
    pub to: String,
    pub amount: i64,
    pub keyed: bool,
    /// The result in the answer, as text.
    pub acknowledged: Option<String>,
    /// Whether the last answer was a refusal, and nothing was left open before.
    pub refused: bool,
    /// Whether something else than an answer from the ledger has left open if it was made.
    is_unknown: bool,
    /// How often the connection broke before the answer.
    pub broken: usize,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    Acknowledged,
    /// The call is to be repeated, after these seconds if the answer says so.
    Refused(Option<u64>),
    /// The connection broke before the whole answer had arrived.
    Broken,
}

struct Answer {
    status: u16,
    /// The seconds of `Retry-After`.
    retry_after: Option<u64>,
    body: Value,
}

fn account(number: u64) -> String {
    format!("account {number}")
}

/// Returns the names of all accounts.
pub fn accounts() -> impl Iterator<Item = String> {
    (0..ACCOUNTS).map(account).chain(["bank".to_owned()])
}

impl Transfer {
    fn new(memo: String, from: String, to: String, amount: i64, keyed: bool) -> Self {
        let (acknowledged, refused, is_unknown, broken) = (None, false, false, 0);
        Self { memo, from, to, amount, keyed, acknowledged, refused, is_unknown, broken }
    }

    pub fn random(memo: String, keyed: bool, random: &mut StdRng) -> Self {
        let from = random.random_range(0..ACCOUNTS);
        let to = (from + random.random_range(1..ACCOUNTS)) % ACCOUNTS;
        Self::new(memo, account(from), account(to), random.random_range(1..10), keyed)
    }

    /// Returns whether it can be repeated, and has to be.
    pub fn is_open(&self) -> bool {
        self.keyed && self.acknowledged.is_none()
    }

    fn record(&mut self, answer: &Answer) -> Sent {
        let Answer { status, retry_after, body } = answer;
        match (*status, body["error_code"].as_str()) {
            (200, _) => {
                let result = body["result"].to_string();
                if let Some(first) = &self.acknowledged {
                    assert_eq!(&result, first, "{self:?}");
                }
                assert_eq!(body["meta"]["capability"], "ledger");
                self.acknowledged = Some(result);
                Sent::Acknowledged
            }
            // Without its database, the host may not know the outcome.
            (503, Some("dependency_unavailable" | "capability_unavailable")) => {
                self.is_unknown = true;
                Sent::Refused(*retry_after)
            }
            // Nothing was changed: others were faster, or the database answered too late.
            (409, Some("version_conflict")) | (504, Some("capability_timeout")) => {
                self.refused = !self.is_unknown;
                Sent::Refused(*retry_after)
            }
            other => panic!("{other:?} {body}"),
        }
    }
}

/// An agent that calls nodes, each of which may be killed at any moment.
#[derive(Clone)]
pub struct Caller {
    client: reqwest::Client,
    token: String,
    /// The addresses of the nodes that have not broken a connection.
    urls: Vec<String>,
    turn: usize,
    /// Notified by every answer to a transfer.
    answered: Arc<Notify>,
}

impl Caller {
    pub fn of(nodes: &[Process], token: &str) -> Self {
        let client = reqwest::Client::builder().timeout(PATIENCE).build().unwrap();
        let urls = nodes.iter().map(|node| node.url.clone()).collect();
        Self { client, token: token.to_owned(), urls, turn: 0, answered: Arc::default() }
    }

    /// Returns the address for the next call, which is that of another node if there is one; `None` if no node is
    /// left.
    pub fn next_node(&mut self) -> Option<String> {
        self.turn += 1;
        let place = self.turn.checked_rem(self.urls.len())?;
        Some(self.urls[place].clone())
    }

    /// Returns a caller that begins with this one of the nodes.
    pub fn beginning_at(&self, turn: usize) -> Self {
        Self { turn, ..self.clone() }
    }

    pub fn forget(&mut self, url: &str) {
        self.urls.retain(|known| known != url);
    }

    /// Waits until a transfer was answered: a node that has just started is slow to answer the first calls.
    pub async fn answered(&self) {
        tokio::time::timeout(PATIENCE, self.answered.notified()).await.unwrap();
    }

    /// Makes a call. Returns `None` if the connection broke before the whole answer had arrived.
    async fn call(
        &self,
        url: &str,
        capability: &str,
        body: Value,
        key: Option<&str>,
    ) -> Option<Answer> {
        let url = format!("{url}/v1/capabilities/{capability}/call");
        let mut request = self.client.post(url).bearer_auth(&self.token).json(&body);
        if let Some(key) = key {
            request = request.header("Idempotency-Key", format!("\"{key}\""));
        }
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let seconds = response.headers().get("retry-after");
        let retry_after = seconds.map(|seconds| seconds.to_str().unwrap().parse().unwrap());
        Some(Answer { status, retry_after, body: response.json().await.ok()? })
    }

    /// Makes a call at the first node, which must succeed, and returns its result.
    pub async fn result(&self, capability: &str, body: Value) -> Value {
        let mut answer = self.call(&self.urls[0], capability, body, None).await.unwrap();
        assert_eq!(answer.status, 200, "{:#}", answer.body);
        answer.body["result"].take()
    }

    /// Sends a transfer to a node, and records the answer.
    pub async fn send(&self, url: &str, transfer: &mut Transfer) -> Sent {
        let Transfer { from, to, amount, memo, .. } = &*transfer;
        let body =
            json!({ "action": "transfer", "from": from, "to": to, "amount": amount, "memo": memo });
        let key = transfer.keyed.then_some(memo.as_str());
        let answer = self.call(url, "ledger", body, key).await;
        transfer.refused = false;
        match answer {
            Some(answer) => {
                self.answered.notify_one();
                transfer.record(&answer)
            }
            None => {
                transfer.is_unknown = true;
                transfer.broken += 1;
                Sent::Broken
            }
        }
    }

    /// Repeats a transfer with a key, each time at another node, until it is acknowledged.
    pub async fn repeat(&mut self, transfer: &mut Transfer) {
        loop {
            let url = self.next_node().unwrap();
            match self.send(&url, transfer).await {
                Sent::Acknowledged => return,
                // It may conflict with other repeated transfers.
                Sent::Refused(_) => {}
                Sent::Broken => panic!("{transfer:?}"),
            }
        }
    }

    /// Opens the accounts and gives each its funds.
    pub async fn open_accounts(&self) -> Vec<Transfer> {
        let mut sent = Vec::new();
        for account in accounts() {
            self.result("ledger", json!({ "action": "open", "account": account })).await;
        }
        for to in (0..ACCOUNTS).map(account) {
            let memo = format!("funds of {to}");
            let mut transfer = Transfer::new(memo, "bank".to_owned(), to, FUNDS, false);
            assert_eq!(self.send(&self.urls[0], &mut transfer).await, Sent::Acknowledged);
            sent.push(transfer);
        }
        sent
    }

    /// Returns every transfer of the ledger by its memo. Asserts that each is in the statements of
    /// both accounts.
    pub async fn statements(&self) -> BTreeMap<String, Value> {
        let (mut outgoing, mut incoming) = (BTreeMap::new(), BTreeMap::new());
        for account in accounts() {
            let mut cursor = Value::Null;
            loop {
                let ask = json!({ "action": "statement", "account": account, "limit": 500, "cursor": cursor });
                let mut page = self.result("ledger", ask).await;
                for entry in page["items"].as_array().unwrap() {
                    let side = if entry["from"] == account { &mut outgoing } else { &mut incoming };
                    let memo = entry["memo"].as_str().unwrap().to_owned();
                    let twice = side.insert(memo, entry.clone());
                    assert_eq!(twice, None, "there is one entry for each transfer");
                }
                cursor = page["next"].take();
                if cursor.is_null() {
                    break;
                }
            }
        }
        assert_eq!(outgoing, incoming);
        outgoing
    }
}
