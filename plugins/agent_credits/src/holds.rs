//! Holds: credits that are reserved until they are spent or released.

use crate::journal::{Side, Transaction};
use crate::purse::{Purse, last_owner};
use crate::{states::*, types::*, views::*};
use portolan_sdk::prelude::*;

/// The `reason` in `credits.refunded` when a hold has expired.
const TIMED_OUT: &str = "timed_out";

/// Holds credits. If a hold for this reference exists already, it is returned in its current state.
pub(crate) fn hold(call: &Call, input: HoldInput) -> Result<HoldView> {
    let (owner_id, agent_id) = holder(call, input.agent_id)?;
    let mut purse = Purse::open(call, &owner_id, &agent_id)?;
    let hold = Hold {
        account: purse.own.stored.id.clone(),
        agent_id: agent_id.clone(),
        owner_id,
        reference: input.reference,
        amount: input.amount,
        state: HoldState::Held,
        expires_at: call.now() + u64::from(input.ttl_s) * 1_000,
    };
    let id = call.new_id("hold");
    match HOLDS.put(&id, &hold, Expect::Absent) {
        Ok(_revision) => {}
        Err(HostError::Duplicate(known)) => return Ok(HoldView::new(Hold::load(&known)?)),
        Err(error) => return Err(error.into()),
    }
    purse.ensure_permitted("hold")?;
    purse.post(&Transaction {
        kind: Kind::Hold,
        debit: Side::Agent(agent_id.clone()),
        credit: Side::Hold(id.clone()),
        amount: hold.amount,
        reference: Some(hold.reference.clone()),
    })?;
    purse.person.stored.value.agent_id = agent_id;
    purse.close()?;
    timers::set(&timer(&id), hold.expires_at, "expire", &HoldId { hold_id: id.clone() })?;
    Ok(HoldView::new(Hold::load(&id)?))
}

/// Spends the held credits.
pub(crate) fn capture(call: &Call, hold_id: &str) -> Result<HoldView> {
    let mut hold = Hold::load(hold_id)?;
    if let Some(mut purse) = end_hold(call, &mut hold, "capture")? {
        purse.post(&end_transaction(&hold, Kind::Capture, Side::Spent))?;
        purse.close()?;
    }
    Ok(HoldView::new(hold))
}

/// Releases the held credits.
pub(crate) fn release(call: &Call, hold_id: &str, reason: &str) -> Result<HoldView> {
    let mut hold = Hold::load(hold_id)?;
    if let Some(purse) = end_hold(call, &mut hold, "release")? {
        refund(purse, &hold, reason)?;
    }
    Ok(HoldView::new(hold))
}

/// Releases a hold if it has expired.
pub(crate) fn expire(call: &Call, hold_id: &str) -> Result<()> {
    let mut hold = Hold::load(hold_id)?;
    if hold.value.state == HoldState::Held
        && hold.value.expires_at <= call.now()
        && let Some(purse) = end_hold(call, &mut hold, "expire")?
    {
        refund(purse, &hold, TIMED_OUT)?;
    }
    Ok(())
}

fn refund(mut purse: Purse<'_>, hold: &Stored<Hold>, reason: &str) -> Result<()> {
    let agent_id = &hold.value.agent_id;
    purse.post(&end_transaction(hold, Kind::Release, Side::Agent(agent_id.clone())))?;
    purse.close()?;
    let value = &hold.value;
    let refunded = view!(value => Refunded {
        agent_id, reference, amount;
        hold_id: hold.id.clone(),
        reason: reason.to_owned(),
        balance: purse.person.stored.value.available,
    });
    let summary = "Credits that were held are released.";
    Ok(purse.notify(REFUNDED, summary, refunded, read_statement(agent_id))?)
}

/// Ends a hold and opens its person's purse; returns `None` if the hold has already ended this way.
fn end_hold<'a>(
    call: &'a Call,
    hold: &mut Stored<Hold>,
    action: &str,
) -> Result<Option<Purse<'a>>> {
    let before = hold.value.state;
    let stepped = hold.step(&HOLD, action);
    stepped.map_err(|refusal| refusal.next(read_statement(&hold.value.agent_id)))?;
    if hold.value.state == before {
        return Ok(None);
    }
    hold.save()?;
    timers::cancel(&timer(&hold.id))?;
    Ok(Some(Purse::open(call, &hold.value.owner_id, &hold.value.agent_id)?))
}

fn end_transaction(hold: &Stored<Hold>, kind: Kind, credit: Side) -> Transaction {
    let Hold { amount, reference, .. } = &hold.value;
    let debit = Side::Hold(hold.id.clone());
    Transaction { kind, debit, credit, amount: *amount, reference: Some(reference.clone()) }
}

/// Returns the person and the agent whose credits are to be held.
fn holder(call: &Call, agent_id: Option<String>) -> Result<(String, String)> {
    let calling = call.agent().map(|agent| agent.agent_id.as_str());
    match agent_id.filter(|agent_id| calling != Some(agent_id)) {
        None => Ok((call.require_owner()?.to_owned(), call.require_agent()?.agent_id.clone())),
        Some(agent_id) => {
            let missing = || CreditsError::missing("There is no such account.");
            Ok((last_owner(&agent_id)?.ok_or_else(missing)?, agent_id))
        }
    }
}

fn timer(hold_id: &str) -> String {
    format!("hold/{hold_id}")
}
