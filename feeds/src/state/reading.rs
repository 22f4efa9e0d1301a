//! Joins a reading of a source with what is known of it: which records are missing, and whether a loss is
//! believed.

use super::kept::{Failing, Held, Kept, Obtained, Records, Scope, Trust};
use crate::{
    board::{Posting, Renamed},
    directory::Listed,
    registry::Organisation,
    syndication::Item,
    timestamp::Timestamp,
};
use std::collections::BTreeSet;

/// After it was missing from this many readings in a row, a role is removed.
const GONE: u32 = 2;
/// How many entries of one feed are kept.
const MOST_ITEMS: usize = 500;
/// How many entries that could not be read are kept for each source.
const MOST_REFUSED: usize = 100;
/// The share that is lost of fewer records than this says nothing.
const LEAST_JUDGED: usize = 5;

impl Kept {
    /// Returns the new state of a source: the result of this reading, joined with the former state.
    pub fn after(
        former: Option<Self>,
        asked: Result<Obtained, String>,
        none: &Records,
        trust: Trust,
        now: Timestamp,
    ) -> Self {
        let former = former
            .filter(|kept| std::mem::discriminant(&kept.records) == std::mem::discriminant(none));
        let loss = match (&asked, &former) {
            (Ok(obtained), Some(former)) => loss(obtained, former, trust),
            _ => Loss::None,
        };
        let readings = if matches!(loss, Loss::Confirmed) { GONE } else { 1 };
        let has_shrunk = matches!(loss, Loss::Doubtful(_));
        let asked = match loss {
            Loss::Doubtful(reason) => Err(reason),
            Loss::None | Loss::Confirmed => asked,
        };
        match asked {
            Ok(Obtained { records, refused, digest, scope }) => {
                let before = former.map_or_else(|| none.clone(), |former| former.records);
                let unread = refused.iter().filter_map(|entry| entry.id.as_deref()).collect();
                let records = joined(records, before, (&unread, scope), readings, now);
                let refused = refused.iter().take(MOST_REFUSED).cloned().collect();
                Self {
                    records,
                    read_at: Some(now),
                    failing: None,
                    refused,
                    digest,
                    has_shrunk: false,
                }
            }
            Err(reason) => {
                let since = former
                    .as_ref()
                    .and_then(|kept| kept.failing.as_ref())
                    .map_or(now, |failing| failing.since);
                let failing = Some(Failing { since, reason });
                match former {
                    Some(former) => Self { failing, has_shrunk, ..former },
                    None => Self {
                        records: none.clone(),
                        read_at: None,
                        failing,
                        refused: Vec::new(),
                        digest: String::new(),
                        has_shrunk,
                    },
                }
            }
        }
    }
}

/// Whether a reading has lost more records than are believed at once.
enum Loss {
    None,
    /// A second reading or the operator confirms it.
    Confirmed,
    Doubtful(String),
}

fn loss(obtained: &Obtained, former: &Kept, trust: Trust) -> Loss {
    let (before, now) = (former.records.identifiers(), obtained.records.identifiers());
    let unread: BTreeSet<&str> =
        obtained.refused.iter().filter_map(|one| one.id.as_deref()).collect();
    let is_lost = |id: &&&str| !now.contains(**id) && !unread.contains(**id);
    let lost = before.iter().filter(is_lost).count() - renames(obtained, former, &unread);
    let is_empty = now.is_empty() && !before.is_empty() && !is_board(&obtained.records);
    let is_large = before.len() >= LEAST_JUDGED && share(lost, before.len()) > trust.largest_loss;
    if !is_empty && !is_large {
        return Loss::None;
    }
    if trust.is_confirmed || (former.has_shrunk && !is_empty) {
        return Loss::Confirmed;
    }
    let remedy = match is_empty {
        true => "the operator confirms it",
        false => "the next reading or the operator confirms it",
    };
    let before = before.len();
    Loss::Doubtful(format!("{lost} of its {before} records are missing; they stay until {remedy}"))
}

fn postings(held: &[Held]) -> impl Iterator<Item = &Posting> {
    held.iter().map(|held| &held.posting)
}

/// Returns how many of the postings that are missing are there under another identifier.
fn renames(obtained: &Obtained, former: &Kept, unread: &BTreeSet<&str>) -> usize {
    let (Records::Postings(new), Records::Postings(former)) = (&obtained.records, &former.records)
    else {
        return 0;
    };
    let ids: BTreeSet<&str> = new.iter().map(|held| held.posting.external_id.as_str()).collect();
    let mut renamed = Renamed::of(postings(new), postings(former));
    let missing = postings(former).filter(|posting| {
        let id = posting.external_id.as_str();
        !ids.contains(id) && !unread.contains(id)
    });
    missing.filter(|posting| renamed.take(posting)).count()
}

fn is_board(records: &Records) -> bool {
    matches!(records, Records::Postings(_))
}

fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    number(part) / number(whole)
}

/// Joins new with former records. `unread`: the identifiers of entries that are there but could not be
/// read. `scope`: what the reading says of other items. `readings`: how many readings say that the other records are missing.
fn joined(
    new: Records,
    former: Records,
    (unread, scope): (&BTreeSet<&str>, Scope),
    readings: u32,
    now: Timestamp,
) -> Records {
    match (new, former) {
        (Records::Postings(mut new), Records::Postings(former)) => {
            let known: BTreeSet<String> =
                new.iter().map(|fresh| fresh.posting.external_id.clone()).collect();
            let mut renamed = Renamed::of(postings(&new), postings(&former));
            for mut held in former {
                let id = &held.posting.external_id;
                if known.contains(id) || renamed.take(&held.posting) {
                    continue;
                }
                let is_missing = !unread.contains(id.as_str());
                held.missing += if is_missing { readings } else { 0 };
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
            let is_there = |item: &Item| match scope {
                Scope::Newest => true,
                Scope::Since(reach) => item.published_at.is_some_and(|at| at < reach),
                Scope::All => false,
            };
            let is_older =
                |item: &Item| is_there(item) && !new.iter().any(|known| known.key == item.key);
            let older: Vec<_> = former.into_iter().filter(is_older).collect();
            new.extend(older);
            new.sort_by_key(|item| std::cmp::Reverse(item.published_at));
            new.truncate(MOST_ITEMS);
            Records::Items(new)
        }
        (Records::Organisations(mut new), Records::Organisations(former)) => {
            let is_unread = |one: &Organisation| unread.contains(one.slug.as_str());
            new.extend(former.into_iter().filter(is_unread));
            Records::Organisations(new)
        }
        (Records::Listed(mut new), Records::Listed(former)) => {
            let is_unread = |one: &Listed| unread.contains(one.slug.as_str());
            new.extend(former.into_iter().filter(is_unread));
            Records::Listed(new)
        }
        (new, _) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Refused;

    const TRUST: Trust = Trust { largest_loss: 0.5, is_confirmed: false };

    fn obtained(ids: &[&str]) -> Obtained {
        let posting = |id: &&str| Posting {
            external_id: (*id).to_owned(),
            title: format!("Role {id}"),
            ..Posting::default()
        };
        let held = ids.iter().map(|id| Held { posting: posting(id), missing: 0 });
        Obtained { records: Records::Postings(held.collect()), ..Obtained::default() }
    }

    fn missing(kept: &Kept) -> Vec<(&str, u32)> {
        let Records::Postings(held) = &kept.records else { panic!("postings") };
        held.iter().map(|entry| (entry.posting.external_id.as_str(), entry.missing)).collect()
    }

    fn after(former: Option<Kept>, asked: Result<Obtained, String>) -> Kept {
        after_with(former, asked, TRUST)
    }

    fn after_with(former: Option<Kept>, asked: Result<Obtained, String>, trust: Trust) -> Kept {
        let now = Timestamp::from_millis(1);
        Kept::after(former, asked, &Records::Postings(Vec::new()), trust, now)
    }

    fn refused(id: Option<&str>) -> Refused {
        let (entry, reason) = ("entry 0".to_owned(), "it has no title".to_owned());
        Refused { entry, id: id.map(str::to_owned), reason }
    }

    #[test]
    fn a_role_is_gone_when_it_is_missing_twice_in_a_row() {
        let kept = after(None, Ok(obtained(&["a", "b"])));
        let once = after(Some(kept), Ok(obtained(&["b"])));
        assert_eq!(missing(&once), [("b", 0), ("a", 1)]);
        let back = after(Some(once.clone()), Ok(obtained(&["a", "b"])));
        assert_eq!(missing(&back), [("a", 0), ("b", 0)]);
        let gone = after(Some(once), Ok(obtained(&["b"])));
        assert_eq!(missing(&gone), [("b", 0)]);
    }

    #[test]
    fn what_was_read_outlives_a_source_that_fails() {
        let kept = after(None, Ok(obtained(&["a"])));
        let failed = after(Some(kept), Err("the server does not answer".to_owned()));
        assert_eq!(missing(&failed), [("a", 0)]);
        assert_eq!(failed.read_at, Some(Timestamp::from_millis(1)));
        assert!(failed.failing.is_some());
        assert_eq!(after(Some(failed), Ok(obtained(&["a"]))).failing, None);
    }

    #[test]
    fn an_entry_that_cannot_be_read_is_not_missing_and_keeps_no_other_one() {
        let kept = after(None, Ok(obtained(&["a", "b", "c"])));
        let unread = |obtained: Obtained| Obtained {
            refused: vec![refused(Some("a")), refused(None)],
            ..obtained
        };
        let once = after(Some(kept), Ok(unread(obtained(&["b"]))));
        assert_eq!(missing(&once), [("b", 0), ("a", 0), ("c", 1)]);
        let twice = after(Some(once), Ok(unread(obtained(&["b"]))));
        assert_eq!(missing(&twice), [("b", 0), ("a", 0)]);
    }

    #[test]
    fn a_large_loss_is_believed_when_it_is_seen_again() {
        let all = ["a", "b", "c", "d", "e", "f"];
        let kept = after(None, Ok(obtained(&all)));
        let once = after(Some(kept), Ok(obtained(&["a"])));
        assert_eq!(once.records.len(), 6);
        let reason = &once.failing.as_ref().unwrap().reason;
        assert!(reason.starts_with("5 of its 6 records are missing"), "{reason}");
        // A full reading ends the doubt, and a second one like the first confirms it.
        let back = after(Some(once.clone()), Ok(obtained(&all)));
        assert!(!back.has_shrunk && back.failing.is_none());
        let twice = after(Some(once.clone()), Ok(obtained(&["a"])));
        assert_eq!((missing(&twice), twice.has_shrunk), (vec![("a", 0)], false));
        // A source that fails in between confirms nothing.
        let failed = after(Some(once), Err("the server does not answer".to_owned()));
        let again = after(Some(failed), Ok(obtained(&["a"])));
        assert_eq!(again.records.len(), 6);
    }

    #[test]
    fn the_operator_confirms_a_loss_at_once() {
        let kept = after(None, Ok(obtained(&["a", "b", "c", "d", "e", "f"])));
        let confirmed = Trust { is_confirmed: true, ..TRUST };
        let shrunk = after_with(Some(kept), Ok(obtained(&["a"])), confirmed);
        assert_eq!(missing(&shrunk), [("a", 0)]);
    }

    #[test]
    fn identifiers_that_all_change_do_not_double_the_roles() {
        let kept = after(None, Ok(obtained(&["1", "2", "3", "4", "5"])));
        let changed = || Ok(obtained(&["a", "b", "c", "d", "e"]));
        let once = after(Some(kept), changed());
        assert_eq!(once.records.len(), 5);
        let twice = after(Some(once), changed());
        assert_eq!(missing(&twice).first(), Some(&("a", 0)));
        assert_eq!(twice.records.len(), 5);
    }

    #[test]
    fn a_role_under_another_identifier_is_the_same_role() {
        let known_as = |ids: &[&str], department: &str| {
            let mut reading = obtained(ids);
            if let Records::Postings(held) = &mut reading.records {
                for one in held {
                    one.posting.title = "Welder".to_owned();
                    one.posting.department = Some(department.to_owned());
                    one.posting.source_url =
                        format!("https://a.example/{}", one.posting.external_id);
                }
            }
            Ok(reading)
        };
        let all = || known_as(&["1", "2", "3", "4", "5", "6"], "Yard");
        // All change at once: nothing is lost, and nothing doubled.
        let kept = after(None, all());
        let renamed = after(Some(kept), known_as(&["a", "b", "c", "d", "e", "f"], "Yard"));
        assert_eq!((renamed.records.len(), renamed.failing), (6, None));
        // One new posting is one former posting, not all that are alike.
        let kept = after(None, all());
        let fewer = after(Some(kept), known_as(&["1", "2", "3", "a"], "Yard"));
        let stale: Vec<_> = missing(&fewer).into_iter().filter(|(_, times)| *times > 0).collect();
        assert_eq!(stale, [("5", 1), ("6", 1)]);
        // Another department is another role.
        let kept = after(None, known_as(&["1"], "Yard"));
        let other = after(Some(kept), known_as(&["a"], "Office"));
        assert_eq!(missing(&other), [("a", 0), ("1", 1)]);
    }

    #[test]
    fn posts_that_were_deleted_or_hidden_are_forgotten() {
        let at = Timestamp::from_millis;
        let items = |all: &[(&str, i64)]| {
            let item = |(key, time): &(&str, i64)| Item {
                key: (*key).to_owned(),
                published_at: Some(at(*time)),
                ..Item::default()
            };
            Records::Items(all.iter().map(item).collect())
        };
        let former = || items(&[("a", 30), ("b", 20), ("c", 10)]);
        let left = |new: Records, scope: Scope| {
            let Records::Items(items) = joined(new, former(), (&BTreeSet::new(), scope), 1, at(50))
            else {
                panic!("items")
            };
            items.into_iter().map(|item| item.key).collect::<Vec<_>>().concat()
        };
        assert_eq!(left(items(&[("d", 40), ("a", 30)]), Scope::Newest), "dabc");
        // The answer reaches back to 15, so the second one was deleted.
        assert_eq!(left(items(&[("d", 40), ("a", 30)]), Scope::Since(at(15))), "dac");
        assert_eq!(left(items(&[]), Scope::All), "");
    }
}
