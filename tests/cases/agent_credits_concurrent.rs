//! The ledger while many agents use it at once and the host is killed: whatever was cut off, every
//! balance is the sum of its journal, and every hold has one end.

use crate::harness::{
    Host, Options, PATIENCE, Process,
    credits::{OWN_NUMBER, SHARED_NUMBER, claimed, options},
    postgres,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// The number of agents of one person, who transfer credits, and of agents with a person each.
const SIBLING_AGENTS: usize = 5;
const SINGLE_AGENTS: usize = 5;

/// Returns the number of rounds, which is higher with `cargo xtask test --full`.
fn rounds() -> usize {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { 40 } else { 2 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_credit_is_created_or_lost_on_sqlite() {
    check_under_load(options(&[])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_credit_is_created_or_lost_on_postgres() {
    check_under_load(options(&[]).postgres(&postgres::database().await)).await;
}

/// An agent and the answers it got.
#[derive(Clone)]
struct Actor {
    id: String,
    token: String,
    siblings: Vec<String>,
    /// The holds by their ids, each with the end that an answer has confirmed.
    holds: BTreeMap<String, Option<&'static str>>,
}

/// A connection to a host that may be killed at any moment.
#[derive(Clone)]
struct Connection {
    client: reqwest::Client,
    url: String,
    calls: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
}

impl Connection {
    fn to(host: &Host) -> Self {
        let client = reqwest::Client::builder().timeout(PATIENCE).build().unwrap();
        Self { client, url: host.url.clone(), calls: Arc::default(), stopped: Arc::default() }
    }

    /// Makes a call. Returns `None` if the connection broke before the whole answer had arrived.
    async fn call(&self, token: &str, capability: &str, body: Value) -> Option<(u16, Value)> {
        let url = format!("{}/v1/capabilities/{capability}/call", self.url);
        let response = self.client.post(url).bearer_auth(token).json(&body).send().await.ok()?;
        let status = response.status().as_u16();
        let body = response.json().await.ok()?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        Some((status, body))
    }

    async fn result(&self, token: &str, capability: &str, body: Value) -> Value {
        let (status, mut body) = self.call(token, capability, body).await.unwrap();
        assert_eq!(status, 200, "{body:#}");
        body["result"].take()
    }

    /// Holds, captures, releases and transfers until the host does not answer or the time is over.
    async fn act(self, mut actor: Actor, mut random: StdRng) -> Actor {
        while !self.stopped.load(Ordering::Relaxed) {
            let open = actor.holds.iter().filter(|(_, end)| end.is_none());
            let open: Vec<String> = open.map(|(id, _)| id.clone()).collect();
            let choice = random.random_range(0..10);
            let (capability, body, end) = match choice {
                0..3 if !open.is_empty() => {
                    let id = &open[random.random_range(0..open.len())];
                    let end = if choice == 0 { "capture" } else { "release" };
                    let mut input = json!({ "hold_id": id });
                    if end == "release" {
                        input["reason"] = json!("accepted");
                    }
                    ("spender", json!({ "action": end, "input": input }), Some((id.clone(), end)))
                }
                3..6 if !actor.siblings.is_empty() => {
                    let to = &actor.siblings[random.random_range(0..actor.siblings.len())];
                    let amount = random.random_range(1..30);
                    let transfer =
                        json!({ "action": "transfer", "to_agent_id": to, "amount": amount });
                    ("agent_credits", transfer, None)
                }
                _ => {
                    // Some holds repeat a reference, and some last only a second.
                    let reference = format!("pairing:{}", random.random_range(0..1_000));
                    let ttl_s = if random.random_bool(0.2) { 1 } else { 3_600 };
                    let amount = random.random_range(1..4);
                    let input = json!({ "amount": amount, "ref": reference, "ttl_s": ttl_s });
                    ("spender", json!({ "action": "hold", "input": input }), None)
                }
            };
            let is_hold = body["action"] == "hold";
            let Some((status, body)) = self.call(&actor.token, capability, body).await else {
                return actor;
            };
            let code = body["error_code"].as_str();
            match (status, code) {
                (200, _) if is_hold => {
                    let hold = &body["result"]["output"];
                    let id = hold["hold_id"].as_str().unwrap().to_owned();
                    actor.holds.entry(id).or_default();
                }
                (200, _) => {
                    if let Some((id, end)) = end {
                        actor.holds.insert(id, Some(end));
                    }
                }
                (402, Some("insufficient_credits")) | (409, Some("version_conflict")) => {}
                // The hold has expired, or was ended by a call whose answer was lost.
                (409, Some("invalid_transition")) => {
                    let (id, _) = end.unwrap();
                    actor.holds.insert(id, Some("ended"));
                }
                (503, Some("dependency_unavailable")) => {}
                other => panic!("{other:?} {body}"),
            }
        }
        actor
    }
}

async fn check_under_load(options: Options) {
    let host = Process::start(options);
    let mut actors = Vec::new();
    for number in 0..SIBLING_AGENTS + SINGLE_AGENTS {
        let phone = if number < SIBLING_AGENTS { SHARED_NUMBER } else { OWN_NUMBER };
        let (reader, _) = claimed(&host, phone).await;
        let (id, token) = (reader.id, reader.agent.token);
        actors.push(Actor { id, token, siblings: Vec::new(), holds: BTreeMap::new() });
    }
    let connection = Connection::to(&host);
    let issue = json!({ "amount": 1_000, "uses": SINGLE_AGENTS + 1 });
    let issued = json!({ "action": "issue_code", "input": issue });
    let code =
        connection.result(&actors[0].token, "spender", issued).await["output"]["code"].take();
    for actor in actors.iter().skip(SIBLING_AGENTS - 1) {
        let redeem = json!({ "action": "redeem", "code": code });
        connection.result(&actor.token, "agent_credits", redeem).await;
    }
    let siblings: Vec<_> = actors[..SIBLING_AGENTS].iter().map(|actor| actor.id.clone()).collect();
    for actor in &mut actors[..SIBLING_AGENTS] {
        actor.siblings = siblings.iter().filter(|id| **id != actor.id).cloned().collect();
    }

    let mut random = StdRng::seed_from_u64(7);
    let mut host = host;
    for round in 1..=rounds() {
        let connection = Connection::to(&host);
        let running: Vec<_> = actors
            .drain(..)
            .map(|actor| {
                let random = StdRng::seed_from_u64(random.random());
                tokio::spawn(connection.clone().act(actor, random))
            })
            .collect();
        let started = Instant::now();
        while connection.calls.load(Ordering::Relaxed) < 150 {
            assert!(started.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let is_last = round == rounds();
        match is_last {
            true => connection.stopped.store(true, Ordering::Relaxed),
            false => host.signal("KILL"),
        }
        for actor in running {
            actors.push(actor.await.unwrap());
        }
        if !is_last {
            let (_, folder) = host.wait();
            host = Process::start_in(folder);
        }
    }
    let connection = Connection::to(&host);
    // Holds of one second expire meanwhile, except those whose timer the last kill has interrupted.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    check(&connection, &actors).await;
    // All open holds are released, and then no account of a hold has credits.
    for actor in &actors {
        for hold in statement(&connection, actor).await.open() {
            let input = json!({ "hold_id": hold, "reason": "cancelled" });
            let release = json!({ "action": "release", "input": input });
            connection.call(&actor.token, "spender", release).await.unwrap();
        }
    }
    let balances = check(&connection, &actors).await;
    assert_eq!(balances.keys().filter(|name| name.starts_with("hold:")).count(), 0, "{balances:?}");
}

/// All entries of one agent, the oldest first.
struct Statement(Vec<Value>);

impl Statement {
    /// The holds that have not ended.
    fn open(&self) -> Vec<String> {
        let of = |side: &str| {
            let names =
                self.0.iter().filter_map(|entry| entry[side].as_str()?.strip_prefix("hold:"));
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        let (begun, ended) = (of("credit_account"), of("debit_account"));
        let once: BTreeSet<_> = ended.iter().collect();
        assert_eq!(once.len(), ended.len(), "a hold ends once");
        assert_eq!(begun.iter().collect::<BTreeSet<_>>().len(), begun.len());
        begun.into_iter().filter(|id| !once.contains(id)).collect()
    }
}

async fn statement(connection: &Connection, actor: &Actor) -> Statement {
    let mut entries = Vec::new();
    let mut ask = json!({ "action": "statement", "limit": 100 });
    loop {
        let mut page = connection.result(&actor.token, "agent_credits", ask.clone()).await;
        entries.append(page["items"].as_array_mut().unwrap());
        ask["cursor"] = page["next_cursor"].take();
        if ask["cursor"].is_null() {
            entries.reverse();
            return Statement(entries);
        }
    }
}

/// Recomputes every account from the statements, and returns the balances that are not zero.
async fn check(connection: &Connection, actors: &[Actor]) -> BTreeMap<String, i64> {
    let mut transactions: BTreeMap<String, (Value, usize)> = BTreeMap::new();
    let mut balances: BTreeMap<String, i64> = BTreeMap::new();
    let mut ends = BTreeMap::new();
    for actor in actors {
        let balance =
            connection.result(&actor.token, "agent_credits", json!({ "action": "balance" })).await;
        let statement = statement(connection, actor).await;
        let own = format!("agent:{}", actor.id);
        let (mut available, mut held) = (0, 0);
        for entry in &statement.0 {
            let amount = entry["amount"].as_i64().unwrap();
            let side = |name: &str| entry[name].as_str().unwrap().to_owned();
            let (debit, credit) = (side("debit_account"), side("credit_account"));
            assert!(amount > 0 && debit != credit);
            available += amount * (i64::from(credit == own) - i64::from(debit == own));
            let is_hold = |name: &str| i64::from(name.starts_with("hold:"));
            held += amount * (is_hold(&credit) - is_hold(&debit));
            assert!(available >= 0 && held >= 0, "{entry:#}");
            let after = (entry["balance_after"].as_i64(), entry["held_after"].as_i64());
            assert_eq!(after, (Some(available), Some(held)), "{entry:#}");
            if let Some(id) = debit.strip_prefix("hold:") {
                ends.insert(id.to_owned(), entry["kind"].as_str().unwrap().to_owned());
            }
            let core = json!([debit, credit, amount]);
            let known = transactions.entry(side("txn_id")).or_insert_with(|| (core.clone(), 0));
            assert_eq!(known.0, core, "both statements say the same");
            known.1 += 1;
        }
        let cached = (balance["available"].as_i64(), balance["held"].as_i64());
        assert_eq!(cached, (Some(available), Some(held)), "{balance:#}");
        let lifetime = |name: &str| balance[name].as_i64().unwrap();
        assert_eq!(available + held, lifetime("lifetime_in") - lifetime("lifetime_out"));
        let open: BTreeSet<_> = statement.open().into_iter().collect();
        for (id, end) in &actor.holds {
            let found = ends.get(id).map(String::as_str);
            assert!(found.is_some() != open.contains(id), "{id} is lost");
            assert!(
                end.is_none_or(|end| end == "ended" || found == Some(end)),
                "{id}: {end:?} {found:?}"
            );
        }
    }
    for (core, statements) in transactions.into_values() {
        let (debit, credit) = (core[0].as_str().unwrap(), core[1].as_str().unwrap());
        let both = debit.starts_with("agent:") && credit.starts_with("agent:");
        assert_eq!(statements, 1 + usize::from(both), "{core}");
        let amount = core[2].as_i64().unwrap();
        *balances.entry(debit.to_owned()).or_default() -= amount;
        *balances.entry(credit.to_owned()).or_default() += amount;
    }
    assert_eq!(balances.values().sum::<i64>(), 0);
    let system = ["grants", "promo"];
    assert!(balances.iter().all(|(name, sum)| *sum >= 0 || system.contains(&name.as_str())));
    // A person with several accounts, and one with a single account.
    for actor in [&actors[0], &actors[SIBLING_AGENTS]] {
        let balance =
            connection.result(&actor.token, "agent_credits", json!({ "action": "balance" })).await;
        let accounts = balance["accounts"].as_array().unwrap();
        for name in ["available", "held"] {
            let sum: u64 = accounts.iter().map(|account| account[name].as_u64().unwrap()).sum();
            assert_eq!(balance["person"][name], sum, "{balance:#}");
        }
    }
    balances.retain(|_, sum| *sum != 0);
    balances
}
