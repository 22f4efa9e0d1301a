//! The capability's own documents: JSON objects with an id and a revision, in typed collections.
//!
//! A collection is declared once, with the type of its documents. The declaration is used for the
//! descriptor and for access:
//!
//! ```no_run
//! use portolan_sdk::{documents::{Direction, Page}, prelude::*};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Book {
//!     title: String,
//!     price: u32,
//! }
//!
//! const BOOKS: Collection<Book> = Collection::new("books")
//!     .unique("title", &["title"])
//!     .index("price", &["price"])
//!     .text(&["title"])
//!     .nobody();
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Change {
//!     id: String,
//!     price: u32,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Books {
//!     books: Vec<Book>,
//!     next: Option<String>,
//! }
//!
//! #[derive(Refusals)]
//! enum ShopError {
//!     /// There is no such book.
//!     #[refusal(not_found)]
//!     BookNotFound,
//!     #[refusal(transparent)]
//!     Common(Refusal),
//! }
//!
//! struct Shop;
//!
//! /// Sells books.
//! #[capability(id = "shop", title = "Shop", collections = [BOOKS])]
//! impl Shop {
//!     /// Change a price.
//!     #[action(access = write)]
//!     fn reprice(_call: &Call, input: Change) -> Result<Book, ShopError> {
//!         let mut book = BOOKS.get(&input.id)?.ok_or(ShopError::BookNotFound)?;
//!         book.value.price = input.price;
//!         BOOKS.save(&mut book)?;
//!         Ok(book.value)
//!     }
//!
//!     /// List the cheap ones.
//!     #[action(access = read)]
//!     fn cheap(_call: &Call) -> Result<Books, Refusal> {
//!         let query = Query::new()
//!             .filter(field("price").lt(10))
//!             .order_by("price", Direction::Ascending)
//!             .limit(20);
//!         let Page { hits, next } = BOOKS.find(query)?;
//!         Ok(Books { books: hits.into_iter().map(|hit| hit.document.value).collect(), next })
//!     }
//! }
//! ```

pub(crate) mod collection;
mod filter;
mod open;
mod person;
mod query;

pub use crate::contract::documents::Expectation as Expect;
pub use collection::{Collection, Stored};
pub use filter::{Field, Filter, all_of, any_of, field, not};
pub use open::OpenIds;
pub use person::{Person, PersonalField};
pub use query::{Circle, Counted, Direction, Hit, NoWords, Page, Query, Rectangle, ensure_words};

/// The expectation of a revision that an agent may have sent. Without one, any revision is
/// accepted.
impl From<Option<u64>> for Expect {
    fn from(revision: Option<u64>) -> Self {
        revision.map_or(Self::Any, Self::Revision)
    }
}
