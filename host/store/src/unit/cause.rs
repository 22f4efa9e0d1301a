//! The cause of a refused request of a component, as far as the caller of the component may know
//! it.

use portolan_vocabulary::UndeclaredPerson;

/// The cause of a refused request that a caller or an operator can remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A document names this person outside the declared paths of its collection.
    UndeclaredPerson(UndeclaredPerson),
    /// No feeds are published on this host.
    NoFeeds,
}
