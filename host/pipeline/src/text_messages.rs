//! The admission of text messages: where they may go, how many a client's address may cause, and what they
//! may cost in a day.
//!
//! The counts are in the database, so that all nodes share them and a restart forgets nothing. A call adds to them
//! by its commit: a call that commits nothing counts nothing. Calls that run at once may
//! exceed a limit by one message each.

use crate::{host::Host, rates::address_text};
use portolan_sandbox::{MessageRefusal, MessageRequest};
use portolan_store::{Count, DbError, OutboxCommand, StateError, Unit};
use portolan_vocabulary::{Digest, Keyring, Timestamp};
use serde_json::json;
use std::net::IpAddr;

const DAY_MS: u64 = 24 * 3_600_000;

/// The costs of text messages in a day, and their budgets, in millionths of the operator's currency.
#[derive(Debug, Clone, Copy)]
pub struct MessageCosts {
    pub known: u64,
    pub unknown: u64,
    pub budget: u64,
    pub budget_of_unknown: u64,
    pub default_price: u64,
}

impl MessageCosts {
    /// Returns whether people without an account get no messages for the rest of the day, at the default
    /// price.
    pub fn is_exhausted(&self) -> bool {
        let is_spent = |spent: u64, budget| spent.saturating_add(self.default_price) > budget;
        is_spent(self.unknown, self.budget_of_unknown)
            || is_spent(self.known.saturating_add(self.unknown), self.budget)
    }
}

impl Host {
    /// Counts a text message in a unit of work, or returns why it is not sent.
    pub(super) async fn admit_text_message(
        &self,
        unit: &mut Unit,
        request: MessageRequest<'_>,
    ) -> Result<Result<(), MessageRefusal>, StateError> {
        let admitted = self.admit_message(unit, request).await.map_err(StateError::Db)?;
        let outcome = match admitted {
            Ok(_) => "admitted",
            Err((reason, _)) => reason,
        };
        self.meters.count_text_message(request.is_known, outcome);
        Ok(match admitted {
            Ok(counts) => {
                counts.into_iter().for_each(|count| unit.add_command(OutboxCommand::Count(count)));
                Ok(())
            }
            Err((_, refusal)) => Err(refusal),
        })
    }

    /// Returns what is to be counted, or why the message is not sent, with a name for the metrics.
    async fn admit_message(
        &self,
        unit: &Unit,
        request: MessageRequest<'_>,
    ) -> Result<Result<Vec<Count>, (&'static str, MessageRefusal)>, DbError> {
        let now = request.now;
        let Some(price) = self.message_limits.settings.price(request.to) else {
            return Ok(Err(("destination", MessageRefusal::Destination)));
        };
        let mut counts = Vec::new();
        if let (Some((interval, most)), Some(address)) =
            (self.message_limits.by_address, request.address)
        {
            let name = address_counter(self.store.keys(), address);
            match unit.count_use(name, (interval, most)).await? {
                Ok(count) => counts.push(count),
                Err(open_at) => {
                    let wait_s = seconds_until(open_at.as_millis(), now);
                    return Ok(Err(("address", MessageRefusal::Limit { wait_s })));
                }
            }
        }
        let day = now.as_millis() / DAY_MS;
        let costs = self.costs_with(day, |name| async move { unit.counter(&name).await }).await?;
        let total = costs.known.saturating_add(costs.unknown).saturating_add(price);
        let is_exhausted = total > costs.budget
            || (!request.is_known && costs.unknown.saturating_add(price) > costs.budget_of_unknown);
        self.message_limits.watch_budget(day, total, costs.budget, is_exhausted);
        if is_exhausted {
            let wait_s = seconds_until((day + 1) * DAY_MS, now);
            return Ok(Err(("budget", MessageRefusal::Limit { wait_s })));
        }
        let expires_at = Timestamp::from_millis((day + 2) * DAY_MS);
        let name = cost_counter(request.is_known, day);
        counts.push(Count { name, floor: 0, step: price, expires_at });
        Ok(Ok(counts))
    }

    /// Returns the costs of this day, for the operator.
    pub async fn message_costs(&self) -> Result<MessageCosts, DbError> {
        let day = self.clock.now().as_millis() / DAY_MS;
        self.costs_with(day, |name| async move { self.store.counter(&name).await }).await
    }

    async fn costs_with<F: Future<Output = Result<u64, DbError>>>(
        &self,
        day: u64,
        counter: impl Fn(String) -> F,
    ) -> Result<MessageCosts, DbError> {
        let (budget, budget_of_unknown) = self.message_limits.settings.budgets();
        let known = counter(cost_counter(true, day)).await?;
        let unknown = counter(cost_counter(false, day)).await?;
        let default_price = self.message_limits.settings.default_price();
        Ok(MessageCosts { known, unknown, budget, budget_of_unknown, default_price })
    }
}

fn cost_counter(is_known: bool, day: u64) -> String {
    format!("text messages/{}/{day}", if is_known { "known" } else { "unknown" })
}

/// Returns the name of the counter of a client's network, which does not show the address.
fn address_counter(keys: &Keyring, address: IpAddr) -> String {
    let key = keys.derive(Keyring::ADDRESSES).first().copied().unwrap_or_default();
    let digest = Digest::of_value(&json!([key, address_text(address)])).hex();
    format!("text messages/address/{digest}")
}

fn seconds_until(at: u64, now: Timestamp) -> u32 {
    u32::try_from(at.saturating_sub(now.as_millis()).div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}
