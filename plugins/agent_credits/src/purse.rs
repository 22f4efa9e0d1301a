//! The accounts of one person during one call: they are read, changed by transactions and written
//! back, and events are published.

use crate::journal::{Side, Transaction};
use crate::{draft::Draft, rules, states::*, types::*, views::*};
use portolan_sdk::prelude::*;

pub(crate) struct Purse<'a> {
    call: &'a Call,
    pub(crate) owner_id: String,
    pub(crate) person: Draft<Person>,
    pub(crate) own: Draft<Account>,
    /// The account of another agent of the person, for a transfer.
    pub(crate) other: Option<Draft<Account>>,
    granted: Vec<Granted>,
}

/// Returns the person who claimed an agent last, if the agent ever had an account.
pub(crate) fn last_owner(agent_id: &str) -> Result<Option<String>, HostError> {
    let last = Query::new().filter(field("agent_id").eq(agent_id)).last("claimed_at").limit(1);
    let found = ACCOUNTS.find(last)?.hits.into_iter().next();
    Ok(found.map(|hit| hit.document.value.owner_id))
}

/// Returns the account of an agent with its person, or a new one.
pub(crate) fn account(call: &Call, owner_id: &str, agent_id: &str) -> Result<Draft<Account>> {
    let new = || Account {
        agent_id: agent_id.to_owned(),
        owner_id: owner_id.to_owned(),
        claimed_at: call.now(),
        ..Account::default()
    };
    Ok(Draft::read(&ACCOUNTS, &format!("{agent_id}/{owner_id}"), new)?)
}

/// Returns the transaction that gives a new person their welcome credits.
pub(crate) fn welcome(agent_id: &str) -> Transaction {
    Transaction::grant(Kind::Welcome, Side::Grants, agent_id, rules::WELCOME)
}

impl<'a> Purse<'a> {
    /// Returns a person with the account of one of their agents. A new person gets the welcome
    /// credits. They get them only once, because a person has only one record.
    pub(crate) fn open(call: &'a Call, owner_id: &str, agent_id: &str) -> Result<Self> {
        let new = || Person { agent_id: agent_id.to_owned(), ..Person::default() };
        let mut purse = Self {
            call,
            owner_id: owner_id.to_owned(),
            person: Draft::read(&PEOPLE, owner_id, new)?,
            own: account(call, owner_id, agent_id)?,
            other: None,
            granted: Vec::new(),
        };
        if purse.person.is_new() {
            purse.grant(&welcome(agent_id))?;
        }
        Ok(purse)
    }

    /// Refuses an action that a frozen account does not allow.
    pub(crate) fn ensure_permitted(&self, action: &str) -> Result<()> {
        for account in [Some(&self.own), self.other.as_ref()].into_iter().flatten() {
            let (id, state) = (&account.stored.id, account.stored.value.state);
            ACCOUNT.step(id, state, action).map_err(|_refusal| CreditsError::frozen())?;
        }
        Ok(())
    }

    /// Applies a transaction and writes it to the journal. Returns it as it appears in the
    /// statement of the first account.
    pub(crate) fn post(&mut self, transaction: &Transaction) -> Result<Line> {
        let txn_id = self.call.new_id("txn");
        let person = &mut self.person.stored.value;
        let mut lines = Vec::new();
        for account in [Some(&mut self.own), self.other.as_mut()].into_iter().flatten() {
            let stored = &mut account.stored;
            if !transaction.concerns(&stored.value.agent_id) {
                continue;
            }
            let (available, held) = (stored.value.available, stored.value.held);
            stored.value.book(transaction).ok_or_else(|| {
                CreditsError::insufficient(transaction.amount, available, person.grant_due())
            })?;
            person.available = person.available + stored.value.available - available;
            person.held = person.held + stored.value.held - held;
            let entry = Entry::new(stored, transaction, &txn_id, self.call.now());
            let id = format!("{}/{:010}", stored.id, entry.number);
            ENTRIES.put(&id, &entry, Expect::Absent)?;
            lines.push(Line::from(entry));
        }
        let no_account =
            || Refusal::common(ErrorCode::InternalError, "A transaction that concerns nobody.");
        Ok(lines.into_iter().next().ok_or_else(no_account)?)
    }

    /// Applies a transaction that gives credits from a system account, and writes it to the
    /// journal. `close` then publishes an event for the person.
    pub(crate) fn grant(&mut self, transaction: &Transaction) -> Result<Line> {
        let line = self.post(transaction)?;
        self.granted.push(Granted {
            agent_id: self.own.stored.value.agent_id.clone(),
            kind: transaction.kind,
            amount: transaction.amount,
            balance: self.person.stored.value.available,
        });
        Ok(line)
    }

    /// Writes the accounts back, sets the timer of the next top-up, and publishes the events.
    pub(crate) fn close(&mut self) -> Result<()> {
        let person = &mut self.person.stored.value;
        let (is_reported, is_newly_low) = rules::low_balance(person.low_told, person.available);
        person.low_told = is_reported;
        if person.next_grant_at.is_none() && rules::top_up(person.available, person.held) > 0 {
            let at = self.call.now() + rules::TOP_UP_AFTER;
            let owner = OwnerId { owner_id: self.owner_id.clone() };
            timers::set(&format!("top_up/{}", self.owner_id), at, "top_up", &owner)?;
            person.next_grant_at = Some(at);
        }
        self.person.write(&PEOPLE)?;
        self.own.write(&ACCOUNTS)?;
        if let Some(other) = &mut self.other {
            other.write(&ACCOUNTS)?;
        }
        for granted in std::mem::take(&mut self.granted) {
            self.notify(GRANTED, "Credits came in.", granted, read_balance())?;
        }
        if is_newly_low {
            let person = &self.person.stored.value;
            let next_grant_at = person.grant_due().map(rfc3339);
            let low = Low { balance: person.available, next_grant_at };
            self.notify(LOW, "Few credits are left.", low, read_balance())?;
        }
        Ok(())
    }

    /// Publishes an event for the person. All events of a person have one subject, so they are
    /// delivered in order.
    pub(crate) fn notify<D: Serialize>(
        &self,
        event: Event<Data<D>>,
        summary: &'static str,
        facts: D,
        next: Next,
    ) -> Result<(), HostError> {
        let account = &self.own.stored;
        let resource = Resource {
            kind: "account",
            id: account.value.agent_id.clone(),
            state: account.value.state.name(),
            version: account.revision,
        };
        let data = Data::by_system(resource, summary, facts).next(next);
        let subject = format!("credits/{}", self.owner_id);
        event.publish(Audience::Owner(self.owner_id.clone()), subject, &data)
    }
}
