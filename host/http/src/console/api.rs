//! Requests of the console to the operator's routes, in the name of the operator who has signed in.

use crate::{operator_gate::SignedIn, operator_routes::OperatorRoute, refusal::Refused};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Method, Request, header::CONTENT_TYPE},
};
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure, Operator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt as _;

/// The maximum number of bytes of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;

pub(super) struct Api {
    router: Router,
    table: Vec<OperatorRoute>,
}

impl Api {
    pub(super) fn new(router: Router, table: Vec<OperatorRoute>) -> Self {
        Self { router, table }
    }

    /// Returns whether an operator may use the route with this path, which is as in the table.
    pub(super) fn may(&self, operator: &Operator, method: &Method, path: &str) -> bool {
        let route = self.table.iter().find(|route| route.method == *method && route.path == path);
        route.is_some_and(|route| route.role.is_none_or(|needed| operator.role >= needed))
    }

    /// Returns what a route answers.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        operator: &Operator,
        path: &str,
    ) -> Result<T, Failure> {
        parsed(self.send(operator, Method::GET, path, None).await?)
    }

    /// Returns what a route answers; `None` if the role of the operator is too small for it.
    pub(super) async fn get_permitted<T: DeserializeOwned>(
        &self,
        operator: &Operator,
        path: &str,
    ) -> Result<Option<T>, Failure> {
        match self.get(operator, path).await {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if failure.kind == ErrorKind::Forbidden => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Sends a request to a route, and returns its answer.
    pub(super) async fn send(
        &self,
        operator: &Operator,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, Failure> {
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, "application/json")
            .extension(SignedIn(operator.clone()))
            .body(body);
        let request = request.map_err(|error| internal(&error))?;
        let Ok(mut response) = self.router.clone().oneshot(request).await;
        if let Some(Refused(failure)) = response.extensions_mut().remove() {
            return Err(failure);
        }
        let bytes = to_bytes(response.into_body(), MAX_ANSWER_BYTES).await;
        let bytes = bytes.map_err(|error| internal(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| internal(&error))
    }
}

/// Returns an answer as the value that a page shows.
pub(super) fn parsed<T: DeserializeOwned>(answer: Value) -> Result<T, Failure> {
    serde_json::from_value(answer).map_err(|error| internal(&error))
}

fn internal(error: &dyn std::error::Error) -> Failure {
    tracing::error!(%error, "the console cannot use an operator's route");
    Failure::new(ErrorCode::InternalError)
}
