//! `POST /v1/capabilities/{id}/call`.

use crate::{
    App,
    answer::call_response,
    caller::{Authenticated, CapabilityId},
    input::{idempotency_key, is_json, read_call_body},
    refusal::Refusal,
    request_id::RequestId,
    trace::RequestTrace,
};
use axum::{
    Extension,
    body::Bytes,
    extract::{FromRequest as _, Request, State},
    response::Response,
};
use portolan_pipeline::Call;
use std::sync::Arc;

pub(super) async fn call(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    CapabilityId(id): CapabilityId,
    Extension(RequestId(request_id)): Extension<RequestId>,
    trace: Option<Extension<RequestTrace>>,
    request: Request,
) -> Result<Response, Refusal> {
    let is_json = is_json(request.headers());
    let idempotency_key = idempotency_key(request.headers());
    let body = Bytes::from_request(request, &app).await;
    let body = read_call_body(&app, &caller, is_json, body);
    let idempotency_key = idempotency_key?;
    let trace = trace.map(|Extension(RequestTrace(trace))| trace);
    let capability = &*id;
    let call =
        Call { caller, capability, body, idempotency_key, request_id, by_person: false, trace };
    Ok(call_response(app.host.call(call).await))
}
