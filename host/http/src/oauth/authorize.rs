//! `/oauth/authorize`: a client asks a person to let it act for them (RFC 6749, section 4.1).

use crate::{
    App,
    address::ClientAddress,
    oauth::{
        browser::{Cookies, stop_page},
        client::parameters,
        consent::redirect_to_client,
        session::failure_page,
        sign_in::begin,
    },
};
use axum::{
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
};
use axum_extra::extract::CookieJar;
use portolan_identity::{AuthorizationError, SignInPurpose};
use std::sync::Arc;

/// Answers the authorization request with which a client has sent the person here.
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    jar: CookieJar,
    RawQuery(query): RawQuery,
) -> Response {
    let request = match parameters(query.unwrap_or_default().as_bytes()) {
        Ok(parameters) => {
            let needs_document = |id: &String| app.host.identity.needs_document(id);
            let needs_document = parameters.get("client_id").is_some_and(needs_document);
            if needs_document && app.host.rates.count_registration(address).is_err() {
                let text = "Too many new applications were used from your address. Wait a while and try again.";
                return stop_page(StatusCode::TOO_MANY_REQUESTS, "Not now", text);
            }
            app.host.identity.parse_authorization_request(&parameters).await
        }
        Err(error) => Err(AuthorizationError::Page(error)),
    };
    let request = match request {
        Ok(request) => request,
        Err(AuthorizationError::Page(error)) => {
            let text = format!(
                "The application sent a request that cannot be answered: {}.",
                error.description
            );
            return stop_page(StatusCode::BAD_REQUEST, "This request cannot be answered", &text);
        }
        Err(AuthorizationError::Redirect { redirect_uri, state, error }) => {
            return redirect_to_client(&app, &redirect_uri, state.as_deref(), Err(&error));
        }
        Err(AuthorizationError::Failed(error)) => return failure_page(&error),
    };
    begin(&app, Cookies::new(jar, &app), SignInPurpose::Authorization(request)).await
}
