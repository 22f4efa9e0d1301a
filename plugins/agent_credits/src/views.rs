//! Outputs.

use crate::{journal::Transaction, rules, states::*, types::*};
use portolan_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Balance {
    #[serde(flatten)]
    pub(crate) account: AccountView,
    /// When the next top-up is due (RFC 3339); null while none is due.
    pub(crate) next_grant_at: Option<String>,
    /// The sums over all agents of the person.
    pub(crate) person: Sum,
    /// The accounts of the agents that the person has or had, at most 100.
    pub(crate) accounts: Vec<Share>,
}

#[output]
pub(crate) struct Sum {
    pub(crate) available: u64,
    pub(crate) held: u64,
}

#[output]
pub(crate) struct Share {
    pub(crate) agent_id: String,
    pub(crate) state: AccountState,
    pub(crate) available: u64,
    pub(crate) held: u64,
}

#[output(Default)]
pub(crate) struct AccountView {
    pub(crate) agent_id: String,
    pub(crate) state: AccountState,
    /// The version, which increases with every change; 0 before the first.
    pub(crate) version: u64,
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The credits that can be spent.
    pub(crate) available: u64,
    /// The held credits: they will be spent or refunded.
    pub(crate) held: u64,
    /// All credits ever received, without refunds.
    pub(crate) lifetime_in: u64,
    /// All credits ever spent or given away.
    pub(crate) lifetime_out: u64,
}

#[output]
pub(crate) struct AccountViews {
    pub(crate) items: Vec<AccountView>,
}

/// A transaction, as it appears in the statement of one account.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Line {
    pub(crate) txn_id: String,
    /// When it was made (RFC 3339).
    pub(crate) time: String,
    pub(crate) kind: Kind,
    /// The account that gives the credits: `agent:…`, `hold:…`, `grants` or `promo`.
    pub(crate) debit_account: String,
    /// The account that receives them: `agent:…`, `hold:…` or `spent`.
    pub(crate) credit_account: String,
    pub(crate) amount: u64,
    /// The purpose of the hold.
    #[serde(rename = "ref")]
    pub(crate) reference: Option<String>,
    /// The available credits after the transaction.
    pub(crate) balance_after: u64,
    /// The held credits after the transaction.
    pub(crate) held_after: u64,
}

#[output]
pub(crate) struct HoldView {
    pub(crate) hold_id: String,
    pub(crate) agent_id: String,
    pub(crate) state: HoldState,
    pub(crate) version: u64,
    /// Always empty, because other capabilities end holds.
    pub(crate) allowed_actions: Vec<&'static str>,
    pub(crate) amount: u64,
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    /// When it expires (RFC 3339).
    pub(crate) expires_at: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Issued {
    /// The code. It cannot be read again.
    pub(crate) code: String,
    pub(crate) amount: u64,
    pub(crate) uses: u32,
    /// When it expires (RFC 3339).
    pub(crate) expires_at: Option<String>,
}

#[output]
pub(crate) struct PriceList {
    /// The prices. Everything else is free; reading always is.
    pub(crate) items: Vec<PriceItem>,
    pub(crate) grants: Grants,
}

#[output]
pub(crate) struct Grants {
    /// The credits that a person gets once, with the first agent they claim.
    pub(crate) welcome: u64,
    /// The balance that a top-up reaches, in all accounts of the person together. A top-up is due
    /// one day after the balance fell below this.
    pub(crate) top_up_to: u64,
    /// The maximum balance of a person after a top-up, held credits included.
    pub(crate) top_up_ceiling: u64,
}

#[output]
pub(crate) struct Quote {
    pub(crate) capability: String,
    pub(crate) action: String,
    /// The price in credits; 0 if the call is free.
    pub(crate) cost: u32,
    pub(crate) why: &'static str,
    /// When the price is refunded.
    pub(crate) refund: &'static str,
}

impl AccountView {
    pub(crate) fn new(stored: &Stored<Account>) -> Self {
        let account = &stored.value;
        view!(account => Self {
            agent_id, state, available, held, lifetime_in, lifetime_out;
            version: stored.revision,
            allowed_actions: ACCOUNT.allowed(account.state),
        })
    }
}

impl From<Account> for Share {
    fn from(account: Account) -> Self {
        view!(move account => Self { agent_id, state, available, held; })
    }
}

impl HoldView {
    pub(crate) fn new(stored: Stored<Hold>) -> Self {
        let hold = stored.value;
        view!(move hold => Self {
            agent_id, state, amount, reference;
            hold_id: stored.id,
            version: stored.revision,
            allowed_actions: HOLD.allowed(hold.state),
            expires_at: rfc3339(hold.expires_at),
        })
    }
}

impl Entry {
    /// Describes a transaction that was just applied to an account.
    pub(crate) fn new(
        account: &Stored<Account>,
        transaction: &Transaction,
        txn_id: &str,
        at: u64,
    ) -> Self {
        view!(transaction => Self {
            kind, amount, reference;
            account: account.id.clone(),
            number: account.value.entries,
            txn_id: txn_id.to_owned(),
            at,
            debit: transaction.debit.to_string(),
            credit: transaction.credit.to_string(),
            balance_after: account.value.available,
            held_after: account.value.held,
        })
    }
}

impl From<Entry> for Line {
    fn from(entry: Entry) -> Self {
        view!(move entry => Self {
            txn_id, kind, amount, reference, balance_after, held_after;
            time: rfc3339(entry.at),
            debit_account: entry.debit,
            credit_account: entry.credit,
        })
    }
}

impl Person {
    /// Returns when the next top-up is due; `None` if it would give nothing.
    pub(crate) fn grant_due(&self) -> Option<u64> {
        self.next_grant_at.filter(|_| rules::top_up(self.available, self.held) > 0)
    }
}
