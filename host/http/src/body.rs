//! The body of a request: it must arrive before a deadline. Bytes that the handler does not read are
//! drained, so that a client that is still sending gets the answer, and the connection can be used
//! again.

use axum::{
    BoxError,
    body::{Body, Bytes, HttpBody},
    http::{Request, header::EXPECT},
};
use hyper::body::{Frame, Incoming, SizeHint};
use std::{
    error::Error,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    time::{Instant, Sleep, sleep_until, timeout_at},
};

/// The maximum number of bytes that are drained of an unread body. After more, the connection is closed.
const MAX_DRAINED_BYTES: usize = 1 << 20;

/// The body has missed its deadline.
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
struct BodyTooSlow;

/// Returns whether an error of a body is a missed deadline.
pub(super) fn is_too_slow(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<BodyTooSlow>() {
            return true;
        }
        next = error.source();
    }
    false
}

struct TimedBody {
    /// `None` after the end of the body or an error, such as a missed deadline.
    body: Option<Incoming>,
    deadline: Instant,
    /// Set at the first wait, so that a body that has already arrived costs no timer.
    timer: Option<Pin<Box<Sleep>>>,
    /// The client sends the body only after `100 Continue` (RFC 9110, section 10.1.1).
    expects_continue: bool,
}

/// Returns the request with a body that must arrive within `time`.
pub(super) fn with_timed_body(request: Request<Incoming>, time: Duration) -> Request<Body> {
    if request.body().is_end_stream() {
        return request.map(|_none| Body::empty());
    }
    let expects_continue = request.headers().contains_key(EXPECT);
    request.map(|body| {
        let deadline = Instant::now() + time;
        Body::new(TimedBody { body: Some(body), deadline, timer: None, expects_continue })
    })
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        this.expects_continue = false;
        match Pin::new(body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => return Poll::Ready(Some(Ok(frame))),
            Poll::Ready(ended) => {
                this.body = None;
                return Poll::Ready(ended.map(|frame| frame.map_err(BoxError::from)));
            }
            Poll::Pending => {}
        }
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep_until(this.deadline)));
        timer.as_mut().poll(context).map(|()| {
            this.body = None;
            Some(Err(BodyTooSlow.into()))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for TimedBody {
    fn drop(&mut self) {
        let unread =
            self.body.take().filter(|body| !body.is_end_stream() && !self.expects_continue);
        if let (Some(unread), Ok(runtime)) = (unread, Handle::try_current()) {
            runtime.spawn(timeout_at(self.deadline, drain_body(unread)));
        }
    }
}

async fn drain_body(mut body: Incoming) {
    let mut drained = 0;
    while let Some(Ok(frame)) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        drained += frame.data_ref().map_or(0, Bytes::len);
        if drained > MAX_DRAINED_BYTES {
            return;
        }
    }
}
