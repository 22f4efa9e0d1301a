//! What was last read from each source. It is stored with the feeds, so that a source that fails, or
//! returns wrong data, does not remove its records from the map.

use crate::{
    board::Posting, directory::Listed, join::Knowledge, registry::Organisation, syndication::Item,
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// After it was missing from this many readings in a row, a role is removed.
const GONE: u32 = 2;
/// How many entries of one feed are kept.
const MOST_ITEMS: usize = 500;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    pub sources: BTreeMap<String, Kept>,
    /// What people have said about signals, as of the last build.
    #[serde(default)]
    pub knowledge: Knowledge,
}

/// What is known about one source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    pub records: Records,
    /// When the records were last read.
    pub read_at: Option<Timestamp>,
    /// Since when the source cannot be read, and why.
    pub failing: Option<Failing>,
    /// One error for each record that could not be read the last time.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    pub since: Timestamp,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Records {
    Organisations(Vec<Organisation>),
    Listed(Vec<Listed>),
    Postings(Vec<Held>),
    Items(Vec<Item>),
}

/// A posting, and the number of readings in a row from which it was missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    pub posting: Posting,
    pub missing: u32,
}

/// What one reading of a source returned.
#[derive(Debug)]
pub struct Told {
    pub records: Records,
    pub faults: Vec<String>,
}

impl Records {
    pub fn len(&self) -> usize {
        match self {
            Self::Organisations(all) => all.len(),
            Self::Listed(all) => all.len(),
            Self::Postings(all) => all.len(),
            Self::Items(all) => all.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an empty list of the same kind.
    pub fn none_like(&self) -> Self {
        match self {
            Self::Organisations(_) => Self::Organisations(Vec::new()),
            Self::Listed(_) => Self::Listed(Vec::new()),
            Self::Postings(_) => Self::Postings(Vec::new()),
            Self::Items(_) => Self::Items(Vec::new()),
        }
    }
}

impl Kept {
    /// Returns the new state of a source: the result of this reading, joined with the former state.
    pub fn after(
        former: Option<Self>,
        asked: Result<Told, String>,
        none: &Records,
        now: Timestamp,
    ) -> Self {
        let former = former
            .filter(|kept| std::mem::discriminant(&kept.records) == std::mem::discriminant(none));
        match asked.and_then(|told| credible(told, former.as_ref())) {
            Ok(Told { records, faults }) => Self {
                records: match former {
                    Some(former) => joined(records, former.records, faults.is_empty(), now),
                    None => joined(records, none.clone(), faults.is_empty(), now),
                },
                read_at: Some(now),
                failing: None,
                faults,
            },
            Err(reason) => {
                let since = former
                    .as_ref()
                    .and_then(|kept| kept.failing.as_ref())
                    .map_or(now, |failing| failing.since);
                let failing = Some(Failing { since, reason });
                match former {
                    Some(former) => Self { failing, ..former },
                    None => {
                        Self { records: none.clone(), read_at: None, failing, faults: Vec::new() }
                    }
                }
            }
        }
    }
}

/// Refuses an empty registry or directory that was not empty before.
fn credible(told: Told, former: Option<&Kept>) -> Result<Told, String> {
    let whole = matches!(told.records, Records::Organisations(_) | Records::Listed(_));
    let had = former.is_some_and(|kept| !kept.records.is_empty());
    match whole && had && told.records.is_empty() {
        true => Err("it is empty, but was not before; what was read before stays".to_owned()),
        false => Ok(told),
    }
}

/// Joins new with former records. `whole`: every record could be read, so a record that is missing here
/// is missing from the source.
fn joined(new: Records, former: Records, whole: bool, now: Timestamp) -> Records {
    match (new, former) {
        (Records::Postings(mut new), Records::Postings(former)) => {
            for mut held in former {
                if new.iter().any(|fresh| fresh.posting.external_id == held.posting.external_id) {
                    continue;
                }
                held.missing += u32::from(whole);
                if held.missing < GONE {
                    new.push(held);
                }
            }
            Records::Postings(new)
        }
        (Records::Items(mut new), Records::Items(former)) => {
            for item in &mut new {
                let before = former
                    .iter()
                    .find(|older| older.key == item.key)
                    .and_then(|older| older.published_at);
                // An item without a date gets the time it was first read. No date is in the future.
                item.published_at = Some(item.published_at.or(before).unwrap_or(now).min(now));
            }
            let older =
                former.into_iter().filter(|item| !new.iter().any(|known| known.key == item.key));
            let older: Vec<_> = older.collect();
            new.extend(older);
            new.sort_by_key(|item| std::cmp::Reverse(item.published_at));
            new.truncate(MOST_ITEMS);
            Records::Items(new)
        }
        (Records::Organisations(mut new), Records::Organisations(former)) if !whole => {
            let lost = former
                .into_iter()
                .filter(|organisation| !new.iter().any(|known| known.slug == organisation.slug));
            let lost: Vec<_> = lost.collect();
            new.extend(lost);
            Records::Organisations(new)
        }
        (Records::Listed(mut new), Records::Listed(former)) if !whole => {
            let lost = former
                .into_iter()
                .filter(|company| !new.iter().any(|known| known.slug == company.slug));
            let lost: Vec<_> = lost.collect();
            new.extend(lost);
            Records::Listed(new)
        }
        (new, _) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postings(ids: &[&str]) -> Told {
        let posting = |id: &&str| Posting { external_id: (*id).to_owned(), ..Posting::default() };
        let held = ids.iter().map(|id| Held { posting: posting(id), missing: 0 });
        Told { records: Records::Postings(held.collect()), faults: Vec::new() }
    }

    fn missing(kept: &Kept) -> Vec<(&str, u32)> {
        let Records::Postings(held) = &kept.records else { panic!("postings") };
        held.iter().map(|entry| (entry.posting.external_id.as_str(), entry.missing)).collect()
    }

    fn after(former: Option<Kept>, asked: Result<Told, String>) -> Kept {
        Kept::after(former, asked, &Records::Postings(Vec::new()), Timestamp::from_millis(1))
    }

    #[test]
    fn a_role_is_gone_when_it_is_missing_twice_in_a_row() {
        let kept = after(None, Ok(postings(&["a", "b"])));
        let once = after(Some(kept), Ok(postings(&["b"])));
        assert_eq!(missing(&once), [("b", 0), ("a", 1)]);
        let back = after(Some(once.clone()), Ok(postings(&["a", "b"])));
        assert_eq!(missing(&back), [("a", 0), ("b", 0)]);
        let gone = after(Some(once), Ok(postings(&["b"])));
        assert_eq!(missing(&gone), [("b", 0)]);
    }

    #[test]
    fn what_was_read_outlives_a_source_that_fails() {
        let kept = after(None, Ok(postings(&["a"])));
        let failed = after(Some(kept), Err("the server does not answer".to_owned()));
        assert_eq!(missing(&failed), [("a", 0)]);
        assert_eq!(failed.read_at, Some(Timestamp::from_millis(1)));
        assert!(failed.failing.is_some());
        assert_eq!(after(Some(failed), Ok(postings(&["a"]))).failing, None);
    }

    #[test]
    fn an_entry_that_cannot_be_read_is_not_missing() {
        let kept = after(None, Ok(postings(&["a", "b"])));
        let told = Told { faults: vec!["entry 0".to_owned()], ..postings(&["b"]) };
        assert_eq!(missing(&after(Some(kept), Ok(told))), [("b", 0), ("a", 0)]);
    }
}
