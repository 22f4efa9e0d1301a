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
    let admin = accept(
        listeners.admin,
        operator_address(&app),
        limits.clone(),
        wait_for_stop(stop.clone()),
    );
    let socket_stop = wait_for_stop(stop.clone());
    let socket = async {
        if let Some(socket) = listeners.socket {
            accept(socket, operator_socket(&app), limits.clone(), socket_stop).await;
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
        .max_buf_size(HEAD_BYTES)
        // The buffer alone may be read beyond its size.
        .max_header_size(HEAD_BYTES);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatcher::Dispatcher;
    use axum::routing::get;
    use portolan_vocabulary::Clock;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// Sends requests over one connection to a server with the path `/`, and returns what it answers.
    async fn answers(requests: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let routes = Router::new().route("/", get(|| async { "ok" }));
        let dispatcher = Dispatcher { feeds: None, routes, clock: Clock::system() };
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
            () = accept(listener, dispatcher, Limits::default(), std::future::pending()) => unreachable!(),
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
