//! The person's decision about a request for access, and the answer to it: a redirect to a client, or a page if the
//! device or agent is elsewhere.

use crate::{
    App,
    oauth::{
        browser::{see_other, stop_page},
        forms::failed,
    },
};
use axum::{http::StatusCode, response::Response};
use portolan_identity::{IdentityError, OAuthError, Session, SignInPurpose};
use portolan_vocabulary::{Failure, Timestamp};
use std::net::IpAddr;
use url::Url;

/// The origin of a request, as the page shows it.
pub(super) enum Origin<'a> {
    /// The person is sent back to an application.
    Redirect { host: String, is_loopback: bool },
    /// A device that shows this code.
    Device { user_code: &'a str },
    /// An agent that has the address of a claim page; `asked_at` is when it got the address.
    Agent { asked_at: Timestamp },
    /// The person themselves.
    Account,
}

impl<'a> Origin<'a> {
    pub(super) fn of(purpose: &'a SignInPurpose) -> Self {
        match purpose {
            SignInPurpose::Authorization(request) => {
                let host = display_host(&request.redirect_uri);
                let is_loopback = ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str());
                Self::Redirect { host, is_loopback }
            }
            SignInPurpose::Device(request) => Self::Device { user_code: &request.user_code },
            SignInPurpose::Claim(request) => Self::Agent { asked_at: request.asked_at },
            SignInPurpose::Account(_) => Self::Account,
        }
    }
}

/// Returns the target of the redirect as the page shows it: the host, for an application's own scheme the
/// scheme and the host, or the whole address if it has no host.
fn display_host(redirect_uri: &str) -> String {
    let url = Url::parse(redirect_uri).ok();
    let parts = url.as_ref().and_then(|url| Some((url.scheme(), url.host_str()?)));
    match parts {
        Some(("http" | "https", host)) => host.to_owned(),
        Some((scheme, host)) => format!("{scheme}://{host}"),
        None => redirect_uri.to_owned(),
    }
}

/// Lets the requester act for the person of a session.
pub(super) async fn allow(
    app: &App,
    purpose: &SignInPurpose,
    session: &Session,
    address: Option<IpAddr>,
) -> Result<Response, Failure> {
    // Each consent stores a code or an agent, for which tokens are requested.
    app.host.rates.count_token_request(address)?;
    let identity = &app.host.identity;
    let allowed = match purpose {
        SignInPurpose::Authorization(request) => {
            let code = identity.issue_code(request, session).await?;
            let (redirect_uri, state) = (&request.redirect_uri, request.state.as_deref());
            return Ok(redirect_to_client(app, redirect_uri, state, Ok(&code)));
        }
        SignInPurpose::Device(request) => {
            let text = "Go back to the device: it goes on by itself in a moment. You can revoke what it may do at any time on the page /account.";
            identity
                .allow_device(request, session)
                .await
                .map(|()| ("The device is connected", text))
        }
        SignInPurpose::Claim(request) => {
            let text = "The agent acts for you from now on. Go back to it: it can repeat what it wanted to do. You can revoke it at any time on the page /account.";
            identity.claim_by_link(request, session).await.map(|()| ("The agent is yours", text))
        }
        SignInPurpose::Account(request) => return Ok(see_other(&request.account_page)),
    };
    match allowed {
        Ok((title, text)) => Ok(stop_page(StatusCode::OK, title, text)),
        Err(error) if is_over(&error) => Ok(failed(&error.into())),
        Err(error) => Err(error.into()),
    }
}

/// Refuses the requester. `owner_id` is the person who had signed in.
pub(super) async fn refuse(
    app: &App,
    purpose: &SignInPurpose,
    owner_id: Option<String>,
    address: Option<IpAddr>,
) -> Response {
    let identity = &app.host.identity;
    match purpose {
        SignInPurpose::Authorization(request) => {
            let error = OAuthError::new("access_denied", "the person has refused");
            identity.record_refused_consent(&request.client_id, owner_id, address);
            let (redirect_uri, state) = (&request.redirect_uri, request.state.as_deref());
            redirect_to_client(app, redirect_uri, state, Err(&error))
        }
        SignInPurpose::Device(request) => {
            refused(app, address, identity.refuse_device(request, owner_id, address)).await
        }
        SignInPurpose::Claim(request) => {
            refused(app, address, identity.refuse_claim(request, owner_id, address)).await
        }
        SignInPurpose::Account(request) => see_other(&request.account_page),
    }
}

/// Carries out a refusal, which reads the store, within the rate of its address.
async fn refused(
    app: &App,
    address: Option<IpAddr>,
    refusal: impl Future<Output = Result<(), IdentityError>>,
) -> Response {
    if let Err(failure) = app.host.rates.count_page_view(address) {
        return failed(&failure);
    }
    match refusal.await {
        Ok(()) => stop_page(
            StatusCode::OK,
            "Refused",
            "Nothing acts for you that did not before. You can close this page.",
        ),
        Err(error) => failed(&error.into()),
    }
}

/// Returns whether nobody can decide about the request any more.
fn is_over(error: &IdentityError) -> bool {
    matches!(
        error,
        IdentityError::UserCodeUnknown
            | IdentityError::ClaimLinkExpired
            | IdentityError::AgentClaimed
    )
}

/// Returns the page for a sign-in that cannot go on.
pub(super) fn expired_page() -> Response {
    let text = "It was open for too long, or the sign-in started in another browser. Go back to the application and start again.";
    stop_page(StatusCode::BAD_REQUEST, "This page has expired", text)
}

/// Redirects to the client with a code or an error, and with the issuer (RFC 9207).
pub(super) fn redirect_to_client(
    app: &App,
    redirect_uri: &str,
    state: Option<&str>,
    answer: Result<&str, &OAuthError>,
) -> Response {
    let Ok(mut url) = Url::parse(redirect_uri) else { return expired_page() };
    {
        let mut query = url.query_pairs_mut();
        match answer {
            Ok(code) => query.append_pair("code", code),
            Err(error) => query
                .append_pair("error", error.code)
                .append_pair("error_description", &error.description),
        };
        if let Some(state) = state {
            query.append_pair("state", state);
        }
        query.append_pair("iss", app.host.identity.issuer());
    }
    see_other(url.as_str())
}
