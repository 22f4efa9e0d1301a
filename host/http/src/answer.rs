//! The response to a call: its answer or failure, and what is left of the caller's rates.

use crate::refusal::Refusal;
use axum::{
    http::{
        HeaderMap, HeaderValue,
        header::{CONTENT_TYPE, HeaderName},
    },
    response::{IntoResponse as _, Response},
};
use portolan_pipeline::{Answer, CallOutcome, RateLimitState};
use portolan_vocabulary::{ErrorCode, Failure};
use std::fmt::Write as _;

/// The room for the body of most answers, which would otherwise grow several times while it is written.
const BODY_BYTES: usize = 1 << 10;
/// The room for the list of most callers' rates.
const RATES_BYTES: usize = 64;

const POLICY_HEADER: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT_HEADER: HeaderName = HeaderName::from_static("ratelimit");

/// Returns the response to a call that has ended.
pub(super) fn call_response(CallOutcome { outcome, rate_limits }: CallOutcome) -> Response {
    let mut response = match outcome {
        Ok(answer) => answer_response(&answer),
        Err(failure) => Refusal(failure).into_response(),
    };
    set_rate_limits(response.headers_mut(), &rate_limits);
    response
}

fn answer_response(answer: &Answer) -> Response {
    let mut body = Vec::with_capacity(BODY_BYTES);
    match serde_json::to_writer(&mut body, answer) {
        Ok(()) => {
            ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "an answer cannot be written");
            Refusal(Failure::new(ErrorCode::InternalError)).into_response()
        }
    }
}

/// Sets the headers that say what is left of the caller's rates
/// (draft-ietf-httpapi-ratelimit-headers).
pub(super) fn set_rate_limits(headers: &mut HeaderMap, rate_limits: &[RateLimitState]) {
    if rate_limits.is_empty() {
        return;
    }
    let (mut policies, mut limits) =
        (String::with_capacity(RATES_BYTES), String::with_capacity(RATES_BYTES));
    for RateLimitState { policy, limit, window_s, remaining, reset_s } in rate_limits {
        let separator = if limits.is_empty() { "" } else { ", " };
        let _infallible = write!(policies, "{separator}\"{policy}\";q={limit};w={window_s}");
        let _infallible = write!(limits, "{separator}\"{policy}\";r={remaining};t={reset_s}");
    }
    for (name, list) in [(POLICY_HEADER, policies), (LIMIT_HEADER, limits)] {
        if let Ok(value) = HeaderValue::try_from(list) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_list_every_rate() {
        let rate = |policy, limit| RateLimitState {
            policy,
            limit,
            window_s: 60,
            remaining: 7,
            reset_s: 3,
        };
        let mut headers = HeaderMap::new();
        set_rate_limits(&mut headers, &[]);
        assert!(headers.is_empty());
        set_rate_limits(&mut headers, &[rate("calls", 10), rate("writes", 20)]);
        assert_eq!(headers[POLICY_HEADER], "\"calls\";q=10;w=60, \"writes\";q=20;w=60");
        assert_eq!(headers[LIMIT_HEADER], "\"calls\";r=7;t=3, \"writes\";r=7;t=3");
    }
}
