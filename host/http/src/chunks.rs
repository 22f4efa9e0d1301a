//! Bodies that are sent in chunks.

use axum::{
    BoxError,
    body::{Body, Bytes},
};
use futures_util::{Stream, StreamExt as _};

/// Returns a body of these chunks. The compression of answers polls a body again after its end, where a stream may panic.
pub(super) fn body_of<C, E>(chunks: impl Stream<Item = Result<C, E>> + Send + 'static) -> Body
where
    C: Into<Bytes> + 'static,
    E: Into<BoxError> + 'static,
{
    Body::from_stream(chunks.fuse())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::to_bytes, routing::get};
    use futures_util::stream;
    use std::convert::Infallible;
    use tower::ServiceExt as _;

    #[tokio::test]
    async fn a_body_in_chunks_is_compressed_to_its_end() {
        let answer = || async {
            body_of(stream::unfold(0, async |number: u8| {
                (number < 3).then(|| (Ok::<_, Infallible>(vec![number; 1000]), number + 1))
            }))
        };
        let router = axum::Router::new()
            .route("/", get(answer))
            .layer(tower_http::compression::CompressionLayer::new());
        let request = http::Request::get("/").header("accept-encoding", "gzip");
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.headers()["content-encoding"], "gzip");
        assert!(!to_bytes(response.into_body(), 10_000).await.unwrap().is_empty());
    }
}
