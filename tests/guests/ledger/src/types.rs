//! The documents, inputs and outputs of the ledger.

use portolan_sdk::{events::Event, prelude::*};

pub(crate) const TRANSFERRED: Event<Transferred> = Event::new("ledger.transferred");

#[derive(Serialize)]
pub(crate) struct Transferred {
    pub(crate) transfer: String,
    pub(crate) amount: i64,
    pub(crate) memo: String,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) balance: i64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Transfer {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) amount: i64,
    pub(crate) memo: String,
    pub(crate) at_ms: u64,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Counter {
    pub(crate) count: u64,
}

#[derive(Serialize)]
pub(crate) struct Funds {
    pub(crate) kind: &'static str,
    pub(crate) balance: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct AccountId {
    #[schemars(length(min = 1, max = 60))]
    pub(crate) account: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AccountIds {
    #[schemars(length(max = 100))]
    pub(crate) accounts: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Balance {
    pub(crate) account: String,
    pub(crate) balance: i64,
    pub(crate) revision: u64,
}

impl From<Stored<Account>> for Balance {
    fn from(account: Stored<Account>) -> Self {
        Self { account: account.id, balance: account.value.balance, revision: account.revision }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Balances {
    pub(crate) items: Vec<Balance>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    #[schemars(length(min = 1, max = 60))]
    pub(crate) from: String,
    #[schemars(length(min = 1, max = 60))]
    pub(crate) to: String,
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(crate) amount: i64,
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub(crate) memo: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Receipt {
    /// Id of the transfer.
    pub(crate) transfer: String,
    pub(crate) from_balance: i64,
    pub(crate) to_balance: i64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct JointOrder {
    /// Where the amount is taken from.
    pub(crate) account: String,
    /// The account whose balance counts as well.
    pub(crate) other: String,
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(crate) amount: i64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct StatementOrder {
    pub(crate) account: String,
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: u32,
    /// The `next` of the page before.
    pub(crate) cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Statement {
    pub(crate) items: Vec<Entry>,
    pub(crate) next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry {
    pub(crate) transfer: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) amount: i64,
    pub(crate) memo: String,
    pub(crate) at_ms: u64,
}

impl From<Stored<Transfer>> for Entry {
    fn from(stored: Stored<Transfer>) -> Self {
        let Transfer { from, to, amount, memo, at_ms } = stored.value;
        Self { transfer: stored.id, from, to, amount, memo, at_ms }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct PageSize {
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) page_size: u32,
}

fn fifty() -> u32 {
    50
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Totals {
    /// How many accounts the pages showed.
    pub(crate) accounts: u64,
    pub(crate) sum: i64,
    /// How many accounts there are.
    pub(crate) counted: u64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CounterName {
    #[schemars(length(min = 1, max = 60))]
    pub(crate) name: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct NotedOrder {
    pub(crate) order: Order,
    /// Id of the new note.
    #[schemars(length(min = 1, max = 60))]
    pub(crate) note: String,
    /// Refuse when all is done.
    #[serde(default)]
    pub(crate) then_refuse: bool,
}

/// The input of the action `add_internal` of the capability `notes`.
#[derive(Serialize)]
pub(crate) struct NewNote {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) body: String,
}

/// Its output.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Noted {
    id: String,
    revision: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct NotedReceipt {
    pub(crate) receipt: Receipt,
    pub(crate) note: Noted,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Schedule {
    #[schemars(length(min = 1, max = 60))]
    pub(crate) timer: String,
    /// Milliseconds from now.
    pub(crate) after_ms: u64,
    pub(crate) order: Order,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Scheduled {
    /// Milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Timer {
    pub(crate) timer: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Unscheduled {
    pub(crate) was_set: bool,
}

/// The data of the timer.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Due {
    pub(crate) timer: String,
    pub(crate) order: Order,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GuessedOrder {
    pub(crate) order: Order,
    pub(crate) word: String,
}

/// The input of `notes.guess`.
#[derive(Serialize)]
pub(crate) struct Guess {
    pub(crate) word: String,
}
