//! Counts the requests of each address, and refuses those above the rate before a route handles them.

use crate::{App, address::ClientAddress, refusal::Refusal};
use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use std::sync::Arc;

pub(super) async fn count_request(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    app.host.rates.count_request(address)?;
    Ok(next.run(request).await)
}
