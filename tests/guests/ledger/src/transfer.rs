//! One transfer: two balances, one record, one event.

use crate::{
    ACCOUNTS, BANK, LedgerError, TRANSFERS,
    types::{Order, Receipt, TRANSFERRED, Transfer, Transferred},
};
use portolan_sdk::{events::Audience, prelude::*};

pub(crate) fn transfer(call: &Call, order: Order) -> Result<Receipt, LedgerError> {
    let Order { from, to, amount, memo } = order;
    if from == to {
        return Err(Refusal::validation("/to", "another_account", from).into());
    }
    let mut giver = ACCOUNTS.get(&from)?.ok_or(LedgerError::AccountNotFound)?;
    let mut taker = ACCOUNTS.get(&to)?.ok_or(LedgerError::AccountNotFound)?;
    if from != BANK && giver.value.balance < amount {
        return Err(LedgerError::InsufficientFunds { balance: giver.value.balance });
    }
    giver.value.balance -= amount;
    taker.value.balance += amount;
    ACCOUNTS.save(&mut giver)?;
    ACCOUNTS.save(&mut taker)?;

    let id = call.new_id("trf");
    let subject = format!("accounts/{from}");
    let record = Transfer { from, to, amount, memo, at_ms: call.now() };
    TRANSFERS.put(&id, &record, Expect::Absent)?;
    let event = Transferred { transfer: id.clone(), amount, memo: record.memo };
    TRANSFERRED.publish(Audience::Capabilities, subject, &event)?;
    Ok(Receipt { transfer: id, from_balance: giver.value.balance, to_balance: taker.value.balance })
}
