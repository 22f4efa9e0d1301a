//! `GET /assets/{name}`: the stylesheet and the icon of every page that this host renders.

use crate::{
    App, refusal,
    refusal::Refusal,
    request_id,
    static_file::{IMMUTABLE, StaticFile, hashed_name},
};
use axum::{
    Router, extract::Path, http::HeaderMap, middleware::from_fn_with_state, response::Response,
    routing::get,
};
use std::sync::{Arc, LazyLock};

const STYLE: (&str, &str, &[u8]) =
    ("style.css", "text/css; charset=utf-8", include_bytes!("../templates/style.css"));
const ICON: (&str, &str, &[u8]) =
    ("icon.svg", "image/svg+xml", include_bytes!("../templates/icon.svg"));

static FILES: LazyLock<Vec<StaticFile>> = LazyLock::new(|| {
    let files = [STYLE, ICON]
        .map(|(name, kind, bytes)| StaticFile::new(hashed_name(name, bytes), kind, bytes));
    files.into_iter().flatten().collect()
});

/// Returns the path of the stylesheet, for the templates.
pub(super) fn style_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| path_of(STYLE));
    &PATH
}

/// Returns the path of the icon, for the templates.
pub(super) fn icon_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| path_of(ICON));
    &PATH
}

fn path_of((name, _, bytes): (&str, &str, &[u8])) -> String {
    format!("/assets/{}", hashed_name(name, bytes))
}

/// Returns the route, without the compression layer: every body is compressed already.
pub(super) fn routes(app: &Arc<App>) -> Router {
    Router::new()
        .route("/assets/{name}", get(asset))
        .method_not_allowed_fallback(refusal::no_such_method)
        .layer(from_fn_with_state(app.host.clock.clone(), request_id::assign))
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Refusal> {
    match FILES.iter().find(|file| file.name == name) {
        Some(file) => Ok(file.respond(IMMUTABLE, &headers)),
        None => Err(refusal::no_such_path().await),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_refers_to_nothing_else() {
        let style = str::from_utf8(STYLE.2).unwrap();
        assert!(!style.contains("url(") && !style.contains("@import"));
        assert!(style_path().starts_with("/assets/style-") && style_path().ends_with(".css"));
    }
}
