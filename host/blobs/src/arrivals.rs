//! The room for uploads that arrive now: so many at once, each once, and a few of each person.

use crate::error::BlobError;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of uploads of one person that arrive at once.
const OF_ONE_PERSON: usize = 2;

/// The uploads that arrive now.
#[derive(Debug)]
pub(crate) struct Arrivals {
    room: Arc<Semaphore>,
    /// The ids of their blobs, each with the id of the person.
    arriving: Mutex<BTreeMap<String, String>>,
}

/// The room of one upload. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Arrival {
    arrivals: Arc<Arrivals>,
    id: String,
    _room: OwnedSemaphorePermit,
}

impl Arrivals {
    pub(crate) fn new(at_once: u64) -> Self {
        let room = Arc::new(Semaphore::new(usize::try_from(at_once).unwrap_or(1)));
        Self { room, arriving: Mutex::default() }
    }

    /// Takes room for an upload. `Busy` if there is none, if it arrives already, or if the person has too many.
    pub(crate) fn begin(self: &Arc<Self>, id: &str, owner_id: &str) -> Result<Arrival, BlobError> {
        let mut arriving = self.arriving.lock().unwrap_or_else(PoisonError::into_inner);
        let of_person = arriving.values().filter(|owner| *owner == owner_id).count();
        if arriving.contains_key(id) || of_person >= OF_ONE_PERSON {
            return Err(BlobError::Busy);
        }
        let room = Arc::clone(&self.room).try_acquire_owned().map_err(|_| BlobError::Busy)?;
        arriving.insert(id.to_owned(), owner_id.to_owned());
        drop(arriving);
        Ok(Arrival { arrivals: Arc::clone(self), id: id.to_owned(), _room: room })
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        let mut arriving = self.arrivals.arriving.lock().unwrap_or_else(PoisonError::into_inner);
        arriving.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_or_person_does_not_take_the_room_of_others() {
        let arrivals = Arc::new(Arrivals::new(3));
        let first = arrivals.begin("a", "ada").unwrap();
        assert!(matches!(arrivals.begin("a", "ada"), Err(BlobError::Busy)));
        let _second = arrivals.begin("b", "ada").unwrap();
        assert!(matches!(arrivals.begin("c", "ada"), Err(BlobError::Busy)));
        let _of_another = arrivals.begin("d", "bo").unwrap();
        assert!(matches!(arrivals.begin("e", "cy"), Err(BlobError::Busy)));
        drop(first);
        arrivals.begin("a", "ada").unwrap();
    }
}
