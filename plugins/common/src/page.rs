//! Lists, page by page.

use crate::caller::claim_first;
use portolan_sdk::{
    documents::{Direction, Filter, Page},
    prelude::*,
};

/// The fields of an input that asks for a list: `#[serde(flatten)] page: PageInput`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PageInput {
    /// At most so many items.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: u32,
    /// `next_cursor` of the page before, of the same request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub cursor: Option<String>,
}

fn default_limit() -> u32 {
    20
}

impl PageInput {
    /// What fits, the last changed first, by `changed_at`.
    pub fn last_changed(self, filter: Filter) -> Query {
        Query::new()
            .filter(filter)
            .order_by("changed_at", Direction::Descending)
            .limit(self.limit)
            .cursor(self.cursor)
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
    /// Of an agent that nobody has claimed: it has nothing yet, and is shown the way to a claim.
    pub fn of_nobody() -> Answer<Self> {
        Answer::new(Self { items: Vec::new(), next_cursor: None }).next(claim_first())
    }

    /// Of what a query found.
    pub fn of<D>(page: Page<D>, view: impl Fn(Stored<D>) -> T) -> Self {
        Self {
            items: page.hits.into_iter().map(|hit| view(hit.document)).collect(),
            next_cursor: page.next,
        }
    }
}
