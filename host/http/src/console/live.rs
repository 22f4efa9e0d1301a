//! `GET /console/live/{page}`: the part of a page that changes, as a server-sent event whenever it has changed.

use super::{calls, failure, overview, state::Console, visitor::Visitor};
use axum::{
    extract::{Path, State},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use portolan_vocabulary::{ErrorCode, Failure, Operator};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::sync::OwnedSemaphorePermit;

/// The number of looks after which the browser has to ask again.
const MAX_LOOKS: u32 = 100;

/// A page with a part that changes.
#[derive(Debug, Clone, Copy)]
enum LivePage {
    Overview,
    Calls,
}

impl LivePage {
    fn named(name: &str) -> Option<Self> {
        match name {
            "overview" => Some(Self::Overview),
            "calls" => Some(Self::Calls),
            _ => None,
        }
    }

    /// Returns the time between two looks. The problems are read from the database, and the recent calls are in memory.
    const fn interval(self) -> Duration {
        match self {
            Self::Overview => Duration::from_secs(10),
            Self::Calls => Duration::from_secs(2),
        }
    }

    async fn render(self, console: &Console, operator: &Operator) -> Result<String, Failure> {
        match self {
            Self::Overview => overview::live(console, operator).await,
            Self::Calls => calls::live(console, operator).await,
        }
    }
}

/// The reader of a page.
struct Reader {
    console: Arc<Console>,
    cookie: String,
    page: LivePage,
    /// The content that the browser has.
    sent: String,
    looks: u32,
    _place: OwnedSemaphorePermit,
}

impl Reader {
    /// Returns the part of the page when it has changed; `None` when the session has ended, the host stops, or
    /// it is time to ask again.
    async fn next(&mut self) -> Option<Event> {
        while self.looks < MAX_LOOKS {
            if self.looks > 0 {
                tokio::time::sleep(self.page.interval()).await;
            }
            self.looks += 1;
            if self.console.app.host.events.is_stopping() {
                return None;
            }
            // The session may have ended meanwhile.
            let visitor = Visitor::of_cookie(&self.console, &self.cookie).await.ok()??;
            let text = self.page.render(&self.console, &visitor.operator).await.ok()?;
            if text != self.sent {
                let event = Event::default().json_data(&text).ok()?;
                self.sent = text;
                return Some(event);
            }
        }
        None
    }
}

pub(super) async fn stream(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    let Some(page) = LivePage::named(&name) else { return failure::no_such_page().await };
    let Ok(place) = Arc::clone(&console.live).try_acquire_owned() else {
        let message = "Too many live pages are open. Reload the page to see what has changed.";
        return failure::page_of(
            &Failure::new(ErrorCode::RateLimited).message(message).after_s(60),
        );
    };
    let reader = Reader {
        console,
        cookie: visitor.cookie,
        page,
        sent: String::new(),
        looks: 0,
        _place: place,
    };
    let events = stream::unfold(reader, |mut reader| async move {
        let event = reader.next().await?;
        Some((Ok::<_, Infallible>(event), reader))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
