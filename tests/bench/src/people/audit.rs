//! Checks the data after the simulation: balances are the sums of their journals, nobody has two meetings
//! at once, and conversations have no gaps.

use crate::{
    client::{Client, items, text},
    people::person::Person,
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::task::JoinSet;

/// The number of people who are checked concurrently.
const CONCURRENT_CHECKS: usize = 4;
/// The maximum number of attempts to read an account's journal while its balance does not change.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// The data that was found, and its faults.
#[derive(Default)]
pub(super) struct Findings {
    transactions: BTreeMap<String, Transaction>,
    /// The number of messages of each conversation.
    threads: BTreeMap<String, u64>,
    meetings: BTreeSet<String>,
    pub(super) faults: Vec<String>,
}

/// A transaction between two accounts.
#[derive(Debug, PartialEq)]
struct Transaction {
    debit: String,
    credit: String,
    amount: i64,
}

impl Findings {
    pub(super) fn rows(&self) -> [(&'static str, u64); 4] {
        [
            ("transactions of credits", self.transactions.len() as u64),
            ("conversations", self.threads.len() as u64),
            ("messages", self.threads.values().sum()),
            ("settled meetings to come", self.meetings.len() as u64),
        ]
    }

    fn merge(&mut self, other: Self) {
        for (id, transaction) in other.transactions {
            if self.transactions.get(&id).is_some_and(|known| *known != transaction) {
                self.faults.push(format!("two statements differ: {transaction:?}"));
            }
            self.transactions.insert(id, transaction);
        }
        for (thread, messages) in other.threads {
            if self.threads.get(&thread).is_some_and(|known| *known != messages) {
                self.faults.push(format!("{thread}: {messages} messages for one of two"));
            }
            self.threads.insert(thread, messages);
        }
        self.meetings.extend(other.meetings);
        self.faults.extend(other.faults);
    }

    /// Checks that all balances sum to zero, and that only accounts of the host are negative.
    fn check_totals(&mut self) {
        let mut balances: BTreeMap<&str, i64> = BTreeMap::new();
        for Transaction { debit, credit, amount } in self.transactions.values() {
            *balances.entry(debit).or_default() -= amount;
            *balances.entry(credit).or_default() += amount;
        }
        let sum: i64 = balances.values().sum();
        let below = |(name, sum): &(&&str, &i64)| **sum < 0 && !["grants", "promo"].contains(*name);
        let mut faults: Vec<String> =
            balances.iter().filter(below).map(|(name, sum)| format!("{name} has {sum}")).collect();
        faults.extend((sum != 0).then(|| format!("the ledger's sum is {sum}")));
        self.faults.extend(faults);
    }
}

pub(super) async fn check(people: Vec<Person>) -> Result<Findings> {
    eprintln!("people: checking the data");
    let (mut findings, mut checking) = (Findings::default(), JoinSet::new());
    for person in people {
        if checking.len() == CONCURRENT_CHECKS {
            findings.merge(checking.join_next().await.context("nobody looks")???);
        }
        checking.spawn(check_person(person.client));
    }
    while let Some(done) = checking.join_next().await {
        findings.merge(done??);
    }
    findings.check_totals();
    Ok(findings)
}

async fn check_person(mut client: Client) -> Result<Findings> {
    let mut findings = Findings::default();
    check_account(&mut client, &mut findings).await?;
    check_calendar(&mut client, &mut findings).await?;
    check_conversations(&mut client, &mut findings).await?;
    Ok(findings)
}

/// Reads all pages of a list.
async fn list_all(client: &mut Client, capability: &str, mut body: Value) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    body["limit"] = json!(100);
    loop {
        let mut page = client.result(capability, &body).await?;
        all.extend_from_slice(items(&page));
        body["cursor"] = page["next_cursor"].take();
        if body["cursor"].is_null() {
            return Ok(all);
        }
    }
}

/// Checks that an agent's balance is the sum of its journal.
async fn check_account(client: &mut Client, findings: &mut Findings) -> Result<()> {
    let ask = json!({ "action": "balance" });
    let mut balance = client.result("agent_credits", &ask).await?;
    for _ in 0..ATTEMPTS {
        let entries = list_all(client, "agent_credits", json!({ "action": "statement" })).await?;
        let after = client.result("agent_credits", &ask).await?;
        if balance == after {
            return check_statement(client, &balance, &entries, findings);
        }
        balance = after;
        tokio::time::sleep(PAUSE).await;
    }
    anyhow::bail!("the account of {} keeps changing", client.agent_id)
}

fn check_statement(
    client: &Client,
    balance: &Value,
    entries: &[Value],
    findings: &mut Findings,
) -> Result<()> {
    let own = format!("agent:{}", client.agent_id);
    let (mut available, mut held) = (0, 0);
    for entry in entries.iter().rev() {
        let side = |name: &str| text(entry, name).to_owned();
        let (debit, credit) = (side("/debit_account"), side("/credit_account"));
        let amount = entry["amount"].as_i64().context("no amount")?;
        ensure!(amount > 0 && debit != credit, "{entry}");
        available += amount * (i64::from(credit == own) - i64::from(debit == own));
        let is_hold = |name: &str| i64::from(name.starts_with("hold:"));
        held += amount * (is_hold(&credit) - is_hold(&debit));
        if available < 0 || held < 0 || entry["balance_after"].as_i64() != Some(available) {
            findings.faults.push(format!("{own} has {available} and {held} after {entry}"));
        }
        findings.transactions.insert(side("/txn_id"), Transaction { debit, credit, amount });
    }
    let reported = [&balance["available"], &balance["held"]].map(Value::as_i64);
    if reported != [Some(available), Some(held)] {
        findings
            .faults
            .push(format!("{own} has {available} and {held}, but the balance is {balance}"));
    }
    Ok(())
}

/// Checks that no meetings overlap.
async fn check_calendar(client: &mut Client, findings: &mut Findings) -> Result<()> {
    let events = list_all(client, "calendar", json!({ "action": "list_events" })).await?;
    let mut meetings: Vec<&Value> =
        events.iter().filter(|event| event["kind"] == "meeting").collect();
    meetings.sort_by_key(|meeting| text(meeting, "/start"));
    for pair in meetings.windows(2) {
        if let [first, second] = pair
            && text(first, "/end") > text(second, "/start")
        {
            findings.faults.push(format!("{} at once: {first} {second}", client.owner_id));
        }
    }
    findings.meetings.extend(meetings.iter().map(|meeting| text(meeting, "/id").to_owned()));
    Ok(())
}

/// Checks that messages are numbered without gaps.
async fn check_conversations(client: &mut Client, findings: &mut Findings) -> Result<()> {
    for thread in list_all(client, "conversations", json!({ "action": "list" })).await? {
        let id = text(&thread, "/thread_id");
        let body = json!({ "action": "messages", "thread_id": id, "after": 0 });
        let messages = list_all(client, "conversations", body).await?;
        let numbers = messages.iter().map(|message| message["seq"].as_u64());
        let last = messages.len() as u64;
        let has_gaps = numbers.ne((1..=last).map(Some));
        if has_gaps || thread["last_seq"].as_u64() != Some(last) {
            findings.faults.push(format!("{id} has gaps: {last} messages, {}", thread["last_seq"]));
        }
        findings.threads.insert(id.to_owned(), last);
    }
    Ok(())
}
