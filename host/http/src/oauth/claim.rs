//! `/claim/{link}`: the page on which a person claims an agent, so that the agent never sees a code.
//!
//! Opening it changes nothing. The person who opens it signs in, sees which agent would be theirs, and confirms it
//! with a form of this browser: an address that somebody else has sent binds no one silently.

use crate::{
    App,
    oauth::{
        forms::{PageRequest, failed},
        sign_in::begin,
    },
};
use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::Response,
};
use portolan_identity::{IdentityError, SignInPurpose};
use std::sync::Arc;

/// Shows the first page of the sign-in for the agent, or why it cannot be claimed.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    PageRequest { cookies, .. }: PageRequest,
    link: Result<Path<String>, PathRejection>,
) -> Response {
    let request = match link {
        Ok(Path(link)) => app.host.identity.find_claim_request(&link).await,
        Err(_) => Err(IdentityError::ClaimLinkExpired),
    };
    match request {
        Ok(request) => begin(&app, cookies, SignInPurpose::Claim(request)).await,
        Err(error) => failed(&error.into()),
    }
}
