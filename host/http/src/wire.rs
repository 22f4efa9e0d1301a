//! The socket of a connection. The kernel sends documents that are held in a file from there, without a
//! copy. A client that receives nothing for too long is disconnected.

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
    net::TcpStream,
    time::{Sleep, sleep},
};

/// The document that a connection answers with, if it is held in a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Underway(Arc<Mutex<Option<Arc<FileBacked>>>>);

impl Underway {
    pub(super) fn set(&self, held: Option<Arc<FileBacked>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }

    fn get(&self) -> Option<Arc<FileBacked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(super) struct Wire {
    socket: TokioIo<TcpStream>,
    underway: Underway,
    /// The time within which the client must receive more.
    stall_time: Duration,
    /// The time-out, which runs while the client receives nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Wire {
    pub(super) fn new(socket: TcpStream, underway: Underway, stall_time: Duration) -> Self {
        Self { socket: TokioIo::new(socket), underway, stall_time, stalled: None }
    }

    fn socket(&mut self) -> Pin<&mut TokioIo<TcpStream>> {
        Pin::new(&mut self.socket)
    }

    fn poll_send(
        &mut self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let held = self.underway.get();
        let Some(next) = held.as_deref().and_then(|held| Next::of(parts, held)) else {
            return self.socket().poll_write_vectored(context, parts);
        };
        let socket = self.socket.inner();
        loop {
            ready!(socket.poll_write_ready(context))?;
            match socket.try_io(Interest::WRITABLE, || next.send(socket)) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    }

    /// Fails if nothing could be sent for too long.
    fn in_time(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if sent.is_ready() {
            self.stalled = None;
            return sent;
        }
        let timer = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.stall_time)));
        timer.as_mut().poll(context).map(|()| {
            // With linger 0, the system drops what the client has not received.
            self.socket.inner().set_zero_linger()?;
            Err(ErrorKind::TimedOut.into())
        })
    }
}

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.socket().poll_read(context, into)
    }
}

impl Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        part: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = self.socket().poll_write(context, part);
        self.in_time(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = self.poll_send(context, parts);
        self.in_time(context, sent)
    }

    /// Forgets the document, because everything has been written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.underway.set(None);
        self.socket().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket().poll_shutdown(context)
    }
}

/// The next write: the rest of a response's head, and a part of a file.
struct Next<'parts> {
    head: &'parts [u8],
    held: &'parts FileBacked,
    offset: u64,
    bytes: usize,
}

impl<'parts> Next<'parts> {
    /// Returns none if the parts are not of the held document.
    fn of(parts: &'parts [IoSlice<'_>], held: &'parts FileBacked) -> Option<Self> {
        let (head, part): (&[u8], &[u8]) = match parts {
            [head, part, ..] if held.offset_of(head).is_none() => (head, part),
            [part, ..] => (&[], part),
            [] => return None,
        };
        Some(Self { head, held, offset: held.offset_of(part)?, bytes: part.len() })
    }

    /// Returns how many bytes the kernel has taken.
    fn send(&self, socket: &TcpStream) -> io::Result<usize> {
        let mut sent = 0;
        if !self.head.is_empty() {
            // More follows at once, so that no packet is for the head alone.
            sent = send(socket, self.head, SendFlags::MORE | SendFlags::NOSIGNAL)?;
            if sent < self.head.len() {
                return Ok(sent);
            }
        }
        let mut offset = self.offset;
        match sendfile(socket, self.held.file(), Some(&mut offset), self.bytes) {
            Ok(taken) => Ok(sent + taken),
            // The next attempt reports the error.
            Err(_) if sent > 0 => Ok(sent),
            Err(error) => Err(error.into()),
        }
    }
}
