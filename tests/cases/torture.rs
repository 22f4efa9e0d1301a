//! Hosts are killed at random moments while many callers write: no acknowledged write is lost, and
//! no write is done in part.

use crate::harness::{Host, Options, PATIENCE, Process, database::Database, postgres::Server};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::sync::Notify;

const WRITERS: u64 = 32;
const ROUNDS: u64 = 10;
/// The number of accounts beside the bank, which may be overdrawn.
const ACCOUNTS: u64 = 24;
/// The initial balance of an account: more than it ever transfers away.
const FUNDS: i64 = 1_000_000;

/// Returns whether to run the long form: `cargo xtask test --full`.
fn is_full() -> bool {
    std::env::var_os("PORTOLAN_TEST_FULL").is_some()
}

/// Returns the number of repetitions, each with a new database.
fn repetitions() -> u64 {
    if is_full() { 20 } else { 1 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_on_sqlite() {
    for repetition in 0..repetitions() {
        torture(repetition, Options::with(&["ledger", "notes"]), None).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_on_postgres() {
    let mut server = Server::start(100);
    for repetition in 0..repetitions() {
        let url = server.database().await;
        let options = Options::with(&["ledger", "notes"]).postgres(&url);
        torture(repetition, options, Some(&mut server)).await;
    }
}

/// Prints at once; `println!` would be captured until a test fails.
fn print_now(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

/// A transfer that a caller requested, and its answer.
#[derive(Debug, Clone)]
struct Transfer {
    /// The caller's own name for the transfer.
    memo: String,
    from: String,
    to: String,
    amount: i64,
    keyed: bool,
    /// The result in the answer, as text.
    acknowledged: Option<String>,
    /// Whether the last answer was a refusal.
    refused: bool,
}

impl Transfer {
    fn random(memo: String, random: &mut StdRng) -> Self {
        let from = random.random_range(0..ACCOUNTS);
        let to = (from + random.random_range(1..ACCOUNTS)) % ACCOUNTS;
        Self {
            memo,
            from: account(from),
            to: account(to),
            amount: random.random_range(1..10),
            keyed: random.random_bool(0.5),
            acknowledged: None,
            refused: false,
        }
    }

    fn record_answer(&mut self, status: u16, body: &Value) {
        let code = body["error_code"].as_str();
        match (status, code) {
            (200, _) => {
                let result = body["result"].to_string();
                if let Some(first) = &self.acknowledged {
                    assert_eq!(&result, first, "{self:?}");
                }
                assert_eq!(body["meta"]["capability"], "ledger");
                self.acknowledged = Some(result);
            }
            // Without its database, the host may not know the outcome.
            (503, Some("dependency_unavailable")) => {}
            (409, Some("version_conflict")) => self.refused = true,
            other => panic!("{other:?} {body}"),
        }
    }
}

fn account(number: u64) -> String {
    format!("account {number}")
}

/// A connection to a host that may be killed at any moment.
#[derive(Clone)]
struct Connection {
    client: reqwest::Client,
    url: String,
    token: String,
    /// Notified by every answer to a transfer.
    answered: Arc<Notify>,
}

impl Connection {
    fn to(host: &Host, token: &str) -> Self {
        let client = reqwest::Client::builder().timeout(PATIENCE).build().unwrap();
        let (url, token) = (host.url.clone(), token.to_owned());
        Self { client, url, token, answered: Arc::default() }
    }

    /// Makes a call. Returns `None` if the connection broke before the whole answer had arrived.
    async fn call(&self, capability: &str, body: Value, key: Option<&str>) -> Option<(u16, Value)> {
        let url = format!("{}/v1/capabilities/{capability}/call", self.url);
        let mut request = self.client.post(url).bearer_auth(&self.token).json(&body);
        if let Some(key) = key {
            request = request.header("Idempotency-Key", format!("\"{key}\""));
        }
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        Some((status, response.json().await.ok()?))
    }

    async fn result(&self, capability: &str, body: Value) -> Value {
        let (status, mut body) = self.call(capability, body, None).await.unwrap();
        assert_eq!(status, 200, "{body:#}");
        body["result"].take()
    }

    /// Sends a transfer and records its answer. Returns whether there was one.
    async fn send(&self, transfer: &mut Transfer) -> bool {
        let Transfer { from, to, amount, memo, .. } = &*transfer;
        let body =
            json!({ "action": "transfer", "from": from, "to": to, "amount": amount, "memo": memo });
        let key = transfer.keyed.then_some(memo.as_str());
        let answer = self.call("ledger", body, key).await;
        transfer.refused = false;
        if let Some((status, body)) = &answer {
            self.answered.notify_one();
            transfer.record_answer(*status, body);
        }
        answer.is_some()
    }

    /// Sends transfers until the host does not answer: first those without an answer, then new
    /// ones. Returns all of them.
    async fn write(
        self,
        mut open: Vec<Transfer>,
        name: String,
        mut random: StdRng,
    ) -> Vec<Transfer> {
        let mut sent = Vec::new();
        loop {
            let mut transfer = open
                .pop()
                .unwrap_or_else(|| Transfer::random(format!("{name}.{}", sent.len()), &mut random));
            let answered = self.send(&mut transfer).await;
            sent.push(transfer);
            if !answered {
                sent.append(&mut open);
                return sent;
            }
        }
    }

    /// Returns every transfer of the ledger by its memo. Asserts that each is in the statements of
    /// both accounts.
    async fn statements(&self) -> BTreeMap<String, Value> {
        let (mut outgoing, mut incoming) = (BTreeMap::new(), BTreeMap::new());
        for account in (0..ACCOUNTS).map(account).chain(["bank".to_owned()]) {
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

/// Starts, writes to and kills a host on one database several times, then checks all that is
/// stored.
async fn torture(repetition: u64, options: Options, mut server: Option<&mut Server>) {
    // The public URL is fixed, because tokens name it and it would change with each start.
    let configuration = format!("{}public_url = \"http://ledger.test\"\n", options.configuration);
    let mut host = Process::start(options.configuration(&configuration));
    let token = host.claimed_agent().await.token;
    let mut sent = open_accounts(&Connection::to(&host, &token)).await;
    let mut random = StdRng::seed_from_u64(repetition);
    for round in 0..ROUNDS {
        let connection = Connection::to(&host, &token);
        let is_open = |transfer: &mut Transfer| transfer.keyed && transfer.acknowledged.is_none();
        let mut open: Vec<_> = sent.extract_if(.., is_open).collect();
        let mut writers = Vec::new();
        for writer in 0..WRITERS {
            let share = open.len().div_ceil(usize::try_from(WRITERS - writer).unwrap());
            let own = open.split_off(open.len() - share);
            let random = StdRng::seed_from_u64(random.random());
            let name = format!("{repetition}.{round}.{writer}");
            writers.push(tokio::spawn(connection.clone().write(own, name, random)));
        }
        // A host that has just started is slow to answer the first calls.
        tokio::time::timeout(PATIENCE, connection.answered.notified()).await.unwrap();
        let mut moment = || Duration::from_millis(random.random_range(50..400));
        if let Some(server) = server.as_deref_mut().filter(|_| is_full() && round % 3 == 2) {
            tokio::time::sleep(moment()).await;
            server.kill();
            tokio::time::sleep(moment()).await;
            server.start_again();
        }
        tokio::time::sleep(moment()).await;
        host.signal("KILL");
        for writer in writers {
            sent.extend(writer.await.unwrap());
        }
        let (_, folder) = host.wait();
        if is_full() {
            let (turn, sent) = (repetition * ROUNDS + round + 1, sent.len());
            print_now(&format!(
                "killed {turn} of {} times, {sent} transfers",
                repetitions() * ROUNDS
            ));
        } else {
            release_leases(&folder).await;
        }
        if let Some(server) = &server {
            server.ready().await;
        }
        host = Process::start_in(folder);
    }
    check(host, &token, sent).await;
}

/// Makes the deliveries due that a killed host has begun: their leases last half a minute, and the
/// short form does not wait for that.
async fn release_leases(folder: &TempDir) {
    Database::of(folder.path()).execute("UPDATE deliveries SET due_at = 0").await;
}

/// Opens the accounts and gives each its funds.
async fn open_accounts(connection: &Connection) -> Vec<Transfer> {
    connection.result("ledger", json!({ "action": "open", "account": "bank" })).await;
    let mut sent = Vec::new();
    for to in (0..ACCOUNTS).map(account) {
        connection.result("ledger", json!({ "action": "open", "account": to })).await;
        let mut transfer = Transfer {
            memo: format!("funds of {to}"),
            from: "bank".to_owned(),
            to,
            amount: FUNDS,
            keyed: false,
            acknowledged: None,
            refused: false,
        };
        assert!(connection.send(&mut transfer).await);
        sent.push(transfer);
    }
    sent
}

async fn check(host: Process, token: &str, mut sent: Vec<Transfer>) {
    let connection = Connection::to(&host, token);
    let stored = connection.statements().await;
    check_answers(&sent, &stored);
    let (acknowledged, unacknowledged): (Vec<_>, Vec<_>) = sent
        .iter()
        .filter(|transfer| !transfer.refused)
        .partition(|transfer| transfer.acknowledged.is_some());
    let done = unacknowledged.iter().filter(|transfer| stored.contains_key(&transfer.memo)).count();
    let (acknowledged, unacknowledged) = (acknowledged.len(), unacknowledged.len());
    assert!(acknowledged > 30 && unacknowledged > 10, "{acknowledged} {unacknowledged}");
    if is_full() {
        print_now(&format!(
            "{acknowledged} acknowledged; {unacknowledged} without an answer, {done} of them done"
        ));
    }

    // A repeated call with the same key gets the first answer, and the transfer is made once.
    let (keyed, mut plain): (Vec<_>, Vec<_>) = sent.drain(..).partition(|transfer| transfer.keyed);
    let mut repeating = Vec::new();
    for share in keyed.chunks(keyed.len().div_ceil(8)) {
        let (connection, mut share) = (connection.clone(), share.to_vec());
        repeating.push(tokio::spawn(async move {
            for transfer in &mut share {
                assert!(connection.send(transfer).await);
                // The call may conflict with other repeated calls.
                while transfer.acknowledged.is_none() {
                    assert!(connection.send(transfer).await);
                }
                assert!(!transfer.refused);
            }
            share
        }));
    }
    for share in repeating {
        plain.extend(share.await.unwrap());
    }
    let sent = plain;
    let stored = connection.statements().await;
    check_answers(&sent, &stored);
    check_balances(&connection, &stored).await;

    let database = host.database();
    let started = Instant::now();
    while !database.texts("SELECT lane FROM deliveries LIMIT 1").await.is_empty() {
        assert!(started.elapsed() < 3 * PATIENCE, "deliveries are left");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let delivered = delivered_transfers(&connection).await;
    host.signal("TERM");
    let (status, _folder) = host.wait();
    assert!(status.success());
    check_records(&database, &stored, &delivered).await;
}

/// Compares the answers of callers with the stored transfers.
fn check_answers(sent: &[Transfer], stored: &BTreeMap<String, Value>) {
    for transfer in sent {
        let entry = stored.get(&transfer.memo);
        match &transfer.acknowledged {
            Some(result) => {
                let entry = entry.unwrap_or_else(|| panic!("lost: {transfer:?}"));
                let result: Value = serde_json::from_str(result).unwrap();
                assert_eq!(entry["transfer"], result["transfer"], "{transfer:?}");
            }
            None => assert!(entry.is_none() || !transfer.refused, "done: {transfer:?}"),
        }
        if let Some(entry) = entry {
            assert_eq!(
                (&entry["from"], &entry["to"], &entry["amount"]),
                (&json!(transfer.from), &json!(transfer.to), &json!(transfer.amount))
            );
        }
    }
    let known: BTreeSet<_> = sent.iter().map(|transfer| &transfer.memo).collect();
    assert!(stored.keys().all(|memo| known.contains(memo)), "there are transfers that nobody sent");
}

/// Asserts that each balance is the sum of its transfers, and that all balances add up to zero.
async fn check_balances(connection: &Connection, stored: &BTreeMap<String, Value>) {
    let mut expected: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in stored.values() {
        let amount = entry["amount"].as_i64().unwrap();
        *expected.entry(entry["from"].as_str().unwrap()).or_default() -= amount;
        *expected.entry(entry["to"].as_str().unwrap()).or_default() += amount;
    }
    let accounts: Vec<_> = expected.keys().collect();
    let found =
        connection.result("ledger", json!({ "action": "balances", "accounts": accounts })).await;
    let found = found["items"].as_array().unwrap().iter();
    let found: BTreeMap<_, _> = found
        .map(|account| (account["account"].as_str().unwrap(), account["balance"].as_i64().unwrap()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(found.values().sum::<i64>(), 0);
}

/// Returns the transfers of each account that the subscriber got, in their order.
async fn delivered_transfers(connection: &Connection) -> BTreeMap<String, Value> {
    let mut delivered = BTreeMap::new();
    for account in (0..ACCOUNTS).map(account).chain(["bank".to_owned()]) {
        let subject = format!("accounts/{account}");
        let ask = json!({ "action": "heard", "subject": subject });
        delivered.insert(subject, connection.result("notes", ask).await["transfers"].take());
    }
    delivered
}

/// Asserts that each transfer has one event, one subscriber's entry and one line in the audit log.
async fn check_records(
    database: &Database,
    stored: &BTreeMap<String, Value>,
    delivered: &BTreeMap<String, Value>,
) {
    let events = "SELECT data FROM events WHERE capability = 'ledger' ORDER BY seq";
    let subjects = "SELECT subject FROM events WHERE capability = 'ledger' ORDER BY seq";
    let (events, subjects) = (database.texts(events).await, database.texts(subjects).await);
    let mut published: BTreeMap<_, _> =
        delivered.keys().map(|subject| (subject.clone(), Vec::new())).collect();
    let mut of: BTreeMap<String, Value> = BTreeMap::new();
    for (event, subject) in events.iter().zip(subjects) {
        let event: Value = serde_json::from_str(event).unwrap();
        let entry = &stored[event["memo"].as_str().unwrap()];
        assert_eq!(
            (&event["transfer"], &event["amount"], &json!(subject)),
            (
                &entry["transfer"],
                &entry["amount"],
                &json!(format!("accounts/{}", entry["from"].as_str().unwrap()))
            )
        );
        published.get_mut(&subject).unwrap().push(event["transfer"].clone());
        let twice = of.insert(event["memo"].as_str().unwrap().to_owned(), event);
        assert_eq!(twice, None, "there is one event for each transfer");
    }
    assert!(of.keys().eq(stored.keys()), "every transfer has its event");
    let published: BTreeMap<_, _> =
        published.into_iter().map(|(subject, transfers)| (subject, json!(transfers))).collect();
    assert_eq!(delivered, &published);

    let audited = "SELECT request_id FROM audit WHERE action = 'transfer' AND outcome = 'ok' ORDER BY request_id";
    let requests = "SELECT request_id FROM events WHERE capability = 'ledger' ORDER BY request_id";
    assert_eq!(database.texts(audited).await, database.texts(requests).await);
}
