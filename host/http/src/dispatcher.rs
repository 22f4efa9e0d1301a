//! The dispatcher of requests: documents of the feeds are answered from memory, everything else by a route.

use crate::{
    activity::{Activity, AnswerBody},
    body::with_timed_body,
    error_page, feeds,
    host_header::ensure_one_host,
    operator::SocketUser,
    refusal::Refusal,
    request_id,
    socket::CurrentFile,
};
use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::{HeaderValue, Method, header::CONNECTION},
    response::{IntoResponse as _, Response},
};
use futures_util::future::{Either, TryFutureExt as _};
use hyper::body::Incoming;
use portolan_publication::Feeds;
use portolan_vocabulary::Clock;
use std::{
    convert::Infallible,
    future::{Future, ready},
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::sync::watch;
use tower::ServiceExt as _;

/// The service at one listening address.
#[derive(Debug, Clone)]
pub struct Dispatcher {
    /// The cities whose documents are answered before routes and layers, the first one first.
    pub(super) cities: Arc<[Arc<Feeds>]>,
    pub(super) routes: Router,
    /// The clock for request ids, which contain the time.
    pub(super) clock: Clock,
    /// Whether browsers get a page in place of the envelope of a failure.
    pub(super) has_error_pages: bool,
}

impl Dispatcher {
    /// Returns the response to a request that reaches no route: a refusal of its `Host`, or a document
    /// of the feeds.
    fn early_response(&self, request: &Request, current_file: &CurrentFile) -> Option<Response> {
        let mut response = match ensure_one_host(request) {
            Ok(()) => self.document(request, current_file)?,
            Err(failure) => Refusal(failure).into_response(),
        };
        request_id::set_header(&mut response, &request_id::new(&self.clock));
        Some(response)
    }

    /// Returns the response if the request reads a document of the feeds. Documents bypass the router
    /// because routes and layers would take most of the time of such a request.
    fn document(&self, request: &Request, current_file: &CurrentFile) -> Option<Response> {
        let (first, others) = self.cities.split_first()?;
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let of_city = |feeds: &Feeds| feeds::document(&*feeds.current()?, request);
        let of_others = || {
            let city = others.iter().find(|city| city.is_at(request.uri().path()))?;
            of_city(city)
        };
        let (response, file) = of_city(first).or_else(of_others)?;
        current_file.set(file);
        Some(response)
    }
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub enum Peer {
    Address(SocketAddr),
    /// A user of this machine, at the operator's socket.
    User(SocketUser),
}

impl Peer {
    /// Returns the address; `None` at the operator's socket.
    pub(super) fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Address(address) => Some(address.ip()),
            Self::User(_) => None,
        }
    }
}

/// The service of one connection.
pub(super) struct Connection {
    pub(super) dispatcher: Dispatcher,
    pub(super) peer: Peer,
    pub(super) activity: Arc<Activity>,
    /// The time within which a request's body must arrive.
    pub(super) body_time: Duration,
    pub(super) current_file: CurrentFile,
    /// Whether the server is to stop: then the client is told to open a new connection, elsewhere.
    pub(super) stop: watch::Receiver<bool>,
}

impl Connection {
    /// Answers a request whose head has arrived.
    pub(super) fn answer(
        &self,
        request: hyper::Request<Incoming>,
    ) -> impl Future<Output = Result<hyper::Response<AnswerBody>, Infallible>> + Send + use<> {
        let answering = self.activity.answer();
        let mut request = with_timed_body(request, self.body_time);
        let has_error_pages = self.dispatcher.has_error_pages;
        let wants_page = has_error_pages && error_page::is_wanted(request.headers());
        let early = self.dispatcher.early_response(&request, &self.current_file);
        let response = match early {
            Some(response) => Either::Left(ready(Ok(response))),
            None => {
                match self.peer {
                    Peer::Address(address) => {
                        request.extensions_mut().insert(ConnectInfo(address));
                    }
                    Peer::User(user) => {
                        request.extensions_mut().insert(user);
                    }
                }
                Either::Right(self.dispatcher.routes.clone().oneshot(request))
            }
        };
        let stop = self.stop.clone();
        response.map_ok(move |response| {
            let mut response = match has_error_pages {
                true => error_page::negotiate(response, wants_page),
                false => response,
            };
            if *stop.borrow() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response.map(|body| AnswerBody::new(body, answering))
        })
    }
}
