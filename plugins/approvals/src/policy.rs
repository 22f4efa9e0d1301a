//! The policy: shown, set by the person, and limited further by an agent.

use crate::{documents::*, refusals::*, types::*};
use portolan_sdk::{contract::approvals, prelude::*};

const CREDITS: &str = "credits";
const UTC: &str = "UTC";

pub(crate) fn show(call: &Call) -> Result<Answer<PolicyView>> {
    let Some(owner_id) = call.owner_id() else {
        return Ok(Answer::new(view(Policy::default())).next(Next::claim()));
    };
    Ok(Answer::new(view(POLICIES.get_or_default(owner_id)?.value)))
}

pub(crate) fn set(call: &Call, input: SetPolicy) -> Result<PolicyView> {
    change(call, |policy| {
        let SetPolicy { alone, ask_first_contact, max_amount, currency, .. } = input;
        let is_all = Category::ALL.iter().all(|category| alone.contains(category));
        policy.alone = (!is_all).then_some(alone);
        policy.ask_first_contact = ask_first_contact;
        policy.max_amount = max_amount;
        let currency = currency.map(String::from).unwrap_or_else(|| CREDITS.to_owned());
        policy.currency = max_amount.map(|_| currency);
        let time_zone = input.time_zone.map(String::from).unwrap_or_else(|| UTC.to_owned());
        policy.hours = match (input.from, input.to) {
            (Some(from), Some(to)) => Some(Hours { from, to, time_zone }),
            (None, None) => None,
            (Some(_), None) => return Err(with_other("/to", "a time, because there is a from")),
            (None, Some(_)) => return Err(with_other("/from", "a time, because there is a to")),
        };
        policy.expires_after_hours = input.expires_after_hours;
        Ok(())
    })
}

pub(crate) fn end(call: &Call) -> Result<PolicyView> {
    change(call, |policy| {
        *policy = Policy::default();
        Ok(())
    })
}

pub(crate) fn set_counterpart(call: &Call, input: &SetCounterpart) -> Result<PolicyView> {
    change(call, |policy| {
        let id: &str = &input.counterpart_id;
        policy.always_ask.retain(|other| other != id);
        policy.known.retain(|other| other != id);
        match input.rule {
            Rule::AlwaysAsk => add(&mut policy.always_ask, id),
            Rule::Known => add(&mut policy.known, id),
            Rule::Usual => Ok(()),
        }
    })
}

pub(crate) fn tighten(call: &Call, input: Tighten) -> Result<PolicyView> {
    change(call, |policy| {
        if let Some(alone) = input.alone {
            let before = policy.alone.take().unwrap_or_else(|| Category::ALL.to_vec());
            policy.alone =
                Some(before.into_iter().filter(|category| alone.contains(category)).collect());
        }
        policy.ask_first_contact |= input.ask_first_contact.unwrap_or_default();
        if let Some(amount) = input.max_amount {
            policy.max_amount = Some(policy.max_amount.map_or(amount, |most| most.min(amount)));
            policy.currency.get_or_insert_with(|| CREDITS.to_owned());
        }
        match &input.always_ask {
            Some(id) => add(&mut policy.always_ask, id),
            None => Ok(()),
        }
    })
}

/// Changes the policy of the calling person, and tells it to the host, which refuses one that permits more unless the
/// person makes the call.
fn change(call: &Call, change: impl FnOnce(&mut Policy) -> Result<()>) -> Result<PolicyView> {
    let owner_id = call.require_owner()?;
    let mut policy = POLICIES.get_or_default(owner_id)?;
    change(&mut policy.value)?;
    approvals::set_policy(for_host(&policy.value).as_deref())?;
    POLICIES.save(&mut policy)?;
    Ok(view(policy.value))
}

fn add(ids: &mut Vec<String>, id: &str) -> Result<()> {
    if ids.iter().any(|other| other == id) {
        return Ok(());
    }
    if ids.len() >= MOST_COUNTERPARTS {
        let message = "Too many people and things have this rule. Remove one first.";
        let limit = Limit::reached("counterparts", MOST_COUNTERPARTS as u64);
        return Err(quota(message, &limit, Next::action(CAPABILITY, "get_policy")).into());
    }
    ids.push(id.to_owned());
    Ok(())
}

fn with_other(pointer: &str, expected: &str) -> ApprovalsError {
    Refusal::validation(pointer, "dependentRequired", expected).into()
}

/// Returns the policy as the host takes it; `None` if it limits nothing.
pub(crate) fn for_host(policy: &Policy) -> Option<String> {
    if !is_limited(policy) {
        return None;
    }
    let most = policy.max_amount.map(|amount| {
        json!({ "amount": amount, "currency": policy.currency.as_deref().unwrap_or(CREDITS) })
    });
    let hours = policy.hours.as_ref().map(|hours| {
        json!({
            "from": minutes(&hours.from), "to": minutes(&hours.to), "time_zone": hours.time_zone,
        })
    });
    let policy = json!({
        "alone": policy.alone, "ask_first_contact": policy.ask_first_contact, "most": most,
        "hours": hours, "always_ask": policy.always_ask, "known": policy.known,
    });
    Some(policy.to_string())
}

/// Returns whether a policy lets anything wait.
fn is_limited(policy: &Policy) -> bool {
    policy.alone.is_some()
        || policy.ask_first_contact
        || policy.max_amount.is_some()
        || policy.hours.is_some()
        || !policy.always_ask.is_empty()
}

/// Returns a time of the day such as `08:30` in minutes after midnight.
fn minutes(time: &str) -> u32 {
    let (hours, minutes) = time.split_once(':').unwrap_or_default();
    hours.parse().unwrap_or(0) * 60 + minutes.parse::<u32>().unwrap_or(0)
}

fn view(policy: Policy) -> PolicyView {
    let limited = is_limited(&policy);
    let (from, to, time_zone) = match policy.hours {
        Some(Hours { from, to, time_zone }) => (Some(from), Some(to), Some(time_zone)),
        None => (None, None, None),
    };
    PolicyView {
        limited,
        alone: policy.alone.unwrap_or_else(|| Category::ALL.to_vec()),
        ask_first_contact: policy.ask_first_contact,
        max_amount: policy.max_amount,
        currency: policy.currency,
        from,
        to,
        time_zone,
        expires_after_hours: policy.expires_after_hours.unwrap_or(WAITS_HOURS),
        always_ask: policy.always_ask,
        known: policy.known,
    }
}
