//! Lists, page by page.

use crate::{
    Answer, Call, HostError, Next,
    documents::{Filter, Page, Query, Stored},
    secrets,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fields of an input that asks for a list: `#[serde(flatten)] page: PageInput`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PageInput {
    /// At most this many items.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: u32,
    /// The `next_cursor` of the page before, with the same other fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub cursor: Option<String>,
}

fn default_limit() -> u32 {
    20
}

impl PageInput {
    /// Returns the query for a filter, with the most recently changed document first, by `changed_at`.
    pub fn last_changed(self, filter: Filter) -> Query {
        Query::new().filter(filter).last("changed_at").page(self)
    }
}

impl Default for PageInput {
    fn default() -> Self {
        Self { limit: default_limit(), cursor: None }
    }
}

/// One page of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Items<T> {
    pub items: Vec<T>,
    /// Where the next page begins; null on the last one.
    pub next_cursor: Option<String>,
}

impl<T> Items<T> {
    /// Returns the list for an anonymous agent: empty, with the claim as the next step.
    pub fn unclaimed() -> Answer<Self> {
        Answer::new(Self { items: Vec::new(), next_cursor: None }).next(Next::claim())
    }

    /// Returns a list of the caller's own documents. For an anonymous agent it is empty, with the claim as
    /// the next step.
    pub fn own<E>(
        call: &Call,
        list: impl FnOnce(&str) -> Result<Self, E>,
    ) -> Result<Answer<Self>, E> {
        match call.owner_id() {
            Some(owner_id) => Ok(Answer::new(list(owner_id)?)),
            None => Ok(Self::unclaimed()),
        }
    }

    /// Returns the hits of a query, each as `view` shows it.
    pub fn of<D>(page: Page<D>, view: impl Fn(Stored<D>) -> T) -> Self {
        Self {
            items: page.hits.into_iter().map(|hit| view(hit.document)).collect(),
            next_cursor: page.next,
        }
    }

    /// Returns the hits of a query, each as `view` shows it, or the first error of `view`.
    pub fn try_of<D, E>(
        page: Page<D>,
        view: impl Fn(Stored<D>) -> Result<T, E>,
    ) -> Result<Self, E> {
        let items = page.hits.into_iter().map(|hit| view(hit.document));
        Ok(Self { items: items.collect::<Result<_, _>>()?, next_cursor: page.next })
    }
}

/// Returns a cursor for a list that the capability puts together itself: `last`, where the page
/// ends, signed for the query.
pub fn close_cursor(last: &str, query: &str) -> Result<String, HostError> {
    let mac = secrets::mac(format!("{query} {last}").as_bytes())?;
    let digits: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{digits}.{last}"))
}

/// Returns the `last` of a cursor that [`close_cursor`] made. Fails with [`HostError::BadCursor`]
/// (`cursor_invalid`) if the cursor was not made for this query.
pub fn open_cursor(cursor: &str, query: &str) -> Result<String, HostError> {
    let (digits, last) = cursor.split_once('.').ok_or(HostError::BadCursor)?;
    let macs = secrets::macs(format!("{query} {last}").as_bytes())?;
    let hex = |mac: Vec<u8>| mac.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match macs.into_iter().any(|mac| is_same(&hex(mac), digits)) {
        true => Ok(last.to_owned()),
        false => Err(HostError::BadCursor),
    }
}

/// Compares two texts in a time that does not depend on where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contract::Caller, documents::Hit};

    fn page() -> Page<u32> {
        let hit = |value| Hit {
            document: Stored::new("id", value, 0),
            relevance: None,
            distance_m: None,
        };
        Page { hits: vec![hit(1), hit(2)], next: Some("more".into()) }
    }

    #[test]
    fn only_the_same_text_is_the_same() {
        assert!(is_same("0a1b", "0a1b") && is_same("", ""));
        for other in ["0a1c", "1a1b", "0a1", "0a1b0", ""] {
            assert!(!is_same("0a1b", other), "{other}");
        }
    }

    #[test]
    fn a_page_becomes_items_with_its_cursor() {
        let items = Items::of(page(), |document| document.value * 10);
        assert_eq!((items.items, items.next_cursor.as_deref()), (vec![10, 20], Some("more")));
        let view = |document: Stored<u32>| if document.value < 2 { Ok(()) } else { Err("refused") };
        assert_eq!(Items::try_of(page(), view).unwrap_err(), "refused");
    }

    #[test]
    fn nobody_has_an_empty_list_and_the_way_to_a_claim() {
        let call = Call::new(Caller::System);
        let list = |_: &str| -> Result<Items<u32>, ()> { Err(()) };
        let (items, next) = Items::own(&call, list).unwrap().into_parts();
        assert!(items.items.is_empty());
        assert_eq!(crate::to_value(&next)["capability"], "svc.phone-binding");
    }
}
