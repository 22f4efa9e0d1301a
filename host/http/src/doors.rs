//! What answers a request: the documents of the feeds from memory, and everything else by its route.

use crate::{body::arriving, feeds, request_id, wire::Underway};
use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::Method,
    response::Response,
};
use futures_util::future::Either;
use hyper::{body::Incoming, service::Service};
use portolan_publication::Feeds;
use std::{
    convert::Infallible,
    future::{Ready, ready},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};
use tower::{ServiceExt as _, util::Oneshot};

/// All that is served at one address.
#[derive(Debug, Clone)]
pub struct Doors {
    pub(super) feeds: Option<Arc<Feeds>>,
    pub(super) routes: Router,
}

impl From<Router> for Doors {
    fn from(routes: Router) -> Self {
        Self { feeds: None, routes }
    }
}

impl Doors {
    /// Documents are read so often, and take so little, that the way through routes and layers would be
    /// most of what they cost.
    fn document(&self, request: &Request, underway: &Underway) -> Option<Response> {
        let feeds = self.feeds.as_ref()?;
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let publication = reads.then(|| feeds.current()).flatten()?;
        let (mut response, held) = feeds::document(&publication, request)?;
        underway.set(held);
        request_id::name(&mut response, &request_id::new());
        Some(response)
    }
}

/// The requests of one connection.
pub(super) struct Connection {
    pub(super) doors: Doors,
    pub(super) address: SocketAddr,
    /// For the body of a request to arrive.
    pub(super) body_time: Duration,
    pub(super) underway: Underway,
}

impl Service<hyper::Request<Incoming>> for Connection {
    type Response = Response;
    type Error = Infallible;
    type Future = Either<Ready<Result<Response, Infallible>>, Oneshot<Router, Request>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let mut request = arriving(request, self.body_time);
        if let Some(document) = self.doors.document(&request, &self.underway) {
            return Either::Left(ready(Ok(document)));
        }
        request.extensions_mut().insert(ConnectInfo(self.address));
        Either::Right(self.doors.routes.clone().oneshot(request))
    }
}
