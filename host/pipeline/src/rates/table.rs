//! The table of rates: what is counted, by whom, and how much of it is permitted.

use portolan_vocabulary::{HOUR, Limits, MINUTE};
use std::time::Duration;

/// How long the counters of a caller are kept together before they are looked up again, which shows that they are in
/// use.
pub(super) const CALLER_LIFE: Duration = MINUTE;

/// The counted quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Rate {
    AnonymousCalls,
    ClaimedCalls,
    Writes,
    /// The time that the calls of anonymous agents run.
    AnonymousRunTime,
    /// The time that the calls of a person's agents run.
    ClaimedRunTime,
    Requests,
    /// The estimated time of processors of the requests of unclaimed agents, and of requests whose agent is not known,
    /// with the computing of the calls, in microseconds.
    Work,
    /// The estimated time of processors of requests that no agent makes, in microseconds.
    PageWork,
    /// The bytes that requests add to the database, as estimated.
    StoredBytes,
    TokenRequests,
    Registrations,
    /// Wrong codes of devices.
    WrongUserCodes,
}

/// The parts of a rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The setting in `[limits]`, which refusals name.
    pub(super) name: &'static str,
    /// The name in the headers of answers (draft-ietf-httpapi-ratelimit-headers).
    pub(super) policy: &'static str,
    pub(super) period: Duration,
    pub(super) limit: fn(&Limits) -> u64,
    /// How many units are counted for one unit of the setting.
    pub(super) parts: u64,
    /// How many times the limit the caller, its address and its network have.
    pub(super) factors: Factors,
}

/// How many times a limit each kind of account has; 0 if it is not counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors {
    /// An agent, a client or an owner.
    pub(super) caller: u64,
    /// An IPv4 address, or a /64 of IPv6.
    pub(super) address: u64,
    /// A /24 of IPv4, or a /48 of IPv6.
    pub(super) network: u64,
}

impl Factors {
    /// The factors of a limit for each caller, of whom an address has several.
    const fn of_callers(address: u64) -> Self {
        Self { caller: 1, address, network: 4 * address }
    }

    /// The factors of a limit for each caller wherever it is.
    const CALLER: Self = Self { caller: 1, address: 0, network: 0 };
    /// The factors of a limit for each address.
    const ADDRESS: Self = Self { caller: 0, address: 1, network: 4 };
}

impl Rate {
    pub(super) const fn row(self) -> Row {
        match self {
            Self::AnonymousCalls => Row {
                name: "anonymous_calls_per_minute",
                policy: "default",
                period: MINUTE,
                limit: |limits| limits.anonymous_calls_per_minute,
                parts: 1,
                factors: Factors::of_callers(10),
            },
            Self::ClaimedCalls => Row {
                name: "claimed_calls_per_minute",
                policy: "default",
                period: MINUTE,
                limit: |limits| limits.claimed_calls_per_minute,
                parts: 1,
                factors: Factors::CALLER,
            },
            Self::Writes => Row {
                name: "writes_per_minute",
                policy: "writes",
                period: MINUTE,
                limit: |limits| limits.writes_per_minute,
                parts: 1,
                factors: Factors::CALLER,
            },
            Self::AnonymousRunTime => Row {
                name: "anonymous_run_ms_per_hour",
                policy: "run-time",
                period: HOUR,
                limit: |limits| limits.anonymous_run_ms_per_hour,
                parts: 1,
                // `Work` bounds an address further, with what its requests cost otherwise.
                factors: Factors::of_callers(2),
            },
            Self::ClaimedRunTime => Row {
                name: "claimed_run_ms_per_hour",
                policy: "run-time",
                period: HOUR,
                limit: |limits| limits.claimed_run_ms_per_hour,
                parts: 1,
                factors: Factors::CALLER,
            },
            Self::Requests => Row {
                name: "requests_per_minute",
                policy: "requests",
                period: MINUTE,
                limit: |limits| limits.requests_per_minute,
                parts: 1,
                factors: Factors::ADDRESS,
            },
            Self::Work => Row {
                name: "work_ms_per_hour",
                policy: "work",
                period: HOUR,
                limit: |limits| limits.work_ms_per_hour,
                parts: 1000,
                // The whole limit at once, and its refill: an address uses twice the limit in its worst hour.
                factors: Factors::ADDRESS,
            },
            // Apart from `Work`, so that no agent keeps the people at its address from their pages.
            Self::PageWork => Row {
                name: "page_work_ms_per_hour",
                policy: "page-work",
                period: HOUR,
                limit: |limits| limits.page_work_ms_per_hour,
                parts: 1000,
                factors: Factors::ADDRESS,
            },
            Self::StoredBytes => Row {
                name: "stored_bytes_per_hour",
                policy: "stored-bytes",
                period: HOUR,
                limit: |limits| limits.stored_bytes_per_hour,
                parts: 1,
                factors: Factors::ADDRESS,
            },
            Self::TokenRequests => Row {
                name: "token_requests_per_minute",
                policy: "token-requests",
                period: MINUTE,
                limit: |limits| limits.token_requests_per_minute,
                parts: 1,
                factors: Factors::of_callers(5),
            },
            Self::Registrations => Row {
                name: "registrations_per_hour",
                policy: "registrations",
                period: HOUR,
                limit: |limits| limits.registrations_per_hour,
                parts: 1,
                factors: Factors::ADDRESS,
            },
            Self::WrongUserCodes => Row {
                name: "token_requests_per_minute",
                policy: "token-requests",
                period: MINUTE,
                limit: |limits| limits.token_requests_per_minute,
                parts: 1,
                // The caller is everybody together, whose limit takes ten networks to use up.
                factors: Factors { caller: 100, address: 5, network: 10 },
            },
        }
    }
}
