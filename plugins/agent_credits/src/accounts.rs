//! The reads and changes that people and the operator make on accounts.

use crate::journal::{Side, Transaction};
use crate::purse::{Purse, account, last_owner, welcome};
use crate::{draft::Draft, rules, states::*, types::*, views::*};
use portolan_sdk::prelude::*;

/// The maximum number of a person's accounts that a balance lists.
const MOST_LISTED: usize = 100;

/// The part of the output of `owners list_agents` that is read.
#[derive(Deserialize)]
pub(crate) struct Agents {
    items: Vec<Agent>,
}

#[derive(Deserialize)]
struct Agent {
    agent_id: String,
}

/// Returns the balance of an account and of its person. A person without a record yet is shown with
/// the welcome credits; nothing is written.
pub(crate) fn balance(call: &Call, owner_id: &str, agent_id: Option<String>) -> Result<Balance> {
    let mut account = load_account(call, owner_id, agent_id)?;
    let mut person = Draft::read(&PEOPLE, owner_id, Person::default)?;
    if person.is_new() {
        let account = &mut account.stored.value;
        let welcome = welcome(&account.agent_id);
        account.book(&welcome);
        person.stored.value.available = rules::WELCOME;
    }
    let person = person.stored.value;
    let others = Query::new().filter(field("owner_id").eq(owner_id)).limit(100);
    let mut accounts = Vec::new();
    for hit in ACCOUNTS.all(others).take(MOST_LISTED) {
        accounts.push(Share::from(hit?.document.value));
    }
    if accounts.is_empty() {
        accounts.push(Share::from(account.stored.value.clone()));
    }
    Ok(Balance {
        account: AccountView::new(&account.stored),
        next_grant_at: person.grant_due().map(rfc3339),
        person: Sum { available: person.available, held: person.held },
        accounts,
    })
}

/// Returns the statement, newest first. Transactions added while it is read appear before the pages
/// already read, not among them.
pub(crate) fn statement(call: &Call, owner_id: &str, input: StatementInput) -> Result<Items<Line>> {
    let since = input.since.as_deref().map(|since| crate::codes::parse_instant("/since", since));
    let account = load_account(call, owner_id, input.agent_id)?.stored.id;
    let since = since.transpose()?.map(|since| field("at").gte(since));
    let filter = field("account").eq(account).and(since);
    let query = Query::new().filter(filter).last("number").page(input.page);
    Ok(Items::of(ENTRIES.find(query)?, |entry| Line::from(entry.value)))
}

/// Transfers credits from one agent of a person to another.
pub(crate) fn transfer(call: &Call, input: TransferInput) -> Result<Line> {
    let owner_id = call.require_owner()?;
    let TransferInput { to_agent_id, from_agent_id, amount, expected_version } = input;
    let from = load_account(call, owner_id, from_agent_id)?;
    let agent_id = from.stored.value.agent_id.clone();
    if agent_id == to_agent_id {
        let expected = "an agent other than the one that gives";
        return Err(Refusal::validation("/to_agent_id", "another_agent", expected).into());
    }
    check_version(&from.stored, expected_version)?;
    let to = load_account(call, owner_id, Some(to_agent_id.clone()))?;
    let mut purse = Purse::open(call, owner_id, &agent_id)?;
    purse.other = Some(to);
    purse.ensure_permitted("transfer")?;
    let line = purse.post(&Transaction {
        kind: Kind::Transfer,
        debit: Side::Agent(agent_id),
        credit: Side::Agent(to_agent_id),
        amount,
        reference: None,
    })?;
    purse.close()?;
    Ok(line)
}

/// Opens an account for an agent that a person has claimed.
pub(crate) fn record_claim(call: &Call, owner_id: &str, agent_id: &str) -> Result<()> {
    let mut purse = Purse::open(call, owner_id, agent_id)?;
    purse.own.stored.value.claimed_at = call.now();
    purse.close()
}

/// Gives a person the top-up that is due, if one is.
pub(crate) fn top_up(call: &Call, owner_id: &str) -> Result<()> {
    let Some(person) = PEOPLE.get(owner_id)? else { return Ok(()) };
    if person.value.next_grant_at.is_none_or(|at| at > call.now()) {
        return Ok(());
    }
    let agent_id = person.value.agent_id;
    let mut purse = Purse::open(call, owner_id, &agent_id)?;
    let person = &mut purse.person.stored.value;
    person.next_grant_at = None;
    let amount = rules::top_up(person.available, person.held);
    if amount > 0 {
        purse.grant(&Transaction::grant(Kind::TopUp, Side::Grants, &agent_id, amount))?;
    }
    purse.close()
}

/// Freezes or unfreezes the accounts of an agent, for all its owners.
pub(crate) fn change_state(agent_id: &str, action: &str) -> Result<AccountViews> {
    let mut items = Vec::new();
    for hit in ACCOUNTS.all(Query::new().filter(field("agent_id").eq(agent_id))) {
        let mut account = hit?.document;
        let before = account.value.state;
        account.value.state = ACCOUNT.step(&account.id, before, action)?;
        if account.value.state != before {
            ACCOUNTS.save(&mut account)?;
        }
        items.push(AccountView::new(&account));
    }
    if items.is_empty() {
        return Err(missing());
    }
    Ok(AccountViews { items })
}

/// Refuses to change an account whose version is not the expected one.
pub(crate) fn check_version(
    account: &Stored<Account>,
    expected: Option<Version>,
) -> Result<(), Refusal> {
    let current = || AccountView::new(account);
    ensure_version(expected, account.revision, current, read_balance())
}

/// Returns the account of the calling agent, or of another agent of the same person: one that
/// already has an account with the person, or that the person has claimed. Refuses agents of other
/// people and unknown agents.
fn load_account(call: &Call, owner_id: &str, agent_id: Option<String>) -> Result<Draft<Account>> {
    let calling = &call.require_agent()?.agent_id;
    let agent_id = agent_id.unwrap_or_else(|| calling.clone());
    let account = account(call, owner_id, &agent_id)?;
    if agent_id == *calling || !account.is_new() || is_claimed(&agent_id)? {
        return Ok(account);
    }
    Err(match last_owner(&agent_id)? {
        Some(_) => CreditsError::refused(Refusal::common(
            ErrorCode::NotPermitted,
            "Credits stay with one person: this agent belongs to another.",
        )),
        None => missing(),
    })
}

pub(crate) const LIST_AGENTS: Invocation<portolan_sdk::NoInput, Agents> =
    Invocation::new("owners", "list_agents");

fn is_claimed(agent_id: &str) -> Result<bool, Refusal> {
    let agents = LIST_AGENTS.call(&portolan_sdk::NoInput {})?;
    Ok(agents.items.iter().any(|agent| agent.agent_id == agent_id))
}

fn missing() -> CreditsError {
    CreditsError::missing("There is no such agent.")
}
