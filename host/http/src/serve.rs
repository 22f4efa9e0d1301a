//! The servers at both addresses and at the operator's socket: they accept connections until the
//! host stops and a load balancer has had time to see that it is not ready, then drain.

use crate::{
    App, Connections, Dispatcher, OperatorSocket,
    connections::OpenConnection,
    dispatcher::{Connection, Peer},
    operator::SocketUser,
    router::{dispatcher, operator_address},
    socket::{ClientSocket, CurrentFile, Stream},
    stop::{Stop, is_true},
    tls::Tls,
};
use axum::Router;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use portolan_mcp::{ServerHandler, Service};
use portolan_vocabulary::Limits;
use std::{
    future::{Future, pending, ready},
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    net::{TcpListener, UnixListener},
    time::sleep,
};

/// The maximum number of bytes of a request's head: an acknowledgement of 500 events in a query fits.
const HEAD_BYTES: usize = 32 << 10;
/// The wait after a connection that could not be accepted.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);
/// The time between two warnings that connections cannot be accepted.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// The listeners of both addresses and of the operator's socket.
#[derive(Debug)]
pub struct Listeners {
    pub public: TcpListener,
    /// The certificate of the public address; `None` for plain HTTP.
    pub tls: Option<Tls>,
    pub admin: TcpListener,
    /// `None` until the data folder exists, or if its path is too long for a socket.
    pub socket: Option<OperatorSocket>,
}

impl Listeners {
    /// Binds both addresses, for plain HTTP.
    pub async fn open(public: SocketAddr, admin: SocketAddr) -> anyhow::Result<Self> {
        let open = |address: SocketAddr, name: &'static str| async move {
            TcpListener::bind(address).await.map_err(|error| {
                anyhow::anyhow!(
                    "cannot listen on {address}: {error}; choose another address with --{name}"
                )
            })
        };
        Ok(Self {
            public: open(public, "listen").await?,
            tls: None,
            admin: open(admin, "admin-listen").await?,
            socket: None,
        })
    }
}

/// Serves until `stop` is closing, then accepts no more connections and waits for the requests in flight, at most
/// for the drain time.
pub async fn serve<S: ServerHandler + Send + 'static>(
    listeners: Listeners,
    app: Arc<App>,
    mcp: Service<S>,
    stop: Stop,
) -> anyhow::Result<()> {
    let limits = app.host.sandbox.limits();
    let public = Server {
        dispatcher: dispatcher(Arc::clone(&app), mcp, Router::new()),
        connections: Arc::clone(&app.connections),
        limits: limits.clone(),
        tls: listeners.tls.clone(),
        stop: stop.clone(),
    };
    let public = accept(listeners.public, public);
    let operator_server = |dispatcher| Server {
        dispatcher,
        connections: Connections::of_operator(),
        limits: limits.clone(),
        tls: None,
        stop: stop.clone(),
    };
    let admin = accept(listeners.admin, operator_server(operator_address(&app)));
    let socket = async {
        if let Some(socket) = listeners.socket {
            accept(socket, operator_server(operator_address(&app))).await;
        }
    };
    let reload = async {
        match listeners.tls {
            Some(tls) => match tls.reload().await {},
            None => pending().await,
        }
    };
    let servers = async { tokio::join!(public, admin, socket) };
    let deadline = async {
        is_true(stop.told.clone()).await;
        app.mcp.stop();
        is_true(stop.closing.clone()).await;
        sleep(limits.drain_time()).await;
    };
    tokio::select! {
        _ended = servers => {}
        () = reload => {}
        () = deadline => tracing::warn!("requests were still in flight at the end of the drain time"),
    }
    Ok(())
}

/// A listener for connections of one kind.
pub trait Listener: Send {
    /// Accepts the next connection.
    fn accept(&self) -> impl Future<Output = io::Result<(Stream, Peer)>> + Send;
}

impl Listener for TcpListener {
    async fn accept(&self) -> io::Result<(Stream, Peer)> {
        let (stream, address) = Self::accept(self).await?;
        // Responses are written whole, so waiting to fill a packet only delays them.
        let _set = stream.set_nodelay(true);
        Ok((Stream::Tcp(TokioIo::new(stream)), Peer::Address(address)))
    }
}

impl<L: Listener + Sync> Listener for &L {
    async fn accept(&self) -> io::Result<(Stream, Peer)> {
        L::accept(self).await
    }
}

impl Listener for OperatorSocket {
    async fn accept(&self) -> io::Result<(Stream, Peer)> {
        let (stream, _address) = UnixListener::accept(&self.listener).await?;
        let user = SocketUser(stream.peer_cred()?.uid());
        Ok((Stream::Unix(TokioIo::new(stream)), Peer::User(user)))
    }
}

/// The server of one listener's connections.
#[derive(Debug)]
pub struct Server {
    pub dispatcher: Dispatcher,
    pub connections: Arc<Connections>,
    pub limits: Limits,
    /// `None` for plain HTTP.
    pub tls: Option<Tls>,
    pub stop: Stop,
}

/// Accepts connections until the server is closing, and serves each in a task of its own. Then closes idle
/// connections at once, and waits for the others, which are closed when their request is answered.
pub async fn accept<L: Listener>(listener: L, server: Server) {
    let server = Arc::new(server);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(server.limits.request_head_time())
        .max_buf_size(HEAD_BYTES)
        // The buffer alone may be read beyond its size.
        .max_header_size(HEAD_BYTES);
    let shutdown = GracefulShutdown::new();
    let mut closing = std::pin::pin!(is_true(server.stop.closing.clone()));
    let mut is_stopped = false;
    let mut last_warning: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut closing, if !is_stopped => {
                is_stopped = true;
                continue;
            }
            accepted = listener.accept() => accepted,
            // The queue is empty: closing the listener would reset the connections in it.
            () = ready(()), if is_stopped => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // The client has closed the connection already.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
            Err(error) => {
                if last_warning.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL) {
                    tracing::warn!(%error, "connections cannot be accepted; if too many files are open, raise the limit (ulimit -n)");
                    last_warning = Some(Instant::now());
                }
                sleep(ACCEPT_BACKOFF).await;
                continue;
            }
        };
        // A refused connection is closed here, without an answer.
        let Some(open) = server.connections.admit(peer.address()).await else {
            continue;
        };
        let accepted = Accepted { stream, peer, open };
        tokio::spawn(accepted.serve(http.clone(), Arc::clone(&server), shutdown.watcher()));
    }
    drop(listener);
    shutdown.shutdown().await;
}

/// A connection that was accepted.
struct Accepted {
    stream: Stream,
    peer: Peer,
    open: OpenConnection,
}

impl Accepted {
    /// Serves the connection until it ends, or is closed to make room, or the head of its first request is
    /// late.
    async fn serve(self, http: http1::Builder, server: Arc<Server>, watcher: Watcher) {
        let Self { stream, peer, open } = self;
        let activity = open.activity();
        let connection = async {
            let stream = stream.secured(server.tls.as_ref()).await?;
            let current_file = CurrentFile::default();
            let socket = ClientSocket::new(
                stream,
                Arc::clone(activity),
                current_file.clone(),
                server.limits.answer_stall_time(),
            );
            let connection = Connection {
                dispatcher: server.dispatcher.clone(),
                peer,
                activity: Arc::clone(activity),
                body_time: server.limits.request_body_time(),
                current_file,
                stop: server.stop.told.clone(),
            };
            let service = service_fn(move |request| connection.answer(request));
            watcher.watch(http.serve_connection(socket, service)).await?;
            anyhow::Ok(())
        };
        let late_head = async {
            sleep(server.limits.first_head_time()).await;
            if activity.has_request() {
                pending().await
            }
        };
        tokio::select! {
            ended = connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, ?peer, "a connection ended early");
                }
            }
            () = activity.closing() => {}
            () = late_head => server.connections.count_late_head(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatcher::Dispatcher;
    use axum::routing::get;
    use portolan_vocabulary::Clock;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
        sync::watch,
    };

    /// Sends requests over one connection to a server with the path `/`, and returns what it answers.
    async fn answers(requests: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let routes = Router::new().route("/", get(|| async { "ok" }));
        let (_running, stop) = watch::channel(false);
        let server = Server {
            dispatcher: Dispatcher {
                cities: Arc::default(),
                routes,
                clock: Clock::system(),
                has_error_pages: false,
            },
            connections: Connections::of_operator(),
            limits: Limits::default(),
            tls: None,
            stop: Stop::after(stop, Duration::ZERO),
        };
        let talk = async {
            // A head that is too large may be refused before it is sent whole.
            let _sent = client.write_all(requests.as_bytes()).await;
            let mut answer = Vec::new();
            // A connection that is closed while its client still sends ends in an error.
            let _ended = client.read_to_end(&mut answer).await;
            String::from_utf8(answer).unwrap()
        };
        tokio::select! {
            answer = talk => answer,
            () = accept(listener, server) => unreachable!(),
        }
    }

    /// Returns a request whose head has this number of bytes.
    fn head(bytes: usize) -> String {
        let (start, end) = ("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx: ", "\r\n\r\n");
        format!("{start}{}{end}", "y".repeat(bytes - start.len() - end.len()))
    }

    #[tokio::test]
    async fn a_head_has_at_most_its_limit() {
        for bytes in [1_000, HEAD_BYTES] {
            let answer = answers(head(bytes)).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{bytes}: {answer}");
        }
        for bytes in [HEAD_BYTES + 1, 40_000, 100_000] {
            let answer = answers(head(bytes)).await;
            assert!(answer.starts_with("HTTP/1.1 431"), "{bytes}: {answer}");
        }
    }

    #[tokio::test]
    async fn a_request_without_a_host_or_with_two_is_refused() {
        for hosts in ["", "host: x\r\nhost: x\r\n", "host: x\r\nhost: y\r\n"] {
            let answer =
                answers(format!("GET / HTTP/1.1\r\nconnection: close\r\n{hosts}\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 400"), "{hosts:?}: {answer}");
            assert!(answer.contains("request-id: req_"), "{answer}");
            assert!(answer.contains("exactly one Host header"), "{answer}");
        }
        let answer = answers("GET / HTTP/1.0\r\n\r\n".to_owned()).await;
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    }
}
