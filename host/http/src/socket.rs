//! The socket of a connection. A document that is also in a file is sent by the kernel from that file
//! (`sendfile`), without a copy and without TLS. A client that receives nothing for too long is disconnected.

use crate::{activity::Activity, tls::Tls};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use portolan_publication::FileBacked;
use rustix::{
    fs::sendfile,
    net::{SendFlags, send},
};
use std::{
    io::{self, ErrorKind, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::Interest,
    net::{TcpStream, UnixStream},
    time::{Sleep, sleep},
};
use tokio_rustls::server::TlsStream;

/// The file of the document that a connection is sending, if the document is in a file.
#[derive(Debug, Clone, Default)]
pub(super) struct CurrentFile(Arc<Mutex<Option<Arc<FileBacked>>>>);

impl CurrentFile {
    pub(super) fn set(&self, file: Option<Arc<FileBacked>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = file;
    }

    fn get(&self) -> Option<Arc<FileBacked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The stream of a connection, of any kind.
#[derive(Debug)]
pub enum Stream {
    Tcp(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
    Unix(TokioIo<UnixStream>),
}

impl Stream {
    /// Does the handshake of TLS on a connection of TCP, if there is a certificate.
    pub(super) async fn secured(self, tls: Option<&Tls>) -> io::Result<Self> {
        match (self, tls) {
            (Self::Tcp(stream), Some(tls)) => {
                let stream = tls.handshake(stream.into_inner()).await?;
                Ok(Self::Tls(Box::new(TokioIo::new(stream))))
            }
            (stream, _) => Ok(stream),
        }
    }

    /// Returns the connection of TCP, with or without TLS.
    fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Self::Tcp(stream) => Some(stream.inner()),
            Self::Tls(stream) => Some(stream.inner().get_ref().0),
            Self::Unix(_) => None,
        }
    }

    fn reader(&mut self) -> &mut (dyn Read + Unpin) {
        match self {
            Self::Tcp(stream) => stream,
            Self::Tls(stream) => &mut **stream,
            Self::Unix(stream) => stream,
        }
    }

    fn writer(&mut self) -> &mut (dyn Write + Unpin) {
        match self {
            Self::Tcp(stream) => stream,
            Self::Tls(stream) => &mut **stream,
            Self::Unix(stream) => stream,
        }
    }
}

pub(super) struct ClientSocket {
    stream: Stream,
    activity: Arc<Activity>,
    current_file: CurrentFile,
    /// The time within which the client must receive more.
    stall_time: Duration,
    /// The timer that runs while the client receives nothing.
    stall_timer: Option<Pin<Box<Sleep>>>,
}

impl ClientSocket {
    pub(super) fn new(
        stream: Stream,
        activity: Arc<Activity>,
        current_file: CurrentFile,
        stall_time: Duration,
    ) -> Self {
        Self { stream, activity, current_file, stall_time, stall_timer: None }
    }

    fn poll_send(
        &mut self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let file = self.current_file.get();
        let next = file.as_deref().and_then(|file| NextWrite::new(parts, file));
        let (Some(next), Stream::Tcp(stream)) = (next, &self.stream) else {
            return Pin::new(self.stream.writer()).poll_write_vectored(context, parts);
        };
        let stream = stream.inner();
        loop {
            ready!(stream.poll_write_ready(context))?;
            match stream.try_io(Interest::WRITABLE, || next.send(stream)) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    }

    /// Fails with a time-out if a client of TCP could be sent nothing within the stall time.
    fn enforce_stall_time<T>(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let Some(stream) = self.stream.tcp().filter(|_| sent.is_pending()) else {
            self.stall_timer = None;
            return sent;
        };
        let timer = self.stall_timer.get_or_insert_with(|| Box::pin(sleep(self.stall_time)));
        timer.as_mut().poll(context).map(|()| {
            // With linger 0, the system discards what the client has not received.
            stream.set_zero_linger()?;
            Err(ErrorKind::TimedOut.into())
        })
    }
}

impl Read for ClientSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(self.stream.reader()).poll_read(context, into)
    }
}

impl Write for ClientSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        part: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(self.stream.writer()).poll_write(context, part);
        self.enforce_stall_time(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = self.poll_send(context, parts);
        self.enforce_stall_time(context, sent)
    }

    /// Clears the current file: at a flush, the whole document has been written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.current_file.set(None);
        let sent = Pin::new(self.stream.writer()).poll_flush(context);
        if sent.is_ready() {
            self.activity.set_sent();
        }
        self.enforce_stall_time(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(self.stream.writer()).poll_shutdown(context);
        self.enforce_stall_time(context, sent)
    }
}

/// The next write: the rest of a response's head, then a part of a file.
struct NextWrite<'parts> {
    head: &'parts [u8],
    file: &'parts FileBacked,
    offset: u64,
    bytes: usize,
}

impl<'parts> NextWrite<'parts> {
    /// Returns `None` if neither the first part nor, after a head, the second is from the file's
    /// content.
    fn new(parts: &'parts [IoSlice<'_>], file: &'parts FileBacked) -> Option<Self> {
        let (head, part): (&[u8], &[u8]) = match parts {
            [head, part, ..] if file.offset_of(head).is_none() => (head, part),
            [part, ..] => (&[], part),
            [] => return None,
        };
        Some(Self { head, file, offset: file.offset_of(part)?, bytes: part.len() })
    }

    /// Returns the number of bytes that the kernel has accepted.
    fn send(&self, stream: &TcpStream) -> io::Result<usize> {
        let mut sent = 0;
        if !self.head.is_empty() {
            // With `MORE`, the kernel does not send a packet with the head alone.
            sent = send(stream, self.head, SendFlags::MORE | SendFlags::NOSIGNAL)?;
            if sent < self.head.len() {
                return Ok(sent);
            }
        }
        let mut offset = self.offset;
        match sendfile(stream, self.file.file(), Some(&mut offset), self.bytes) {
            Ok(accepted) => Ok(sent + accepted),
            // The next write reports the error.
            Err(_) if sent > 0 => Ok(sent),
            Err(error) => Err(error.into()),
        }
    }
}
