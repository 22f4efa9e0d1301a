//! The downloads of people that run now: each has a file in memory, so there are few.

use portolan_vocabulary::{ErrorCode, Failure};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

/// The maximum number of downloads that run at once on a node. A person has one at a time.
const DOWNLOADS: usize = 8;
/// When a person is told to try again, in seconds.
const WAIT_S: u32 = 60;

/// The owners of the downloads that run now.
#[derive(Debug, Default)]
pub(crate) struct Downloads(Arc<Mutex<HashSet<String>>>);

/// A download that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Download {
    running: Arc<Mutex<HashSet<String>>>,
    owner_id: String,
}

impl Downloads {
    /// Begins the download of a person; `rate_limited` if one of theirs runs, or as many as a node has.
    pub(crate) fn begin(&self, owner_id: &str) -> Result<Download, Failure> {
        let refused = |message: &'static str| {
            Failure::new(ErrorCode::RateLimited).message(message).after_s(WAIT_S)
        };
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.contains(owner_id) {
            return Err(refused("A download of yours is running. Wait for its end."));
        }
        if running.len() >= DOWNLOADS {
            return Err(refused("Other people are downloading their data. Wait for their end."));
        }
        running.insert(owner_id.to_owned());
        drop(running);
        Ok(Download { running: Arc::clone(&self.0), owner_id: owner_id.to_owned() })
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.owner_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_one_download_and_a_node_a_few() {
        let downloads = Downloads::default();
        let begin = |number: usize| downloads.begin(&format!("own_{number}"));
        let first = begin(0).unwrap();
        assert_eq!(begin(0).unwrap_err().error_code, "rate_limited");
        let others: Vec<_> = (1..DOWNLOADS).map(|number| begin(number).unwrap()).collect();
        assert!(begin(DOWNLOADS).is_err());
        drop(first);
        assert!(begin(0).is_ok());
        assert!(begin(DOWNLOADS).is_ok());
        drop(others);
    }
}
