//! Double-entry bookkeeping: every transaction takes credits from one account and gives them to
//! another. Every balance is the sum of the account's transactions. The balances of agents are also
//! stored, so that no transaction makes one negative. The system's accounts have no document, so
//! that transactions of different people do not conflict on them.

use crate::types::{Account, Kind};
use std::fmt;

/// One of the two accounts of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Side {
    /// The source of welcome credits and top-ups.
    Grants,
    /// The source of redeemed codes.
    Promo,
    /// The account that receives captured holds.
    Spent,
    Agent(String),
    Hold(String),
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grants => formatter.write_str("grants"),
            Self::Promo => formatter.write_str("promo"),
            Self::Spent => formatter.write_str("spent"),
            Self::Agent(agent_id) => write!(formatter, "agent:{agent_id}"),
            Self::Hold(hold_id) => write!(formatter, "hold:{hold_id}"),
        }
    }
}

/// A movement of credits from one account to another.
#[derive(Debug, Clone)]
pub(crate) struct Transaction {
    pub(crate) kind: Kind,
    pub(crate) debit: Side,
    pub(crate) credit: Side,
    pub(crate) amount: u64,
    /// The `ref` of the hold.
    pub(crate) reference: Option<String>,
}

impl Transaction {
    pub(crate) fn grant(kind: Kind, from: Side, agent_id: &str, amount: u64) -> Self {
        let credit = Side::Agent(agent_id.to_owned());
        Self { kind, debit: from, credit, amount, reference: None }
    }

    /// Whether the transaction belongs in the statement of this agent. A capture names no agent; it
    /// is posted only in the purse of the hold's agent.
    pub(crate) fn concerns(&self, agent_id: &str) -> bool {
        let own = Side::Agent(agent_id.to_owned());
        self.debit == own || self.credit == own || self.kind == Kind::Capture
    }
}

impl Account {
    /// Applies the transaction to this account; returns `None` if the account has too few credits.
    pub(crate) fn book(&mut self, transaction: &Transaction) -> Option<()> {
        let Transaction { debit, credit, amount, .. } = transaction;
        let own = Side::Agent(self.agent_id.clone());
        if *debit == own {
            self.available = self.available.checked_sub(*amount)?;
        }
        if *credit == own {
            self.available += amount;
        }
        match (debit, credit) {
            (Side::Hold(_), _) => self.held = self.held.checked_sub(*amount)?,
            (_, Side::Hold(_)) => self.held += amount,
            _ => {}
        }
        match (debit, credit) {
            (Side::Agent(_), Side::Hold(_)) | (Side::Hold(_), Side::Agent(_)) => {}
            (_, credit) if *credit == own => self.lifetime_in += amount,
            _ => self.lifetime_out += amount,
        }
        self.entries += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(debit: Side, credit: Side, amount: u64) -> Transaction {
        Transaction { kind: Kind::Transfer, debit, credit, amount, reference: None }
    }

    #[test]
    fn an_account_is_the_sum_of_its_transactions() {
        let (own, other) = (Side::Agent("agt_1".into()), Side::Agent("agt_2".into()));
        let hold = || Side::Hold("hold_1".into());
        let mut account = Account { agent_id: "agt_1".into(), ..Account::default() };
        let steps = [
            (transaction(Side::Grants, own.clone(), 20), (20, 0, 20, 0)),
            (transaction(own.clone(), hold(), 5), (15, 5, 20, 0)),
            (transaction(hold(), Side::Spent, 2), (15, 3, 20, 2)),
            (transaction(hold(), own.clone(), 3), (18, 0, 20, 2)),
            (transaction(own.clone(), other.clone(), 8), (10, 0, 20, 10)),
            (transaction(other, own.clone(), 1), (11, 0, 21, 10)),
        ];
        for (transaction, expected) in steps {
            account.book(&transaction).unwrap();
            let Account { available, held, lifetime_in, lifetime_out, .. } = account;
            assert_eq!((available, held, lifetime_in, lifetime_out), expected);
            assert_eq!(available + held, lifetime_in - lifetime_out);
        }
        assert_eq!(account.entries, 6);
        assert_eq!(account.book(&transaction(own, Side::Spent, 12)), None);
        assert_eq!(account.book(&transaction(hold(), Side::Spent, 1)), None);
    }
}
