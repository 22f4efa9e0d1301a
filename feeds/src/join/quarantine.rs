//! Removes records that are not valid, with the records that belong to them and all references to them.

use super::Joined;
use crate::record::{Event, Feature, Role, Signal, SocialItem};
use std::collections::{BTreeMap, BTreeSet};

/// The reason for each record that is removed, by its id.
pub type Reasons = BTreeMap<String, String>;

fn keep_first<T>(records: &mut Vec<T>, id: impl Fn(&T) -> &String, removed: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    records.retain(|record| {
        let is_first = seen.insert(id(record).clone());
        if !is_first {
            removed.push(id(record).clone());
        }
        is_first
    });
}

impl Joined {
    /// Removes all but the first of the records with one id, and returns the ids.
    pub fn remove_duplicates(&mut self) -> Vec<String> {
        let mut removed = Vec::new();
        keep_first(&mut self.targets, |record| &record.id, &mut removed);
        keep_first(&mut self.signals, |record| &record.id, &mut removed);
        keep_first(&mut self.events, |record| &record.id, &mut removed);
        keep_first(&mut self.roles, |record| &record.id, &mut removed);
        keep_first(&mut self.people, |record| &record.id, &mut removed);
        keep_first(&mut self.posts, |record| &record.id, &mut removed);
        removed
    }

    /// Removes the source at this position from a signal that stands without it, and returns the source's id and
    /// address.
    pub fn remove_source(&mut self, signal_id: &str, position: usize) -> Option<(String, String)> {
        let signal = self.signals.iter_mut().find(|signal| signal.id == signal_id)?;
        let id = &signal.sources.get(position)?.id;
        let is_needed = signal.sources.len() == 1
            || signal.maturity_history.iter().any(|step| step.source_id.as_ref() == Some(id));
        if is_needed {
            return None;
        }
        let source = signal.sources.remove(position);
        if let Some(funding) = &mut signal.funding {
            funding.filing_ref = funding.filing_ref.take().filter(|id| *id != source.id);
        }
        Some((source.id, source.url))
    }

    /// Removes these records. The records of a removed target are removed and added to the reasons.
    pub fn remove(&mut self, reasons: &mut Reasons) {
        let of_targets = (self.signals.iter().map(|one| (&one.id, &one.target_id)))
            .chain(self.roles.iter().map(|one| (&one.id, &one.target_id)))
            .chain(self.people.iter().map(|one| (&one.id, &one.target_id)))
            .chain(self.posts.iter().map(|one| (&one.id, &one.target_id)));
        let orphans: Vec<String> = of_targets
            .filter(|(_, target)| reasons.contains_key(*target))
            .map(|(id, _)| id.clone())
            .collect();
        for id in orphans {
            reasons.entry(id).or_insert_with(|| "its target is not published".to_owned());
        }
        let is_left = |id: &String| !reasons.contains_key(id);
        self.targets.retain(|record| is_left(&record.id));
        self.signals.retain(|record| is_left(&record.id));
        self.events.retain(|record| is_left(&record.id));
        self.roles.retain(|record| is_left(&record.id));
        self.people.retain(|record| is_left(&record.id));
        self.posts.retain(|record| is_left(&record.id));
        let mut open = BTreeMap::new();
        for Role { target_id, .. } in &self.roles {
            *open.entry(target_id.clone()).or_insert(0) += 1;
        }
        for Feature { id, properties, .. } in &mut self.targets {
            properties.people_ids.retain(is_left);
            properties.signal_ids.retain(is_left);
            properties.open_roles_count = open.get(id).copied().unwrap_or(0);
        }
        for Signal { hiring, funding, .. } in &mut self.signals {
            if let Some(hiring) = hiring {
                let before = hiring.role_ids.len();
                hiring.role_ids.retain(is_left);
                let gone = u32::try_from(before - hiring.role_ids.len()).unwrap_or(u32::MAX);
                hiring.role_count = hiring.role_count.saturating_sub(gone);
            }
            for investor in funding.iter_mut().flat_map(|funding| &mut funding.investors) {
                investor.target_id = investor.target_id.take().filter(is_left);
            }
        }
        for Event { map, .. } in &mut self.events {
            map.target_ids.retain(is_left);
            map.people_ids.retain(is_left);
            map.signal_id = map.signal_id.take().filter(is_left);
        }
        for SocialItem { supports_signal_ids, .. } in &mut self.posts {
            supports_signal_ids.retain(is_left);
        }
    }
}
