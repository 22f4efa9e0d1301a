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
use portolan_vocabulary::Clock;
use std::{
    convert::Infallible,
    future::{Ready, ready},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};
use tower::{ServiceExt as _, util::Oneshot};

/// Everything that is served at one address.
#[derive(Debug, Clone)]
pub struct Doors {
    pub(super) documents: Option<Documents>,
    pub(super) routes: Router,
}

/// The documents of the feeds, which are served without passing routes and layers.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    pub(super) feeds: Arc<Feeds>,
    /// Dates the ids of requests.
    pub(super) clock: Clock,
}

impl From<Router> for Doors {
    fn from(routes: Router) -> Self {
        Self { documents: None, routes }
    }
}

impl Doors {
    /// Answers with a document of the feeds, if the request asks for one. Documents are read so often, and
    /// cost so little, that routes and layers would be most of their cost.
    fn document(&self, request: &Request, underway: &Underway) -> Option<Response> {
        let Documents { feeds: published, clock } = self.documents.as_ref()?;
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let publication = reads.then(|| published.current()).flatten()?;
        let (mut response, held) = feeds::document(&publication, request)?;
        underway.set(held);
        request_id::set_header(&mut response, &request_id::new(clock));
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
