//! The consequence of an action for the person of its caller.

use serde::Serialize;

/// The annotation of the capability or of an action with what it brings about: `consequence = …`.
pub const CONSEQUENCE: &str = "portolan/consequence";

/// The annotation of an action that only a person makes, on a page of the host: `by_person`.
pub const BY_PERSON: &str = "portolan/by_person";

/// The consequence of an action, with the paths of dotted names in its input by which the person may want to decide.
///
/// ```
/// # use portolan_sdk::Consequence;
/// // On the action that sends credits, and on the one that proposes something to the owner of a listing.
/// const SEND: Consequence = Consequence::of("payment").about(&["to"]).amount("amount");
/// const PROPOSE: Consequence = Consequence::of("proposal").about(&["listing_id"]).first_contact();
/// # let _ = (SEND, PROPOSE);
/// ```
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Consequence {
    category: &'static str,
    #[serde(skip_serializing_if = "is_empty")]
    counterpart: &'static [&'static str],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    first_contact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'static str>,
}

fn is_empty(paths: &&[&str]) -> bool {
    paths.is_empty()
}

impl Consequence {
    /// Makes one of a category, such as `message`.
    pub const fn of(category: &'static str) -> Self {
        Self { category, counterpart: &[], first_contact: false, amount: None, currency: None }
    }

    /// Sets the paths of the ids of the people and things that it is about.
    #[must_use]
    pub const fn about(mut self, paths: &'static [&'static str]) -> Self {
        self.counterpart = paths;
        self
    }

    /// Says that it can reach people with whom the person has had nothing to do.
    #[must_use]
    pub const fn first_contact(mut self) -> Self {
        self.first_contact = true;
        self
    }

    /// Sets the path of the amount that it spends: credits, unless there is a currency.
    #[must_use]
    pub const fn amount(mut self, path: &'static str) -> Self {
        self.amount = Some(path);
        self
    }

    /// Sets the path of the currency of the amount.
    #[must_use]
    pub const fn currency(mut self, path: &'static str) -> Self {
        self.currency = Some(path);
        self
    }
}
