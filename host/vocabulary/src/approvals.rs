//! The approval policy of a person, and the calls that wait for the person's decision.

use crate::{Access, Digest, OWN, QuietHours, Timestamp, is_category, is_time_zone, person_ids};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum number of ids in a list of a policy.
const IDS: usize = 100;
const ID_BYTES: usize = 128;
const CURRENCY_BYTES: usize = 20;
const MINUTES_OF_A_DAY: u16 = 24 * 60;
/// The number of hexadecimal digits of a digest under which an id is kept.
const ID_DIGITS: usize = 20;
/// The currency of amounts whose action names none.
const CREDITS: &str = "credits";

/// The consequence of an action, as its component declares it. Paths are dotted names in the action's input; where
/// they lead to lists, all elements are meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consequence {
    pub category: String,
    /// The paths of the ids of the people and things that it is about.
    #[serde(default)]
    pub counterpart: Vec<String>,
    /// Whether it can reach people with whom the person has had nothing to do.
    #[serde(default)]
    pub first_contact: bool,
    #[serde(default)]
    pub amount: Option<String>,
    /// Credits, if there is none.
    #[serde(default)]
    pub currency: Option<String>,
}

/// The writes that a person's agents make alone. Every other one waits for the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalPolicy {
    /// The categories in which agents act alone; `None` for all.
    #[serde(default)]
    pub alone: Option<Vec<String>>,
    /// Whether what can reach strangers waits.
    #[serde(default)]
    pub ask_first_contact: bool,
    /// The most that agents spend alone in one call, with the nested calls that it makes.
    #[serde(default)]
    pub most: Option<Amount>,
    /// The hours of the day in which agents act alone.
    #[serde(default)]
    pub hours: Option<QuietHours>,
    /// The ids about which every write waits, as digests, so that the policy names nobody else.
    #[serde(default)]
    pub always_ask: Vec<String>,
    /// The ids with whom there is no first contact any more, as digests.
    #[serde(default)]
    pub known: Vec<String>,
}

/// An amount of money or credits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    pub amount: f64,
    pub currency: String,
}

/// A sentence about what is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPolicy(pub &'static str);

/// The reason why a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The action does not say what it brings about.
    Undeclared,
    Category,
    Counterpart,
    FirstContact,
    Amount,
    Hours,
}

/// A nested call that an approved call may make: exactly this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredCall {
    pub capability: String,
    pub action: String,
    /// The publisher and the major version of the component whose action the person has seen.
    pub publisher: String,
    pub major: String,
    pub input: Value,
}

/// A call that waits, with all that is needed to make it once it is approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCall {
    pub owner_id: String,
    pub agent_id: String,
    pub client_id: String,
    pub scopes: Vec<String>,
    pub capability: String,
    pub action: String,
    pub access: Access,
    /// The publisher and the version of the component that has validated the input.
    pub publisher: String,
    pub version: String,
    pub input: Value,
    pub idempotency_key: Option<String>,
    /// The nested calls that the person sees with the call.
    pub covers: Vec<CoveredCall>,
}

/// An approved call as it waits in the database until it is made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovedCall {
    pub approval_id: String,
    pub call: HeldCall,
}

impl HeldCall {
    /// Returns the digest under which the same call of the same agent is found again, whatever its idempotency key,
    /// its version and its nested calls are.
    pub fn digest(&self) -> Digest {
        Digest::of_value(&serde_json::json!([
            self.owner_id,
            self.agent_id,
            self.capability,
            self.action,
            self.input,
        ]))
    }
}

impl Consequence {
    /// Returns the ids of the people and things that a call is about.
    pub fn counterparts<'a>(&'a self, input: &'a Value) -> impl Iterator<Item = &'a str> {
        let values = self.counterpart.iter().flat_map(|path| values(input, path));
        values.filter_map(Value::as_str)
    }

    /// Returns how much a call spends, in units of this currency. `cost` is what the action itself costs, in credits.
    /// Amounts in lists are added. `None` means that the amount or its currency is not known, or that the call spends
    /// in another currency.
    pub fn amount_in(&self, currency: &str, input: &Value, cost: u32) -> Option<f64> {
        let is_credits = currency == CREDITS;
        if cost > 0 && !is_credits {
            return None;
        }
        let cost = f64::from(cost);
        let Some(path) = &self.amount else { return Some(cost) };
        let amounts = values(input, path);
        let numbers: Option<Vec<f64>> =
            amounts.iter().map(|amount| amount.as_f64().filter(|amount| *amount >= 0.0)).collect();
        let sum: Option<f64> =
            numbers.filter(|numbers| !numbers.is_empty()).map(|all| all.iter().sum());
        let is_currency = match &self.currency {
            None => is_credits,
            Some(path) => {
                let currencies = values(input, path);
                !currencies.is_empty()
                    && currencies.iter().all(|one| one.as_str() == Some(currency))
            }
        };
        sum.filter(|_| is_currency).map(|sum| sum + cost)
    }

    /// Returns whether a call alone spends at most this much. An amount that is not known may be any.
    fn spends_within(&self, most: &Amount, input: &Value, cost: u32) -> bool {
        self.amount_in(&most.currency, input, cost).is_some_and(|amount| amount <= most.amount)
    }
}

/// Returns every text of an input, also those in lists and objects, and the names of objects' members.
fn texts<'a>(input: &'a Value, found: &mut Vec<&'a str>) {
    match input {
        Value::String(text) => found.push(text),
        Value::Array(list) => list.iter().for_each(|one| texts(one, found)),
        Value::Object(members) => {
            for (name, value) in members {
                found.push(name);
                texts(value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the values at a path of dotted names, with the elements of lists in place of lists, and null where a member
/// is missing.
fn values<'a>(input: &'a Value, path: &str) -> Vec<&'a Value> {
    let elements = |value: &'a Value| match value {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    };
    path.split('.').fold(elements(input), |found, name| {
        let member = |value: &'a Value| value.get(name).unwrap_or(&Value::Null);
        found.into_iter().map(member).flat_map(elements).collect()
    })
}

impl ApprovalPolicy {
    /// Returns the policy as it is kept, of one whose lists have ids in place of their digests.
    pub fn checked(mut self) -> Result<Self, InvalidPolicy> {
        if self.alone.iter().flatten().any(|name| !is_category(name)) {
            return Err(InvalidPolicy("`alone` must name categories of consequences"));
        }
        if let Some(most) = &self.most
            && (most.amount < 0.0 || !(1..=CURRENCY_BYTES).contains(&most.currency.len()))
        {
            return Err(InvalidPolicy("`most` must be an amount of 0 or more, with a currency"));
        }
        if let Some(QuietHours { from, to, time_zone }) = &self.hours {
            if from == to || [from, to].iter().any(|at| **at >= MINUTES_OF_A_DAY) {
                return Err(InvalidPolicy(
                    "`hours` must begin and end at different times of a day",
                ));
            }
            if !is_time_zone(time_zone) {
                return Err(InvalidPolicy("the time zone of `hours` must be an IANA name"));
            }
        }
        for ids in [&mut self.always_ask, &mut self.known] {
            if ids.len() > IDS || ids.iter().any(|id| !(1..=ID_BYTES).contains(&id.len())) {
                return Err(InvalidPolicy("a list of ids has too many, or one that is too long"));
            }
            *ids = ids.iter().map(|id| digest_of(id)).collect();
            ids.sort();
            ids.dedup();
        }
        Ok(self)
    }

    /// Returns why a write with this consequence waits, of an action that costs this many credits; `None` if the agent
    /// makes it alone.
    pub fn reason(
        &self,
        consequence: Option<&Consequence>,
        (input, cost): (&Value, u32),
        now: Timestamp,
    ) -> Option<WaitReason> {
        let Some(consequence) = consequence else { return Some(WaitReason::Undeclared) };
        let category = &consequence.category;
        if self.alone.as_ref().is_some_and(|alone| !alone.contains(category)) {
            return Some(WaitReason::Category);
        }
        let is_in = |ids: &[String], id: &str| !ids.is_empty() && ids.contains(&digest_of(id));
        if self.names_always_ask(input) {
            return Some(WaitReason::Counterpart);
        }
        if self.ask_first_contact && consequence.first_contact {
            let mut counterparts = consequence.counterparts(input).peekable();
            let is_none_named = counterparts.peek().is_none();
            if is_none_named || counterparts.any(|id| !is_in(&self.known, id)) {
                return Some(WaitReason::FirstContact);
            }
        }
        if self.most.as_ref().is_some_and(|most| !consequence.spends_within(most, input, cost)) {
            return Some(WaitReason::Amount);
        }
        let is_late = self.hours.as_ref().is_some_and(|hours| !hours.contain(now));
        // The person's own things disturb nobody at night.
        (is_late && category != OWN).then_some(WaitReason::Hours)
    }

    /// Adds ids, as digests, about which every write waits.
    pub fn keep_asking(&mut self, ids: &[String]) {
        self.always_ask.extend_from_slice(ids);
        self.always_ask.sort();
        self.always_ask.dedup();
    }

    /// Returns whether any text of an input is an id about which agents always ask, or has that of such a person in it:
    /// what a component declares may leave some out.
    fn names_always_ask(&self, input: &Value) -> bool {
        if self.always_ask.is_empty() {
            return false;
        }
        let mut found = Vec::new();
        texts(input, &mut found);
        let within = found.iter().flat_map(|text| person_ids(text));
        found.iter().copied().chain(within).any(|id| self.always_ask.contains(&digest_of(id)))
    }

    /// Returns whether agents may do nothing more than before.
    pub fn is_within(&self, before: Option<&Self>) -> bool {
        let Some(before) = before else { return true };
        let is_subset = |some: &[String], all: &[String]| some.iter().all(|one| all.contains(one));
        let categories = match (&self.alone, &before.alone) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(now), Some(before)) => is_subset(now, before),
        };
        let amounts = match (&self.most, &before.most) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(now), Some(before)) => {
                now.currency == before.currency && now.amount <= before.amount
            }
        };
        categories
            && amounts
            && (self.ask_first_contact || !before.ask_first_contact)
            && (before.hours.is_none() || self.hours == before.hours)
            && is_subset(&before.always_ask, &self.always_ask)
            && is_subset(&self.known, &before.known)
    }
}

fn digest_of(id: &str) -> String {
    let mut digits = Digest::of(id.as_bytes()).hex();
    digits.truncate(ID_DIGITS);
    digits
}

#[cfg(test)]
mod tests;
