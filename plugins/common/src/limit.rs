//! What is told where a limit is reached, or passed.

use crate::{time::seconds, window::Window};
use portolan_sdk::prelude::*;

/// The conflict of a refusal because of a limit.
#[derive(Debug, Default, Serialize)]
pub struct Limit {
    kind: &'static str,
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_s: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_s: Option<u32>,
}

impl Limit {
    /// There are as many as there may be.
    pub fn reached(name: &'static str, limit: u64) -> Self {
        Self { remaining: Some(0), ..Self::bound(name, limit) }
    }

    /// There were as many as there may be within a time; `wait` milliseconds more, and there are not.
    pub fn within(name: &'static str, window: &Window, wait: u64) -> Self {
        let limit = u64::try_from(window.most).unwrap_or(u64::MAX);
        let (window_s, retry_after_s) = (Some(seconds(window.within)), Some(seconds(wait)));
        Self { window_s, retry_after_s, ..Self::reached(name, limit) }
    }

    /// More than this is not given.
    pub fn bound(name: &'static str, limit: u64) -> Self {
        Self { limit: Some(limit), ..Self::named(name) }
    }

    /// The time in milliseconds is over.
    pub fn passed(name: &'static str, within: u64) -> Self {
        Self { window_s: Some(seconds(within)), ..Self::named(name) }
    }

    fn named(name: &'static str) -> Self {
        Self { kind: "limit", name, ..Self::default() }
    }
}

/// `quota_exceeded`, with the call that helps: the same call can be made again when that time has come,
/// if time alone frees the limit.
pub fn quota(message: &str, limit: &Limit, next: Next) -> Refusal {
    let next = match limit.retry_after_s {
        Some(wait_s) => next.after_s(wait_s).then_retry(),
        None => next,
    };
    let mut refusal = Refusal::common("quota_exceeded", message);
    refusal.conflict = Some(Box::new(portolan_sdk::to_value(limit)));
    refusal.next = Some(Box::new(next));
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DAY;
    use serde_json::json;

    #[test]
    fn a_limit_tells_what_applies_to_it() {
        let day = Window { most: 20, within: DAY };
        for (limit, told) in [
            (
                Limit::within("a_day", &day, 1_001),
                json!({
                    "kind": "limit", "name": "a_day", "limit": 20, "remaining": 0,
                    "window_s": 86_400, "retry_after_s": 2,
                }),
            ),
            (
                Limit::reached("open", 3),
                json!({ "kind": "limit", "name": "open", "limit": 3, "remaining": 0 }),
            ),
            (Limit::bound("days", 62), json!({ "kind": "limit", "name": "days", "limit": 62 })),
            (
                Limit::passed("edits", 900_000),
                json!({ "kind": "limit", "name": "edits", "window_s": 900 }),
            ),
        ] {
            assert_eq!(serde_json::to_value(limit).unwrap(), told);
        }
    }
}
