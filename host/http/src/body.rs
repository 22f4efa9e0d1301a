//! The body of a request, as every door gets it: it arrives in time or not at all, and what of it
//! nobody reads is read away, so that the answer reaches who still sends it, and the connection is
//! good for the next request.

use axum::{
    BoxError,
    body::{Body, Bytes, HttpBody},
    http::{Request, header::EXPECT},
};
use hyper::body::{Frame, Incoming, SizeHint};
use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    time::{Instant, Sleep, sleep_until, timeout_at},
};

/// Of a body that nobody wants, more than this is not read: the connection is closed instead.
const MOST_UNREAD_BYTES: usize = 1 << 20;

struct Arriving {
    /// None once it has ended, well or badly.
    body: Option<Incoming>,
    deadline: Instant,
    /// Set when there is something to wait for.
    timer: Option<Pin<Box<Sleep>>>,
    /// The client sends the body only when it is asked for it (RFC 9110, section 10.1.1).
    sent_when_asked: bool,
}

/// The request with a body that has `time` to arrive.
pub(super) fn arriving(request: Request<Incoming>, time: Duration) -> Request<Body> {
    if request.body().is_end_stream() {
        return request.map(|_none| Body::empty());
    }
    let sent_when_asked = request.headers().contains_key(EXPECT);
    request.map(|body| {
        let deadline = Instant::now() + time;
        Body::new(Arriving { body: Some(body), deadline, timer: None, sent_when_asked })
    })
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        this.sent_when_asked = false;
        match Pin::new(body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => return Poll::Ready(Some(Ok(frame))),
            Poll::Ready(ended) => {
                this.body = None;
                return Poll::Ready(ended.map(|it| it.map_err(BoxError::from)));
            }
            Poll::Pending => {}
        }
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep_until(this.deadline)));
        timer.as_mut().poll(context).map(|()| {
            this.body = None;
            Some(Err("the body did not arrive in time".into()))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let unread = self.body.take().filter(|body| !body.is_end_stream() && !self.sent_when_asked);
        if let (Some(unread), Ok(runtime)) = (unread, Handle::try_current()) {
            runtime.spawn(timeout_at(self.deadline, read_away(unread)));
        }
    }
}

async fn read_away(mut body: Incoming) {
    let mut read = 0;
    while let Some(Ok(frame)) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > MOST_UNREAD_BYTES {
            return;
        }
    }
}
