//! The operator whose browser sends a request, and the proof that a form is from a page of this browser.

use super::{failure, state::Console};
use crate::{address::ClientAddress, oauth::see_other};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
    http::{HeaderMap, request::Parts},
    response::Response,
};
use axum_extra::extract::{
    CookieJar,
    cookie::{Cookie, SameSite},
};
use portolan_identity::IdentityError;
use portolan_vocabulary::{Failure, Operator};
use std::{net::IpAddr, sync::Arc};

/// The cookie of the console. Its path keeps it from the other routes, which take tokens only.
const COOKIE: &str = "portolan_console";
const COOKIE_PATH: &str = "/console";
pub(super) const SIGN_IN: &str = "/console/sign-in";
const FORM_TOKEN: &str = "form_token";

/// An operator who has signed in.
pub(super) struct Visitor {
    pub(super) operator: Operator,
    pub(super) cookie: String,
}

impl Visitor {
    /// Returns the operator whose session has this cookie. The session ends with the token that it began with.
    pub(super) async fn of_cookie(
        console: &Console,
        cookie: &str,
    ) -> Result<Option<Self>, Failure> {
        let (app, now) = (&console.app, console.app.host.clock.now());
        let Some(token) = console.sessions.token(cookie, now) else { return Ok(None) };
        let operator = match app.operator.token.operator_of(&token) {
            Some(operator) => Ok(operator),
            None => app.host.identity.operator_of_token(&token).await,
        };
        match operator {
            Ok(operator) => Ok(Some(Self { operator, cookie: cookie.to_owned() })),
            Err(IdentityError::TokenInvalid | IdentityError::OperatorExpired(_)) => {
                console.sessions.end(cookie);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl FromRequestParts<Arc<Console>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        console: &Arc<Console>,
    ) -> Result<Self, Response> {
        match Self::of_cookie(console, &cookie_of(&parts.headers).unwrap_or_default()).await {
            Ok(Some(visitor)) => Ok(visitor),
            Ok(None) => Err(see_other(SIGN_IN)),
            Err(refused) => Err(failure::page_of(&refused)),
        }
    }
}

/// A form that a page of this browser has submitted.
pub(super) struct ConsoleForm {
    pub(super) cookie: String,
    /// The address that the form comes from.
    pub(super) address: Option<IpAddr>,
    fields: Vec<(String, String)>,
}

impl FromRequest<Arc<Console>> for ConsoleForm {
    type Rejection = Response;

    async fn from_request(request: Request, console: &Arc<Console>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let cookie = cookie_of(&parts.headers).unwrap_or_default();
        let Ok(ClientAddress(address)) =
            ClientAddress::from_request_parts(&mut parts, &console.app).await;
        let request = Request::from_parts(parts, body);
        let body = Bytes::from_request(request, console).await.map_err(|_| failure::expired())?;
        let fields = serde_urlencoded::from_bytes(&body).map_err(|_| failure::expired())?;
        let form = Self { cookie, address, fields };
        let identity = &console.app.host.identity;
        let is_own =
            !form.cookie.is_empty() && identity.is_form_token(form.field(FORM_TOKEN), &form.cookie);
        if is_own { Ok(form) } else { Err(failure::expired()) }
    }
}

impl ConsoleForm {
    /// Makes a form of fields, for tests.
    #[cfg(test)]
    pub(super) fn of(fields: &[(&str, &str)]) -> Self {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { cookie: String::new(), address: None, fields: fields.collect() }
    }

    /// Returns the value of a field, or an empty text.
    pub(super) fn field(&self, name: &str) -> &str {
        let named = self.fields.iter().find(|(field, _)| field == name);
        named.map_or("", |(_, value)| value.trim())
    }
}

/// Returns the cookie of the console, if the request has it.
pub(super) fn cookie_of(headers: &HeaderMap) -> Option<String> {
    CookieJar::from_headers(headers).get(COOKIE).map(|cookie| cookie.value().to_owned())
}

/// Makes the cookie of the console, which the browser drops when it is closed. Scripts cannot read it, and the
/// browser sends it only for pages of the console itself; if they are reached by https, by https only.
pub(super) fn cookie(value: String, is_secure: bool) -> Cookie<'static> {
    Cookie::build((COOKIE, value))
        .path(COOKIE_PATH)
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(is_secure)
        .build()
}
