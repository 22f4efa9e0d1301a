//! The activity of a connection: it waits for a request, or it answers one. A waiting connection can be
//! closed to make room for another.

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};
use tokio::{sync::Notify, time::Instant};

/// The state of a connection that answers a request.
const ANSWERING: u64 = u64::MAX;
/// The state of a connection whose answer is written and may not be sent yet.
const WRITTEN: u64 = u64::MAX - 1;
/// The state of a connection that is being closed to make room.
const CLOSING: u64 = u64::MAX - 2;

/// The activity of one connection.
#[derive(Debug)]
pub(super) struct Activity {
    /// The instant from which times are counted.
    base: Instant,
    /// A state above, or, while the connection waits for a request, since when: microseconds after `base`.
    state: AtomicU64,
    has_request: AtomicBool,
    closing: Notify,
}

/// A request that is being answered. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Answering(Arc<Activity>);

impl Activity {
    /// Returns the activity of a new connection, which waits for its first request.
    pub(super) fn new(base: Instant) -> Arc<Self> {
        Arc::new(Self {
            base,
            state: AtomicU64::new(since(base)),
            has_request: AtomicBool::new(false),
            closing: Notify::new(),
        })
    }

    /// Notes that the head of a request has arrived.
    pub(super) fn answer(self: &Arc<Self>) -> Answering {
        self.has_request.store(true, Ordering::Release);
        self.state.store(ANSWERING, Ordering::Release);
        Answering(Arc::clone(self))
    }

    /// Notes that everything written has been sent.
    pub(super) fn set_sent(&self) {
        if self.state.load(Ordering::Acquire) == WRITTEN {
            // A request that has arrived meanwhile is already being answered.
            let _changed = self.state.compare_exchange(
                WRITTEN,
                since(self.base),
                Ordering::AcqRel,
                Ordering::Acquire,
            );
        }
    }

    /// Returns whether the head of a request has ever arrived.
    pub(super) fn has_request(&self) -> bool {
        self.has_request.load(Ordering::Acquire)
    }

    /// Returns since when the connection has waited for a request; `None` if it does not wait.
    pub(super) fn waiting_since(&self) -> Option<u64> {
        Some(self.state.load(Ordering::Acquire)).filter(|state| *state < CLOSING)
    }

    /// Closes the connection if it still waits. Returns whether it does.
    pub(super) fn close_if_waiting_since(&self, since: u64) -> bool {
        let closes = self
            .state
            .compare_exchange(since, CLOSING, Ordering::AcqRel, Ordering::Acquire)
            .is_ok();
        if closes {
            self.closing.notify_one();
        }
        closes
    }

    /// Completes when the connection is to be closed.
    pub(super) async fn closing(&self) {
        self.closing.notified().await;
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.state.store(WRITTEN, Ordering::Release);
    }
}

fn since(base: Instant) -> u64 {
    u64::try_from(base.elapsed().as_micros()).unwrap_or(0)
}

/// The body of a response. The request counts as in progress until this is dropped.
pub(super) struct AnswerBody {
    body: Body,
    _answering: Answering,
}

impl AnswerBody {
    pub(super) fn new(body: Body, answering: Answering) -> Self {
        Self { body, _answering: answering }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
