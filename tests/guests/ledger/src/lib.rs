//! The capability `ledger`: accounts and transfers in double entry, and actions that trap or refuse
//! on purpose after they have written.

mod transfer;
mod types;

use portolan_sdk::{
    documents::{Direction, any_of},
    prelude::*,
    timers,
};
use transfer::transfer;
use types::*;

/// The account that may be overdrawn, from which all money comes.
const BANK: &str = "bank";

const ACCOUNTS: Collection<Account> = Collection::new("accounts").nobody();

const TRANSFERS: Collection<Transfer> = Collection::new("transfers")
    .index("from", &["from"])
    .index("to", &["to"])
    .index("at_ms", &["at_ms"])
    .nobody();

const ADD_INTERNAL: Invocation<NewNote, Noted> = Invocation::new("notes", "add_internal");
const GUESS: Invocation<Guess, ()> = Invocation::new("notes", "guess");

/// The numbers of attempts and of runs of timers, by name.
const COUNTERS: Collection<Counter> = Collection::new("counters").nobody();

#[derive(Refusals)]
enum LedgerError {
    /// There is an account of this id already.
    #[refusal(conflict)]
    AccountExists,
    /// There is no such account.
    #[refusal(not_found)]
    AccountNotFound,
    /// The account holds less than this.
    #[refusal(conflict, conflict_detail = Funds { kind: "funds", balance })]
    InsufficientFunds { balance: i64 },
    /// Refused on purpose, after writing.
    #[refusal(conflict)]
    ChangedMind,
    /// Refused, and counted.
    #[refusal(forbidden, keep_writes)]
    AttemptCounted,
    /// There is a note of this id already.
    #[expect(
        dead_code,
        reason = "the capability notes refuses with it, and `pay_through` passes it on"
    )]
    #[refusal(conflict)]
    NoteExists,
    #[refusal(transparent)]
    Common(Refusal),
}

struct Ledger;

/// Keeps accounts.
///
/// Every transfer takes from one account what it gives to another, so all balances add up to zero:
/// only `withdraw_if_joint` takes out what goes nowhere.
#[capability(
    id = "ledger",
    title = "Ledger",
    tags = ["test"],
    invokes = [ADD_INTERNAL, GUESS],
    collections = [ACCOUNTS, TRANSFERS, COUNTERS]
)]
impl Ledger {
    /// Open an account.
    #[action(access = write, example = AccountId { account: "ada".into() })]
    fn open(_call: &Call, input: AccountId) -> Result<Balance, LedgerError> {
        let account = Account { balance: 0 };
        let revision = ACCOUNTS
            .put(&input.account, &account, Expect::Absent)
            .on_conflict(LedgerError::AccountExists)?;
        Ok(Balance { account: input.account, balance: 0, revision })
    }

    /// Transfer an amount.
    #[action(access = write, emits = [TRANSFERRED])]
    fn transfer(call: &Call, input: Order) -> Result<Receipt, LedgerError> {
        transfer(call, input)
    }

    /// Read the balance of an account.
    #[action(access = read, idempotent)]
    fn balance(_call: &Call, input: AccountId) -> Result<Balance, LedgerError> {
        Ok(ACCOUNTS.get(&input.account)?.ok_or(LedgerError::AccountNotFound)?.into())
    }

    /// Read several balances with one request.
    #[action(access = read, idempotent)]
    fn balances(_call: &Call, input: AccountIds) -> Result<Balances, LedgerError> {
        let found = ACCOUNTS.get_many(input.accounts)?;
        Ok(Balances { items: found.into_iter().flatten().map(Balance::from).collect() })
    }

    /// Read several balances with one request each.
    #[action(access = read, idempotent)]
    fn balances_one_by_one(_call: &Call, input: AccountIds) -> Result<Balances, LedgerError> {
        let mut items = Vec::new();
        for account in &input.accounts {
            items.extend(ACCOUNTS.get(account)?.map(Balance::from));
        }
        Ok(Balances { items })
    }

    /// Withdraw from one account if two hold enough together.
    #[action(access = write)]
    fn withdraw_if_joint(_call: &Call, input: JointOrder) -> Result<Balance, LedgerError> {
        let mut account = ACCOUNTS.get(&input.account)?.ok_or(LedgerError::AccountNotFound)?;
        let other = ACCOUNTS.get(&input.other)?.ok_or(LedgerError::AccountNotFound)?;
        let balance = account.value.balance + other.value.balance;
        if balance < input.amount {
            return Err(LedgerError::InsufficientFunds { balance });
        }
        account.value.balance -= input.amount;
        ACCOUNTS.save(&mut account)?;
        Ok(account.into())
    }

    /// List the transfers of an account, newest first.
    #[action(access = read, idempotent)]
    fn statement(_call: &Call, input: StatementOrder) -> Result<Statement, LedgerError> {
        let account = input.account;
        let query = Query::new()
            .filter(any_of([field("from").eq(&account), field("to").eq(&account)]))
            .order_by("at_ms", Direction::Descending)
            .limit(input.limit)
            .cursor(input.cursor);
        let page = TRANSFERS.find(query)?;
        Ok(Statement {
            items: page.hits.into_iter().map(|hit| hit.document.into()).collect(),
            next: page.next,
        })
    }

    /// Add up all accounts.
    #[action(access = read, idempotent)]
    fn totals(_call: &Call, input: PageSize) -> Result<Totals, LedgerError> {
        let mut totals = Totals { accounts: 0, sum: 0, counted: ACCOUNTS.count(None)? };
        for hit in ACCOUNTS.all(Query::new().limit(input.page_size)) {
            totals.accounts += 1;
            totals.sum += hit?.document.value.balance;
        }
        Ok(totals)
    }

    /// Transfer an amount, then crash.
    #[action(access = write, emits = [TRANSFERRED])]
    #[expect(clippy::panic, reason = "it is what this action is for")]
    fn transfer_then_trap(call: &Call, input: Order) -> Result<Receipt, LedgerError> {
        let receipt = transfer(call, input)?;
        panic!("after the transfer {}", receipt.transfer)
    }

    /// Transfer an amount, then refuse.
    #[action(access = write, emits = [TRANSFERRED])]
    fn transfer_then_refuse(call: &Call, input: Order) -> Result<Receipt, LedgerError> {
        transfer(call, input)?;
        Err(LedgerError::ChangedMind)
    }

    /// Refuse, but count how often.
    #[action(access = write)]
    fn refuse_but_keep(_call: &Call, input: CounterName) -> Result<Counter, LedgerError> {
        count(&input.name)?;
        Err(LedgerError::AttemptCounted)
    }

    /// Transfer an amount and note it in the capability `notes`.
    #[action(access = write, emits = [TRANSFERRED])]
    fn pay_through(call: &Call, input: NotedOrder) -> Result<NotedReceipt, LedgerError> {
        let title = format!("{} to {}", input.order.amount, input.order.to);
        let receipt = transfer(call, input.order)?;
        let note = NewNote { id: input.note, title, body: receipt.transfer.clone() };
        let noted = ADD_INTERNAL.call(&note)?;
        if input.then_refuse {
            return Err(LedgerError::ChangedMind);
        }
        Ok(NotedReceipt { receipt, note: noted })
    }

    /// Transfer an amount if another capability lets a word pass, which it never does.
    #[action(access = write, emits = [TRANSFERRED])]
    fn pay_with_guess(call: &Call, input: GuessedOrder) -> Result<Receipt, LedgerError> {
        let receipt = transfer(call, input.order)?;
        GUESS.call(&Guess { word: input.word })?;
        Ok(receipt)
    }

    /// Transfer an amount whether or not another capability lets a word pass.
    #[action(access = write, emits = [TRANSFERRED])]
    fn pay_despite_guess(call: &Call, input: GuessedOrder) -> Result<Receipt, LedgerError> {
        let _refused = GUESS.call(&Guess { word: input.word });
        transfer(call, input.order)
    }

    /// Transfer an amount at a later time.
    #[action(access = write)]
    fn schedule(call: &Call, input: Schedule) -> Result<Scheduled, LedgerError> {
        let at_ms = call.now() + input.after_ms;
        let due = Due { timer: input.timer, order: input.order };
        timers::set(&due.timer, at_ms, "due", &due)?;
        Ok(Scheduled { at_ms })
    }

    /// Take a later transfer back.
    #[action(access = write, idempotent)]
    fn unschedule(_call: &Call, input: Timer) -> Result<Unscheduled, LedgerError> {
        Ok(Unscheduled { was_set: timers::cancel(&input.timer)? })
    }

    /// Run a later transfer.
    #[action(access = internal, emits = [TRANSFERRED])]
    fn due(call: &Call, input: Due) -> Result<Receipt, LedgerError> {
        count(&input.timer)?;
        transfer(call, input.order)
    }

    /// Read how often something was attempted, or a timer ran.
    #[action(access = read, idempotent)]
    fn counter(_call: &Call, input: CounterName) -> Result<Counter, LedgerError> {
        let counter = COUNTERS.get(&input.name)?;
        Ok(counter.map(|counter| counter.value).unwrap_or_default())
    }
}

fn count(name: &str) -> Result<(), HostError> {
    let count = COUNTERS.get(name)?.map_or(0, |counter| counter.value.count);
    COUNTERS.put(name, &Counter { count: count + 1 }, Expect::Any).map(drop)
}
