//! The response to a call: its answer or failure, and what is left of the caller's rates.

use crate::refusal::Refusal;
use axum::{
    Json,
    http::{HeaderMap, HeaderValue},
    response::{IntoResponse as _, Response},
};
use portolan_pipeline::{CallOutcome, RateLimitState};

/// Returns the response to a call that has ended.
pub(super) fn call_response(CallOutcome { outcome, rate_limits }: CallOutcome) -> Response {
    let mut response = match outcome {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => Refusal(failure).into_response(),
    };
    set_rate_limits(response.headers_mut(), &rate_limits);
    response
}

/// Sets the headers that say what is left of the caller's rates
/// (draft-ietf-httpapi-ratelimit-headers).
pub(super) fn set_rate_limits(headers: &mut HeaderMap, rate_limits: &[RateLimitState]) {
    let policy =
        |rate: &RateLimitState| format!("\"{}\";q={};w={}", rate.policy, rate.limit, rate.window_s);
    let state = |rate: &RateLimitState| {
        format!("\"{}\";r={};t={}", rate.policy, rate.remaining, rate.reset_s)
    };
    let mut set = |name: &'static str, items: Vec<String>| {
        if let Ok(value) = HeaderValue::from_str(&items.join(", "))
            && !items.is_empty()
        {
            headers.insert(name, value);
        }
    };
    set("ratelimit-policy", rate_limits.iter().map(policy).collect());
    set("ratelimit", rate_limits.iter().map(state).collect());
}
