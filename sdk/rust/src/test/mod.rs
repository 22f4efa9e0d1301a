//! A world for unit tests, in which actions run without a host: its documents, its clock, its randomness,
//! and the answers of other capabilities.
//!
//! ```
//! use portolan_sdk::{prelude::*, test};
//!
//! #[document]
//! struct Book {
//!     title: String,
//!     keeper: String,
//! }
//!
//! const BOOKS: Collection<Book> = Collection::new("books").unique("title", &["title"]);
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct NewBook {
//!     title: String,
//! }
//!
//! struct Shelf;
//!
//! /// Keeps books.
//! #[capability(id = "shelf", version = "1.0.0", title = "Shelf", collections = [BOOKS])]
//! impl Shelf {
//!     /// Add a book.
//!     #[action(access = write)]
//!     fn add(call: &Call, input: NewBook) -> Result<NoOutput, Refusal> {
//!         let keeper = call.require_owner()?.to_owned();
//!         BOOKS.add(call.new_id("book"), Book { title: input.title, keeper }, call.now())?;
//!         Ok(NoOutput {})
//!     }
//! }
//!
//! let mut world = test::world().of::<Shelf>().owner("own_1").at("2026-03-01T09:00:00Z").seed(7);
//! world.run(|call| Shelf::add(call, NewBook { title: "Momo".into() })).unwrap();
//! let books = world.documents(BOOKS);
//! assert_eq!((books[0].value.title.as_str(), books[0].value.keeper.as_str()), ("Momo", "own_1"));
//! ```
//!
//! The module exists only with the feature `test`, and on any target except WebAssembly:
//!
//! ```toml
//! [dev-dependencies]
//! portolan-sdk = { version = "…", features = ["test"] }
//! ```
//!
//! Documents, filters, orders and unique indexes work as on the host, and so do the records of feeds, but
//! every relevance is 0 and only records with all words are found. A world without a record has no feeds.
//! Like the host, a world keeps what an action writes only if the action succeeds. It does not
//! validate inputs and outputs against their schemas, and does not check who may call an action:
//! `portolan test` does.

mod documents;
mod effects;
mod feeds;
mod secrets;
mod state;
mod world;

pub use effects::{Asked, Logged, Lookup, PeopleRequest, Published, Question, Timer};
pub use world::{Instant, World};

/// Returns a world without documents, whose caller is an agent that a person has claimed.
pub fn world() -> World {
    World::new()
}
