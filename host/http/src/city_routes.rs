//! The routes that each city has below its own path, beside those of its documents and its map.

use crate::{App, changes, city::City, record_pages, refusal};
use axum::{Router, routing::get};
use portolan_publication::Roads;
use std::sync::Arc;

/// Returns the routes that scripts of any origin may use.
pub(super) fn open_routes(app: &Arc<App>) -> Router {
    routes(app, |roads| {
        Router::new()
            .route(&roads.path("changes.json"), get(changes::changes))
            .route(&roads.path("changes.ndjson"), get(changes::changes))
            .route(&roads.page("companies/{id}"), get(record_pages::company))
            .route(&roads.page("roles/{id}"), get(record_pages::role))
            .route(&roads.page("people/{id}"), get(record_pages::person))
            .route(&roads.page("events/{id}"), get(record_pages::event))
    })
}

/// Returns the routes for people alone.
pub(super) fn page_routes(app: &Arc<App>) -> Router {
    routes(app, |roads| Router::new().route(&roads.objection(), get(record_pages::objection)))
}

fn routes(app: &Arc<App>, of_city: impl Fn(&Roads) -> Router<City>) -> Router {
    City::all(app).fold(Router::new(), |router, city| {
        let routes = of_city(city.roads()).method_not_allowed_fallback(refusal::no_such_method);
        router.merge(routes.with_state(city))
    })
}
