//! Counts the requests of each address and their cost, and refuses those above the rates before a route handles them.

use crate::{
    App,
    address::ClientAddress,
    refusal::Refusal,
    work::{self, Deferred},
};
use axum::{
    extract::{Request, State},
    http::header::AUTHORIZATION,
    middleware::Next,
    response::Response,
};
use std::sync::Arc;

pub(super) async fn count_request(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    app.host.rates.count_request(address)?;
    let largest_body = app.host.sandbox.limits().call_input_bytes;
    let work = work::estimate(&request, largest_body);
    if work.of_agents && request.headers().contains_key(AUTHORIZATION) {
        request.extensions_mut().insert(Deferred(work));
    } else {
        app.host.rates.charge_work(address, work)?;
    }
    Ok(next.run(request).await)
}
