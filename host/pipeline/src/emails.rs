//! The sending of emails, and its state for the operator.

use portolan_outgoing::email::Mailer;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sending of emails, if the operator has set a server for it.
#[derive(Debug)]
pub struct Emails {
    pub(super) mailer: Mailer,
    /// The day in which this node has logged that the budget is spent.
    exhausted_on: AtomicU64,
}

/// The state of the sending of emails, for the operator.
#[derive(Debug, Clone, Copy)]
pub struct EmailStatus {
    pub sent_today: u64,
    /// How many of them asked for a confirmation.
    pub confirmations_today: u64,
    pub per_day: u64,
    pub waiting: u64,
    /// How many of the waiting ones are due.
    pub due: u64,
    /// Whether this node leaves the server alone, because it has failed several times in a row.
    pub is_paused: bool,
}

impl EmailStatus {
    /// Returns whether no more emails are sent on this day.
    pub const fn is_exhausted(&self) -> bool {
        self.sent_today >= self.per_day
    }

    /// Returns whether no more emails that ask for a confirmation are sent on this day.
    pub fn confirms_no_more(&self) -> bool {
        self.is_exhausted() || self.confirmations_today >= confirmations_of(self.per_day)
    }
}

/// Returns how many of the emails of a day may ask for a confirmation, so that strangers who enter addresses do not
/// keep people from hearing what happens.
pub(super) fn confirmations_of(per_day: u64) -> u64 {
    (per_day / 2).max(1)
}

impl Emails {
    pub const fn new(mailer: Mailer) -> Self {
        Self { mailer, exhausted_on: AtomicU64::new(0) }
    }

    /// Logs once a day on this node that no more emails are sent on it.
    pub(super) fn log_exhausted(&self, day: u64) {
        if self.exhausted_on.swap(day, Ordering::Relaxed) != day {
            tracing::error!(
                "the day's budget of emails is spent: the others wait until midnight UTC; see email.per_day"
            );
        }
    }
}
