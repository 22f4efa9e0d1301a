//! The servers at both addresses and at the operator's socket: they accept connections until the
//! host stops, then drain.

use crate::{
    App, Dispatcher, OperatorSocket,
    dispatcher::Connection,
    router::{dispatcher, operator_address, operator_socket},
    socket::{ClientSocket, CurrentFile},
};
use axum::Router;
use hyper::{
    rt::{Read, Write},
    server::conn::http1,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use portolan_mcp::{ServerHandler, Service};
use portolan_vocabulary::Limits;
use std::{
    future::Future,
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::watch,
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
    pub admin: TcpListener,
    /// `None` until the data folder exists, or if its path is too long for a socket.
    pub socket: Option<OperatorSocket>,
}

impl Listeners {
    /// Binds both addresses.
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
            admin: open(admin, "admin-listen").await?,
            socket: None,
        })
    }
}

/// Serves until `stop`, then accepts no more connections and waits for the requests in flight, at
/// most for the drain time.
pub async fn serve<S: ServerHandler + Send + 'static>(
    listeners: Listeners,
    app: Arc<App>,
    mcp: Service<S>,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let limits = app.host.sandbox.limits();
    let drain = limits.drain_time();
    let wait_for_stop = |mut stop: watch::Receiver<bool>| async move {
        // An error means that the sender was dropped, which stops the servers too.
        let _ended = stop.wait_for(|stopping| *stopping).await;
    };
    let public = accept(
        listeners.public,
        dispatcher(Arc::clone(&app), mcp, Router::new()),
        limits.clone(),
        wait_for_stop(stop.clone()),
    );
    let admin = operator_address(&app).into();
    let admin = accept(listeners.admin, admin, limits.clone(), wait_for_stop(stop.clone()));
    let socket_stop = wait_for_stop(stop.clone());
    let socket = async {
        if let Some(socket) = listeners.socket {
            let routes = operator_socket(&app).into();
            accept(socket, routes, limits.clone(), socket_stop).await;
        }
    };
    let servers = async { tokio::join!(public, admin, socket) };
    let deadline = async {
        wait_for_stop(stop).await;
        app.mcp.stop();
        tokio::time::sleep(drain).await;
    };
    tokio::select! {
        _ended = servers => {}
        () = deadline => tracing::warn!("requests were still in flight at the end of the drain time"),
    }
    Ok(())
}

/// A listener for connections of one kind.
pub trait Listener: Send {
    type Stream: Send;
    type Socket: Read + Write + Unpin + Send + 'static;

    /// Accepts the next connection. The address is `None` at a Unix socket.
    fn accept(&self)
    -> impl Future<Output = io::Result<(Self::Stream, Option<SocketAddr>)>> + Send;

    fn socket(stream: Self::Stream, file: CurrentFile, stall_time: Duration) -> Self::Socket;
}

impl Listener for TcpListener {
    type Stream = TcpStream;
    type Socket = ClientSocket;

    async fn accept(&self) -> io::Result<(TcpStream, Option<SocketAddr>)> {
        let (stream, address) = Self::accept(self).await?;
        // Responses are written whole, so waiting to fill a packet only delays them.
        let _set = stream.set_nodelay(true);
        Ok((stream, Some(address)))
    }

    fn socket(stream: TcpStream, file: CurrentFile, stall_time: Duration) -> ClientSocket {
        ClientSocket::new(stream, file, stall_time)
    }
}

impl Listener for OperatorSocket {
    type Stream = UnixStream;
    type Socket = TokioIo<UnixStream>;

    async fn accept(&self) -> io::Result<(UnixStream, Option<SocketAddr>)> {
        let (stream, _address) = UnixListener::accept(&self.listener).await?;
        Ok((stream, None))
    }

    fn socket(stream: UnixStream, _: CurrentFile, _: Duration) -> TokioIo<UnixStream> {
        TokioIo::new(stream)
    }
}

/// Accepts connections until `stop`, and serves each in a task of its own. Then closes idle connections at
/// once, and waits for the others, which are closed when their request is answered.
pub async fn accept<L: Listener>(
    listener: L,
    dispatcher: Dispatcher,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    let (body_time, stall_time) = (limits.request_body_time(), limits.answer_stall_time());
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.request_head_time())
        .max_buf_size(HEAD_BYTES);
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    let mut last_warning: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            // The client has closed the connection already.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
            Err(error) => {
                if last_warning.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL) {
                    tracing::warn!(%error, "connections cannot be accepted; if too many files are open, raise the limit (ulimit -n)");
                    last_warning = Some(Instant::now());
                }
                tokio::time::sleep(ACCEPT_BACKOFF).await;
                continue;
            }
        };
        let current_file = CurrentFile::default();
        let socket = L::socket(stream, current_file.clone(), stall_time);
        let service =
            Connection { dispatcher: dispatcher.clone(), address, body_time, current_file };
        let connection = http.serve_connection(socket, service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, ?address, "a connection ended early");
            }
        });
    }
    drop(listener);
    connections.shutdown().await;
}
