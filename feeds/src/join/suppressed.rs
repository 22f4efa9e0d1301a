//! Removes what people and companies object to from joined records.

use super::Joined;
use crate::objections::Suppression;
use serde::{Serialize, de::DeserializeOwned};

impl Joined {
    /// Removes records to which somebody objects, and the names of people who do from all others.
    pub(super) fn suppress(&mut self, suppression: &Suppression) {
        if suppression.is_empty() {
            return;
        }
        filter(&mut self.targets, suppression);
        filter(&mut self.signals, suppression);
        filter(&mut self.events, suppression);
        filter(&mut self.roles, suppression);
        filter(&mut self.people, suppression);
        filter(&mut self.posts, suppression);
    }
}

/// Filters records of one kind, one by one. A record that cannot be read afterwards is removed.
fn filter<T: Serialize + DeserializeOwned>(records: &mut Vec<T>, suppression: &Suppression) {
    let filtered = |record: T| {
        let value = serde_json::to_value(&record).ok()?;
        match suppression.filtered(value.clone())? {
            kept if kept == value => Some(record),
            changed => serde_json::from_value(changed).ok(),
        }
    };
    *records = std::mem::take(records).into_iter().filter_map(filtered).collect();
}
