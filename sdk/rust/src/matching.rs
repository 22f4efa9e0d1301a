//! Queries over documents in memory: whether a document fits a query, as the host would answer.
//!
//! With it, a capability stores queries and tries them against each new document, instead of
//! repeating them. The feature `matching` adds this module.
//!
//! ```
//! use portolan_sdk::{matching::Index, prelude::*};
//!
//! const BOOKS: Collection<Value> =
//!     Collection::new("books").index("price", &["price"]).text(&["title"]).nobody();
//!
//! let index = Index::of(&BOOKS).unwrap();
//! let momo = index.document(&json!({ "title": "Momo", "price": 8 })).unwrap();
//! let cheap = Query::new().filter(field("price").lt(10));
//! assert!(index.fits(cheap.clone().text("momo".to_owned()), &momo).unwrap());
//! assert!(!index.fits(cheap.text("solaris".to_owned()), &momo).unwrap());
//! ```

use crate::{
    contract::{HostError, documents as host},
    documents::{Collection, Query},
    index::{check, invalid, shape},
};
use portolan_query::{Entry, Shape};
use serde::Serialize;

/// The index of a collection, by its declaration.
#[derive(Debug)]
pub struct Index(Shape);

/// A document as the index has it.
#[derive(Debug)]
pub struct Indexed(Entry);

impl Index {
    /// Returns the index that a collection declares, which may be another capability's.
    pub fn of<T>(collection: &Collection<T>) -> Result<Self, HostError> {
        shape(&collection.declaration()).map(Self).map_err(HostError::Invalid)
    }

    /// Indexes a document of the collection. Fails if the host would refuse to store it.
    pub fn document(&self, document: &impl Serialize) -> Result<Indexed, HostError> {
        let entry = self.0.entry(&crate::to_value(document));
        entry.map(Indexed).map_err(|error| invalid(&error))
    }

    /// Returns whether a document fits all conditions of a query and has all words of its text.
    /// Fails if the collection cannot answer the query.
    pub fn fits(&self, query: Query, document: &Indexed) -> Result<bool, HostError> {
        let query = check(&self.0, &host::Query::from(query))?;
        Ok(query.matches(&document.0).is_some())
    }
}

impl Indexed {
    /// Returns the terms of the document's texts, by which queries for words find it.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.0.words.iter().flatten().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Circle, field};
    use serde_json::json;

    const FLATS: Collection<()> =
        Collection::new("flats").index("rooms", &["rooms"]).text(&["title"]).geo("lat", "lng");

    #[test]
    fn a_document_fits_a_query_if_every_condition_holds() {
        let index = Index::of(&FLATS).unwrap();
        let flat = json!({ "rooms": 3, "title": "Quiet flats", "lat": 52.5, "lng": 13.4 });
        let flat = index.document(&flat).unwrap();
        let near = |radius_m| Circle { latitude: 52.51, longitude: 13.4, radius_m };
        let query = || Query::new().filter(field("rooms").gte(3)).text("a flat".to_owned());
        for (query, fits) in [
            (query().near(near(2_000.0)), true),
            (query().near(near(1_000.0)), false),
            (query().filter(field("rooms").gte(4)), false),
            (query().text("flat garden".to_owned()).last("relevance"), false),
        ] {
            assert_eq!(index.fits(query.clone(), &flat).unwrap(), fits, "{query:?}");
        }
        let terms: Vec<_> = flat.terms().collect();
        assert!(terms.contains(&"flat"), "{terms:?}");
    }

    #[test]
    fn what_the_host_would_refuse_fails() {
        let index = Index::of(&FLATS).unwrap();
        assert!(index.document(&json!({ "lat": 52.5 })).is_err());
        let flat = index.document(&json!({})).unwrap();
        assert!(index.fits(Query::new().filter(field("price").eq(1)), &flat).is_err());
    }
}
