//! Events for agents and for other capabilities.
//!
//! An event type is declared once, with the type of its data, and listed in `emits` of the actions that
//! publish it. An action of access `internal` subscribes with `on`:
//!
//! ```no_run
//! use portolan_sdk::{events::{Audience, Event, Happened}, prelude::*};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Sale {
//!     book: String,
//! }
//!
//! const SOLD: Event<Sale> = Event::new("shop.sold");
//!
//! struct Shop;
//!
//! /// Sells books.
//! #[capability(id = "shop", title = "Shop")]
//! impl Shop {
//!     /// Sell a book.
//!     #[action(access = write, emits = [SOLD])]
//!     fn sell(call: &Call, input: Sale) -> Result<Sale, Refusal> {
//!         if let Some(owner) = call.owner_id() {
//!             SOLD.publish(Audience::Owner(owner.into()), format!("books/{}", input.book), &input)?;
//!         }
//!         Ok(input)
//!     }
//!
//!     /// Note that another shop has closed.
//!     #[action(access = internal, on = "other_shop.closed")]
//!     fn on_closed(_call: &Call, event: Happened<Sale>) -> Result<NoOutput, Refusal> {
//!         log::info!("{} closed", event.subject);
//!         Ok(NoOutput {})
//!     }
//! }
//! ```

mod data;

pub use crate::contract::events::Audience;
pub use data::{Data, Nothing, Resource};

use crate::contract::{HostError, description, events as host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, marker::PhantomData};

/// A type of events whose data is a `T`, declared as a constant.
pub struct Event<T> {
    event_type: &'static str,
    sensitive: bool,
    data: PhantomData<fn(&T)>,
}

impl<T> Event<T> {
    /// Declares a sensitive type of events with this dotted name, such as `pairing.replied`. Capabilities of
    /// other publishers receive it only with the operator's approval.
    pub const fn new(event_type: &'static str) -> Self {
        Self { event_type, sensitive: true, data: PhantomData }
    }

    /// Allows every capability to subscribe to this type.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.sensitive = false;
        self
    }

    /// Returns the descriptor's record of this type.
    pub fn publication(&self) -> description::Publication {
        description::Publication { event_type: self.event_type.into(), sensitive: self.sensitive }
    }
}

impl<T: Serialize> Event<T> {
    /// Publishes an event when the call commits. It is delivered at least once to its audience, and to
    /// every subscribed capability. Events of one subject, such as `books/7`, are delivered in their order.
    ///
    /// The data is a JSON object under 20 KB, without contact data; the running action must list
    /// the type in its `emits`.
    pub fn publish(
        &self,
        to: Audience,
        subject: impl Into<String>,
        data: &T,
    ) -> Result<(), HostError> {
        let event = host::Event {
            event_type: self.event_type.into(),
            subject: subject.into(),
            data: crate::to_json(data),
        };
        host::publish(&to, &event)
    }
}

/// The input of a subscribed action. The same event can be delivered more than once; its id tells.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Happened<T> {
    /// The event's id, which is the same at every delivery.
    pub id: Option<String>,
    pub event_type: String,
    pub subject: String,
    pub data: T,
}

impl<T> From<Event<T>> for String {
    fn from(event: Event<T>) -> Self {
        event.event_type.into()
    }
}

impl<T> Clone for Event<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Event<T> {}

impl<T> fmt::Debug for Event<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Event").field(&self.event_type).finish()
    }
}
