//! Why a request of a component was refused, as far as the caller of the component is concerned.

use portolan_vocabulary::UndeclaredPerson;

/// The cause of a refused request that a caller or an operator can remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A document names this person outside the declared paths of its collection.
    UndeclaredPerson(UndeclaredPerson),
    /// No feeds are published on this host.
    NoFeeds,
}
