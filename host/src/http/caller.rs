//! The caller of a request, as an argument that a handler cannot forget to check.

use crate::{
    http::{App, answer::Refusal},
    identity::IdentityError,
    vocabulary::AgentCaller,
};
use axum::{
    extract::FromRequestParts,
    http::{header::AUTHORIZATION, request::Parts},
};
use std::sync::Arc;

/// The agent behind the request's bearer token, which is taken from the header and nowhere else.
#[derive(Debug)]
pub(super) struct Authenticated(pub(super) AgentCaller);

impl FromRequestParts<Arc<App>> for Authenticated {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let mut headers = parts.headers.get_all(AUTHORIZATION).iter();
        let header = headers.next().ok_or(IdentityError::NoToken)?;
        if headers.next().is_some() {
            return Err(IdentityError::TokenInvalid.into());
        }
        let header = header.to_str().map_err(|_| IdentityError::TokenInvalid)?;
        let (scheme, token) = header.split_once(' ').ok_or(IdentityError::TokenInvalid)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(IdentityError::NoToken.into());
        }
        Ok(Self(app.host.identity.authenticate(token.trim()).await?))
    }
}
