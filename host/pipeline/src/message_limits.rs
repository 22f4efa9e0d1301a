//! The limits of text messages, and the warnings about the budget.

use portolan_outgoing::sms::TextMessageSettings;
use portolan_vocabulary::Limits;
use std::sync::atomic::{AtomicU64, Ordering};

const HOUR_MS: u64 = 3_600_000;
/// The part of the budget from which the operator is warned.
const WARNING_PERCENT: u64 = 80;

/// The limits of text messages.
#[derive(Debug)]
pub struct MessageLimits {
    pub(super) settings: TextMessageSettings,
    /// The time after which a client's address may cause one more message, and how many at once; `None`
    /// if rate limits are off.
    pub(super) by_address: Option<(u64, u64)>,
    /// The days in which this node has logged the warning, and that the budget is spent.
    warned_on: AtomicU64,
    exhausted_on: AtomicU64,
}

impl MessageLimits {
    /// `limits` is `None` if rate limits are off.
    pub fn new(settings: TextMessageSettings, limits: Option<&Limits>) -> Self {
        let by_address = limits.map(|limits| {
            let most = limits.messages_per_hour.clamp(1, HOUR_MS);
            (HOUR_MS / most, most)
        });
        let (warned_on, exhausted_on) = Default::default();
        Self { settings, by_address, warned_on, exhausted_on }
    }

    /// Logs once a day on this node that the budget is nearly spent, and that it is.
    pub(super) fn watch_budget(&self, day: u64, total: u64, budget: u64, is_exhausted: bool) {
        let is_first = |logged_on: &AtomicU64| logged_on.swap(day, Ordering::Relaxed) != day;
        if is_exhausted {
            if is_first(&self.exhausted_on) {
                tracing::error!(
                    "the day's budget of text messages is spent: people without an account get none until midnight UTC; see text_messages.daily_budget"
                );
            }
        } else if u128::from(total) * 100 >= u128::from(budget) * u128::from(WARNING_PERCENT)
            && is_first(&self.warned_on)
        {
            tracing::warn!(
                "{WARNING_PERCENT} % of the day's budget of text messages are spent; see text_messages.daily_budget"
            );
        }
    }
}
