//! The caller and the capability of a request, as arguments of handlers.

use crate::{App, address::ClientAddress, refusal::Refusal, work::Deferred};
use axum::{
    extract::{FromRequestParts, Path},
    http::{HeaderMap, header::AUTHORIZATION, request::Parts},
};
use portolan_identity::IdentityError;
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure};
use std::sync::Arc;

/// The agent of the request's bearer token, which is read from the header only.
#[derive(Debug)]
pub(super) struct Authenticated(pub(super) AgentCaller);

/// The token of an [`Authenticated`] request, so that it can be checked again later.
#[derive(Clone)]
pub(super) struct Token(pub(super) String);

/// The capability's id in the request's path. An id that is not UTF-8 is an unknown capability.
#[derive(Debug)]
pub(super) struct CapabilityId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for CapabilityId {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id))
            .map_err(|_| Refusal(Failure::new(ErrorCode::UnknownCapability)))
    }
}

impl FromRequestParts<Arc<App>> for Authenticated {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let (caller, _) = authenticate(app, parts, app.host.identity.audience()).await?;
        Ok(Self(caller))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Token {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Ok(Self(bearer(&parts.headers)?.to_owned()))
    }
}

/// Returns the agent of a request's bearer token for this audience, and the token. Charges the cost of the request to its
/// address, unless the agent is claimed.
pub(super) async fn authenticate<'t>(
    app: &Arc<App>,
    parts: &'t mut Parts,
    audience: &str,
) -> Result<(AgentCaller, &'t str), Refusal> {
    let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, app).await;
    let deferred = parts.extensions.remove::<Deferred>();
    let authenticated = match bearer(&parts.headers) {
        Ok(token) => {
            let caller = app.host.identity.authenticate_request(token, audience, address).await;
            caller.map(|caller| (caller, token))
        }
        Err(error) => Err(error),
    };
    let is_claimed = matches!(&authenticated, Ok((caller, _)) if caller.owner_id.is_some());
    if let (false, Some(Deferred(work))) = (is_claimed, deferred) {
        app.host.rates.charge_work(address, work)?;
    }
    Ok(authenticated?)
}

/// Returns the bearer token of the `Authorization` header. Fails with `NoToken` if there is no such
/// header or it has another scheme, and with `TokenInvalid` if there are several or it cannot be
/// parsed.
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, IdentityError> {
    let mut headers = headers.get_all(AUTHORIZATION).iter();
    let header = headers.next().ok_or(IdentityError::NoToken)?;
    if headers.next().is_some() {
        return Err(IdentityError::TokenInvalid);
    }
    let header = header.to_str().map_err(|_| IdentityError::TokenInvalid)?;
    let (scheme, token) = header.split_once(' ').ok_or(IdentityError::TokenInvalid)?;
    match scheme.eq_ignore_ascii_case("bearer") {
        true => Ok(token),
        false => Err(IdentityError::NoToken),
    }
}
