//! `POST /oauth/register` (RFC 7591), and the management of a registration at
//! `/oauth/register/{client_id}` (RFC 7592).

use crate::{
    App,
    address::ClientAddress,
    oauth::client::{ClientError, no_store},
};
use axum::{
    body::Bytes,
    extract::{Path, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_identity::{ClientMetadata, IdentityError, OAuthError};
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of bytes of a registration.
const MAX_BODY_BYTES: usize = 64 << 10;

pub(crate) async fn register(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ClientError> {
    let metadata = parse_metadata(&app, body)?;
    app.host.rates.count_registration(address).map_err(ClientError::rate_limited)?;
    let client = app.host.identity.register_client(metadata).await?;
    let mut answer = client_information(&app, &client.client_id, &client.metadata);
    let mut add_field = |name: &str, value: Value| {
        if let Some(fields) = answer.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    add_field("client_id_issued_at", json!(client.issued_at.as_secs()));
    add_field("registration_access_token", json!(client.registration_access_token));
    if let Some(secret) = client.client_secret {
        add_field("client_secret", json!(secret));
        add_field("client_secret_expires_at", json!(0));
    }
    Ok(no_store(StatusCode::CREATED, answer))
}

pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Path(client_id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ClientError> {
    let token = bearer(&headers)?;
    let metadata = app.host.identity.find_client_by_registration_token(&client_id, token).await?;
    Ok(no_store(StatusCode::OK, client_information(&app, &client_id, &metadata)))
}

pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Path(client_id): Path<String>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ClientError> {
    let token = bearer(&headers)?;
    app.host.rates.count_registration(address).map_err(ClientError::rate_limited)?;
    let metadata = parse_metadata(&app, body)?;
    app.host.identity.update_client(&client_id, token, metadata.clone()).await?;
    Ok(no_store(StatusCode::OK, client_information(&app, &client_id, &metadata)))
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Path(client_id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ClientError> {
    app.host.identity.delete_client(&client_id, bearer(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn bearer(headers: &HeaderMap) -> Result<&str, ClientError> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header.and_then(|text| text.split_once(' '));
    let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.map(|(_, token)| token.trim()).ok_or_else(|| IdentityError::NoToken.into())
}

fn parse_metadata(
    app: &App,
    body: Result<Bytes, BytesRejection>,
) -> Result<ClientMetadata, ClientError> {
    let invalid = |text| OAuthError::new("invalid_client_metadata", text);
    let body = body.map_err(|_| invalid("the metadata is too large or ended early"))?;
    if body.len() > MAX_BODY_BYTES {
        return Err(invalid("the metadata is too large").into());
    }
    Ok(ClientMetadata::parse(&body, app.host.identity.redirects())?)
}

fn client_information(app: &App, client_id: &str, metadata: &ClientMetadata) -> Value {
    let mut answer = serde_json::to_value(metadata).unwrap_or_default();
    if let Some(fields) = answer.as_object_mut() {
        let uri = format!("{}/oauth/register/{client_id}", app.public_url);
        fields.insert("client_id".to_owned(), json!(client_id));
        fields.insert("registration_client_uri".to_owned(), json!(uri));
    }
    answer
}
