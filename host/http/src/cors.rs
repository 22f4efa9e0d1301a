//! CORS: pages of any origin may send requests, because these endpoints use no cookies.

use std::time::Duration;
use tower_http::cors::{AllowHeaders, Any, CorsLayer};

/// The time for which a browser may cache the answer to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_secs(3600);

/// Returns the layer that allows requests from pages of any origin.
pub(super) fn any_origin() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(Any)
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(Any)
        .max_age(PREFLIGHT_AGE)
}
