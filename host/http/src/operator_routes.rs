//! The table of the operator's routes: who may use each, and what it leaves in the audit log. The router is made
//! of this table, so there is no route without a role.

use crate::{
    App, admin, audit_export, audit_verification, files, incidents, metadata, metrics, observation,
    operators, people, probes, problems, quarantine, recordings, sources, versions,
};
use axum::{
    extract::DefaultBodyLimit,
    handler::Handler,
    http::Method,
    routing::{MethodRouter, delete, get, post, put},
};
use portolan_vocabulary::OperatorRole::{self, Admin, Operate, Read};
use std::sync::Arc;

/// A route of the operator's address and socket.
#[derive(Debug, Clone)]
pub struct OperatorRoute {
    pub method: Method,
    pub path: &'static str,
    /// The least role that may use it; `None` for a probe, which everybody may use.
    pub role: Option<OperatorRole>,
    /// The action of its row in the audit log; `None` if nothing is decided. `{action}` is the one of the
    /// path.
    pub decision: Option<&'static str>,
}

/// A route with its handler.
pub(super) struct Handled {
    pub(super) route: OperatorRoute,
    pub(super) handler: MethodRouter<Arc<App>>,
}

/// Returns the routes of the operator's address, in the order of the documentation.
pub fn operator_routes() -> Vec<OperatorRoute> {
    table(0).into_iter().map(|handled| handled.route).collect()
}

/// Returns the routes with their handlers. A published component has at most this number of bytes.
pub(super) fn table(publish_bytes: usize) -> Vec<Handled> {
    let (delete, post, put) = (Method::DELETE, Method::POST, Method::PUT);
    vec![
        probe("/startupz", probes::startupz),
        probe("/healthz", probes::healthz),
        probe("/readyz", probes::readyz),
        look("/status", Read, admin::status),
        look("/metrics", Read, metrics::metrics),
        look("/problems", Read, problems::problems),
        look("/calls", Read, observation::calls),
        look("/traces", Read, observation::traces),
        look("/traces/{id}", Read, observation::trace),
        look("/callers", Read, observation::callers),
        look("/webhooks", Read, observation::webhooks),
        look("/sources", Read, sources::sources),
        look("/settings", Read, observation::settings),
        look("/catalog", Read, admin::catalog),
        look("/catalog/{id}/history", Read, versions::history),
        look("/catalog/{id}/release", Read, versions::release),
        look("/audit", Read, admin::audit),
        look("/audit/export", Read, audit_export::export),
        look("/audit/verification", Read, audit_verification::verify),
        look("/timers", Read, admin::timers),
        look("/keys", Read, metadata::keys),
        look("/operators", Read, operators::list),
        look("/incidents", Read, incidents::list),
        decide(&post, "/catalog/publish", Operate, "operator:publish", versions::publish)
            .with_body_limit(publish_bytes),
        decide(&post, "/catalog/{id}/rollback", Operate, "operator:rollback", versions::rollback),
        decide(
            &post,
            "/catalog/{id}/release/share",
            Operate,
            "operator:share_release",
            versions::share_release,
        ),
        decide(
            &post,
            "/catalog/{id}/release/promote",
            Operate,
            "operator:promote_release",
            versions::promote_release,
        ),
        decide(
            &post,
            "/catalog/{id}/release/abort",
            Operate,
            "operator:abort_release",
            versions::abort_release,
        ),
        look("/recordings", Read, recordings::list),
        look("/recordings/{request_id}", Operate, recordings::show),
        decide(
            &post,
            "/recordings/{request_id}/replay",
            Operate,
            "operator:replay_call",
            recordings::replay,
        )
        .with_body_limit(publish_bytes),
        decide(&post, "/rehearsals", Operate, "operator:rehearse", recordings::rehearse)
            .with_body_limit(publish_bytes),
        look("/documents", Operate, quarantine::list),
        look("/documents/document", Operate, quarantine::show),
        decide(
            &put,
            "/documents/document",
            Operate,
            "operator:repair_document",
            quarantine::repair,
        ),
        decide(&delete, "/documents/document", Operate, "operator:drop_document", quarantine::drop),
        decide(&post, "/timers/{id}/drop", Operate, "operator:drop_timers", admin::drop_timers),
        look("/dead-letters", Operate, admin::dead_letters),
        decide(&post, "/dead-letters/replay", Operate, "operator:replay", admin::replay),
        decide(
            &post,
            "/dead-letters/drop",
            Operate,
            "operator:drop_dead_letters",
            admin::drop_dead_letters,
        ),
        decide(&post, "/incidents", Operate, "operator:open_incident", incidents::open),
        decide(
            &post,
            "/incidents/{id}/update",
            Operate,
            "operator:update_incident",
            incidents::update,
        ),
        decide(
            &post,
            "/incidents/{id}/resolve",
            Operate,
            "operator:resolve_incident",
            incidents::resolve,
        ),
        decide(
            &delete,
            "/agents/{agent_id}",
            Operate,
            "operator:revoke_agent",
            people::revoke_agent,
        ),
        decide(&post, "/capabilities/{id}/{action}", Operate, "{action}", admin::operate),
        decide(&post, "/catalog/{id}/approve", Admin, "operator:approve", admin::approve),
        decide(&post, "/catalog/{id}/adopt", Admin, "operator:adopt", admin::adopt),
        decide(&Method::GET, "/people/{owner_id}", Admin, "operator:export_person", people::export),
        decide(&delete, "/people/{owner_id}", Admin, "operator:erase_person", people::erase),
        decide(
            &delete,
            "/people/{owner_id}/kept-suspension",
            Admin,
            "operator:lift_suspension",
            people::lift_suspension,
        ),
        decide(
            &delete,
            "/people/{owner_id}/passkeys",
            Admin,
            "operator:remove_passkeys",
            people::remove_passkeys,
        ),
        decide(
            &Method::GET,
            "/recordings/{request_id}/whole",
            Admin,
            "operator:show_recording",
            recordings::show_whole,
        ),
        decide(
            &post,
            "/recordings/{request_id}/whole/replay",
            Admin,
            "operator:replay_whole_call",
            recordings::replay_whole,
        )
        .with_body_limit(publish_bytes),
        decide(&post, "/media/adopt", Admin, "operator:adopt_files", files::adopt),
        decide(&post, "/keys/rotate", Admin, "auth:key_rotated", admin::rotate_keys),
        decide(&post, "/token/rotate", Admin, "operator:rotate_token", admin::rotate_token),
        decide(&post, "/operators", Admin, "operator:add_operator", operators::add),
        decide(
            &post,
            "/operators/{name}/renew",
            Admin,
            "operator:renew_operator",
            operators::renew,
        ),
        decide(&delete, "/operators/{name}", Admin, "operator:remove_operator", operators::remove),
    ]
}

/// A route that everybody may use, because it reveals nothing but the state of the process.
fn probe<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H) -> Handled {
    let route = OperatorRoute { method: Method::GET, path, role: None, decision: None };
    Handled { route, handler: get(handler) }
}

/// A route that changes nothing.
fn look<H: Handler<T, Arc<App>>, T: 'static>(
    path: &'static str,
    role: OperatorRole,
    handler: H,
) -> Handled {
    let route = OperatorRoute { method: Method::GET, path, role: Some(role), decision: None };
    Handled { route, handler: get(handler) }
}

/// A route whose use is a decision: it leaves a row in the audit log.
fn decide<H: Handler<T, Arc<App>>, T: 'static>(
    method: &Method,
    path: &'static str,
    role: OperatorRole,
    decision: &'static str,
    handler: H,
) -> Handled {
    let handler = match *method {
        Method::POST => post(handler),
        Method::PUT => put(handler),
        Method::DELETE => delete(handler),
        _ => get(handler),
    };
    let method = method.clone();
    let route = OperatorRoute { method, path, role: Some(role), decision: Some(decision) };
    Handled { route, handler }
}

impl Handled {
    fn with_body_limit(self, bytes: usize) -> Self {
        Self { handler: self.handler.layer(DefaultBodyLimit::max(bytes)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_route_is_in_the_table_once() {
        let routes = operator_routes();
        let named: BTreeSet<_> =
            routes.iter().map(|route| (route.method.as_str(), route.path)).collect();
        assert_eq!(named.len(), routes.len());
    }

    #[test]
    fn what_changes_something_leaves_a_row_and_needs_more_than_the_least_role() {
        for route in operator_routes() {
            let changes = route.method != Method::GET;
            assert!(!changes || route.decision.is_some(), "{route:?}");
            assert!(route.decision.is_none() || route.role > Some(Read), "{route:?}");
        }
    }

    #[test]
    fn only_the_state_of_the_process_is_open() {
        let open: Vec<_> = operator_routes()
            .into_iter()
            .filter(|route| route.role.is_none())
            .map(|route| route.path)
            .collect();
        assert_eq!(open, ["/startupz", "/healthz", "/readyz"]);
    }

    #[test]
    fn personal_data_and_power_are_for_administrators() {
        for route in operator_routes() {
            let is_theirs = ["/people", "/operators/", "/token"]
                .iter()
                .any(|start| route.path.starts_with(start))
                || route.path.contains("/whole")
                || ["rotate", "approve", "adopt"].iter().any(|end| route.path.ends_with(end));
            assert!(!is_theirs || route.role == Some(Admin), "{route:?}");
        }
    }
}
