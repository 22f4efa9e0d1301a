//! `POST /oauth/token`, with one function for each grant; `POST /oauth/revoke` (RFC 7009) and
//! `POST /oauth/introspect` (RFC 7662).

use crate::{
    App,
    address::ClientAddress,
    oauth::client::{ClientError, Form, authenticate, form, invalid_request, no_store},
};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts as _, Request, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use portolan_identity::{Client, CodeRedemption, DEVICE_CODE, GRANTS, IssuedToken, OAuthError};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn token(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ClientError> {
    let form = form(&headers, body)?;
    let grant = form.get("grant_type").ok_or_else(|| invalid_request("grant_type is missing"))?;
    if !GRANTS.contains(&grant.as_str()) {
        let text = format!("grant_type must be one of {}", GRANTS.join(", "));
        return Err(OAuthError::new("unsupported_grant_type", text).into());
    }
    let client = authenticate(&app, address, &headers, &form).await?;
    let token = match grant.as_str() {
        "authorization_code" => authorization_code(&app, &client, &form).await?,
        "refresh_token" => refresh_token(&app, &client, &form).await?,
        DEVICE_CODE => device_code(&app, &client, &form).await?,
        _ => client_credentials(&app, &client, &form).await?,
    };
    Ok(success(&token))
}

fn field<'f>(form: &'f Form, name: &str) -> Option<&'f str> {
    form.get(name).map(String::as_str)
}

async fn client_credentials(
    app: &App,
    client: &Client,
    form: &Form,
) -> Result<IssuedToken, ClientError> {
    let (scope, resource) = (field(form, "scope"), field(form, "resource"));
    Ok(app.host.identity.issue_for_client_credentials(client, scope, resource).await?)
}

async fn authorization_code(
    app: &App,
    client: &Client,
    form: &Form,
) -> Result<IssuedToken, ClientError> {
    let redemption = CodeRedemption {
        code: field(form, "code").ok_or_else(|| invalid_request("code is missing"))?,
        code_verifier: field(form, "code_verifier"),
        redirect_uri: field(form, "redirect_uri"),
        resource: field(form, "resource"),
    };
    Ok(app.host.identity.redeem_code(client, redemption).await?)
}

async fn device_code(app: &App, client: &Client, form: &Form) -> Result<IssuedToken, ClientError> {
    let code = field(form, "device_code");
    let code = code.ok_or_else(|| invalid_request("device_code is missing"))?;
    Ok(app.host.identity.redeem_device_code(client, code).await?)
}

async fn refresh_token(
    app: &App,
    client: &Client,
    form: &Form,
) -> Result<IssuedToken, ClientError> {
    let token = field(form, "refresh_token");
    let token = token.ok_or_else(|| invalid_request("refresh_token is missing"))?;
    let (scope, resource) = (field(form, "scope"), field(form, "resource"));
    Ok(app.host.identity.refresh(client, token, scope, resource).await?)
}

fn success(token: &IssuedToken) -> Response {
    let mut body = json!({
        "access_token": token.access_token,
        "token_type": "Bearer",
        "expires_in": token.expires_in,
        "scope": token.scope,
    });
    if let (Some(refresh), Some(fields)) = (&token.refresh_token, body.as_object_mut()) {
        fields.insert("refresh_token".to_owned(), json!(refresh));
    }
    no_store(StatusCode::OK, body)
}

/// The authenticated client of a request about a token, and the token.
pub(crate) struct TokenRequest {
    client: Client,
    token: String,
}

impl FromRequest<Arc<App>> for TokenRequest {
    type Rejection = ClientError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ClientError> {
        let (mut parts, body) = request.into_parts();
        let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(&mut parts, app).await;
        let headers = parts.headers.clone();
        let body = Bytes::from_request(Request::from_parts(parts, body), app).await;
        let mut form = form(&headers, body)?;
        let client = authenticate(app, address, &headers, &form).await?;
        let token = form.remove("token").ok_or_else(|| invalid_request("token is missing"))?;
        Ok(Self { client, token })
    }
}

pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    TokenRequest { client, token }: TokenRequest,
) -> Result<Response, ClientError> {
    app.host.identity.revoke_token(&client, &token).await?;
    Ok(no_store(StatusCode::OK, json!({})))
}

pub(crate) async fn introspect(
    State(app): State<Arc<App>>,
    TokenRequest { client, token }: TokenRequest,
) -> Result<Response, ClientError> {
    Ok(no_store(StatusCode::OK, app.host.identity.introspect_token(&client, &token).await?))
}
