//! The gate of every request at the operator's address and socket: it finds the operator, and whether the
//! role of the operator is enough for the route.

use crate::{
    App,
    address::ClientAddress,
    operator::{SocketUser, operator_bearer},
    operator_routes::OperatorRoute,
    refusal::Refusal,
};
use axum::{
    extract::{FromRequestParts as _, MatchedPath, Request, State},
    http::{HeaderValue, Method, header::WWW_AUTHENTICATE, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use portolan_identity::IdentityError;
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure, Operator, OperatorRole};
use serde_json::json;
use std::sync::Arc;

const METRICS: &str = "/metrics";

/// The routes of the operator, and the host that they are of.
pub(super) struct OperatorGate {
    pub(super) app: Arc<App>,
    pub(super) routes: Vec<OperatorRoute>,
}

/// The operator who has signed in to the console. The console sets this extension on its own requests to the
/// routes; a request from outside cannot have it.
#[derive(Debug, Clone)]
pub(super) struct SignedIn(pub(super) Operator);

/// Lets a request pass if its operator may use its route. The handler gets the operator as an extension.
pub(super) async fn pass(
    State(gate): State<Arc<OperatorGate>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    match gate.operator(&mut parts).await {
        Ok(operator) => {
            if let Some(operator) = operator {
                parts.extensions.insert(operator);
            }
            next.run(Request::from_parts(parts, body)).await
        }
        Err(failure) => {
            let unauthenticated = failure.kind == ErrorKind::Unauthenticated;
            let mut response = Refusal(failure).into_response();
            if unauthenticated {
                let challenge = HeaderValue::from_static("Bearer realm=\"operator\"");
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            }
            response
        }
    }
}

impl OperatorGate {
    /// Returns the operator of a request, or `None` if the route is open to everybody.
    async fn operator(&self, parts: &mut Parts) -> Result<Option<Operator>, Failure> {
        let user = parts.extensions.get::<SocketUser>().copied();
        let signed_in = parts.extensions.remove::<SignedIn>();
        if user.is_none() && signed_in.is_none() {
            self.app.operator.ensure_own(&parts.headers)?;
        }
        let route = self.route(parts);
        let Some(needed) = self.needed_role(route) else { return Ok(None) };
        let reads_metrics = route.is_some_and(|route| route.path == METRICS);
        let operator = match (signed_in, user) {
            (Some(SignedIn(operator)), _) => operator,
            (None, Some(user)) => user.operator(),
            (None, None) => self.authenticate(parts, reads_metrics).await?,
        };
        if operator.role < needed {
            let held = operator.role;
            return Err(Failure::new(ErrorCode::NotPermitted)
                .message(format!("This needs the role {needed}, and yours is {held}."))
                .conflict(json!({ "kind": "role", "required": needed, "held": held })));
        }
        Ok(Some(operator))
    }

    /// Returns the route of a request, or `None` if there is no such route.
    fn route(&self, parts: &Parts) -> Option<&OperatorRoute> {
        let path = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str);
        // A request with HEAD is answered as with GET.
        let method = if parts.method == Method::HEAD { &Method::GET } else { &parts.method };
        let is_requested =
            |route: &&OperatorRoute| Some(route.path) == path && route.method == *method;
        self.routes.iter().find(is_requested)
    }

    /// Returns the least role that may use a route; `None` if everybody may. If there is no such route, every
    /// operator is told so.
    fn needed_role(&self, route: Option<&OperatorRoute>) -> Option<OperatorRole> {
        match route {
            Some(route) if route.path == METRICS && self.app.operator.metrics_public => None,
            Some(route) => route.role,
            None => Some(OperatorRole::Read),
        }
    }

    /// Returns the operator of the token of a request. While the database does not answer, a request that reads
    /// the metrics needs only a token that was read lately.
    async fn authenticate(
        &self,
        parts: &mut Parts,
        reads_metrics: bool,
    ) -> Result<Operator, Failure> {
        let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, &self.app).await;
        let token = operator_bearer(&parts.headers)?;
        let shared = self.app.operator.token.operator(token);
        let identity = &self.app.host.identity;
        let found = identity.authenticate_operator(token, shared, address, reads_metrics).await;
        found.map_err(|error| match error {
            IdentityError::TokenInvalid => Failure::new(ErrorCode::AuthenticationRequired)
                .message("This is no operator's token, or no longer one."),
            IdentityError::SlowDown { after_s } => Failure::new(ErrorCode::RateLimited)
                .message("Too many wrong tokens came from this address. Wait before the next request; on the host's machine, the portolan command needs no token.")
                .after_s(after_s),
            other => other.into(),
        })
    }
}
