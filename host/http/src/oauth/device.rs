//! The device authorization grant (RFC 8628): the endpoint for clients, and the page on which a person enters the
//! code that a device shows.

use crate::{
    App,
    address::ClientAddress,
    oauth::{
        browser::Cookies,
        client::{ClientError, authenticate, form, no_store, parameters},
        forms::{PageRequest, failed},
        session::failure_page,
        sign_in::begin,
    },
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    body::Bytes,
    extract::{RawQuery, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use portolan_identity::{DeviceRequest, IdentityError, SignInPurpose};
use portolan_vocabulary::Failure;
use serde_json::json;
use std::{net::IpAddr, sync::Arc};

/// The path of the page that devices name to people.
const PATH: &str = "/device";

#[derive(Template)]
#[template(path = "device.html")]
struct DevicePage {
    problem: Option<String>,
}

/// Answers a client that has no browser with the codes of a new request (RFC 8628, section 3.1).
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ClientError> {
    let form = form(&headers, body)?;
    let client = authenticate(&app, address, &headers, &form).await?;
    let field = |name: &str| form.get(name).map(String::as_str);
    let (scope, resource) = (field("scope"), field("resource"));
    let started = app.host.identity.start_device_authorization(&client, scope, resource).await?;
    let uri = format!("{}{PATH}", app.public_url);
    let body = json!({
        "device_code": started.device_code,
        "user_code": started.user_code,
        "verification_uri": uri,
        "verification_uri_complete": format!("{uri}?user_code={}", started.user_code),
        "expires_in": started.expires_in,
        "interval": started.interval,
    });
    Ok(no_store(StatusCode::OK, body))
}

/// Shows the form for a code, or the first page of the sign-in for the device that shows it. Nothing is changed.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    PageRequest { cookies, address, .. }: PageRequest,
    RawQuery(query): RawQuery,
) -> Response {
    let query = parameters(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    let Some(user_code) = query.get("user_code") else {
        return enter_code(cookies, StatusCode::OK, None);
    };
    match find_request(&app, user_code, address).await {
        Ok(request) => begin(&app, cookies, SignInPurpose::Device(request)).await,
        Err(error @ IdentityError::Db(_)) => failure_page(&error),
        Err(error) => {
            let failure = Failure::from(error);
            match StatusCode::from_u16(failure.kind.http_status()) {
                Ok(status) if status.is_client_error() => {
                    enter_code(cookies, status, Some(failure.message.into_owned()))
                }
                _ => failed(&failure),
            }
        }
    }
}

fn enter_code(cookies: Cookies, status: StatusCode, problem: Option<String>) -> Response {
    cookies.add_to(page(status, &DevicePage { problem }, FormTargets::ThisHost))
}

/// Finds the request of a device. Wrong codes are counted for their address, its network and in all (RFC 8628,
/// section 5.1).
async fn find_request(
    app: &App,
    user_code: &str,
    address: Option<IpAddr>,
) -> Result<DeviceRequest, IdentityError> {
    app.host.rates.ensure_user_codes(address).map_err(IdentityError::slow_down)?;
    let found = app.host.identity.find_device_request(user_code, address).await;
    if matches!(found, Err(IdentityError::UserCodeUnknown)) {
        app.host.rates.count_wrong_user_code(address);
    }
    found
}
