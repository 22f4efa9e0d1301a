//! One list of what several feeds have found, and the cursor that keeps the position in each feed.

use portolan_sdk::{pages, prelude::*};
use record_search::{Batch, Entry, Sort};
use std::{cmp::Reverse, collections::VecDeque};

/// The place at which reading of a feed continues.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Start {
    #[default]
    Beginning,
    /// The cursor of the feed.
    After(String),
    End,
}

/// The position in a feed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Position {
    start: Start,
    /// How many words the last listed record lacks.
    missing: u32,
    /// How many records of the feed that lack as many words are listed.
    listed: u32,
}

/// The key by which records of different feeds are compared. All keys of one list are of one
/// variant.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'e> {
    /// Relevances of different feeds are only comparable in the number of words. Of records with as many words, those
    /// with all words in their names come first, and else each feed gives one record in turn.
    Relevance {
        missing: u32,
        is_elsewhere: bool,
        listed: u32,
    },
    First(&'e str),
    Last(Reverse<&'e str>),
}

/// The order of a list.
pub(crate) struct Order<'q> {
    pub(crate) sort: Sort,
    /// The words of the query.
    pub(crate) q: Option<&'q str>,
}

impl Order<'_> {
    fn key<'e>(&self, entry: &'e Entry, position: &Position) -> Key<'e> {
        match self.sort {
            Sort::Relevance => {
                let missing = missing_words(entry.relevance);
                let listed = if position.missing == missing { position.listed } else { 0 };
                Key::Relevance { missing, is_elsewhere: !self.is_in_name(entry), listed }
            }
            Sort::Newest => Key::Last(Reverse(entry.content.date())),
            Sort::EventDate => Key::First(entry.content.date()),
            // Only organisations have the sorts by distance and open roles, so these keys are not compared.
            Sort::Name | Sort::Distance | Sort::OpenRoles => Key::First(entry.content.name()),
        }
    }

    fn is_in_name(&self, entry: &Entry) -> bool {
        let name = entry.content.name().to_lowercase();
        let query = self.q.unwrap_or_default().to_lowercase();
        words(&query).all(|word| words(&name).any(|other| other == word))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns how many words of the query a record lacks: without m of them, its relevance is from -m to 1 - m.
fn missing_words(relevance: f64) -> u32 {
    (-relevance).max(0.0).ceil() as u32
}

/// The unlisted rest of a feed's page.
struct Lane {
    entries: VecDeque<Entry>,
    listed: u32,
    next: Option<String>,
}

/// Returns the next page of the list, and moves the positions behind it. `read` returns a page of the feed with this
/// number, after this cursor, of this length at most.
pub(crate) fn page<E>(
    positions: &mut [Position],
    order: &Order<'_>,
    limit: u32,
    read: impl Fn(usize, Option<String>, u32) -> Result<Batch, E>,
) -> Result<Vec<Entry>, E> {
    let mut lanes = Vec::new();
    for (feed, position) in positions.iter().enumerate() {
        let batch = match &position.start {
            Start::Beginning => read(feed, None, limit)?,
            Start::After(cursor) => read(feed, Some(cursor.clone()), limit)?,
            Start::End => Batch::default(),
        };
        lanes.push(Lane { entries: batch.entries.into(), listed: 0, next: batch.next });
    }
    let mut list = Vec::new();
    for _ in 0..limit {
        let heads = lanes.iter().zip(&*positions).enumerate();
        let keys = heads.filter_map(|(feed, (lane, position))| {
            Some((order.key(lane.entries.front()?, position), feed))
        });
        let Some((_, feed)) = keys.min() else { break };
        let first = lanes.get_mut(feed).zip(positions.get_mut(feed));
        list.extend(first.and_then(|(lane, position)| lane.take(position)));
    }
    for (feed, (lane, position)) in lanes.into_iter().zip(positions).enumerate() {
        let next = match (lane.entries.is_empty(), lane.listed) {
            (true, _) => lane.next,
            (false, 0) => continue,
            (false, listed) => read(feed, position.cursor(), listed)?.next,
        };
        position.start = next.map_or(Start::End, Start::After);
    }
    Ok(list)
}

impl Lane {
    fn take(&mut self, position: &mut Position) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.listed += 1;
        let missing = missing_words(entry.relevance);
        position.listed = if position.missing == missing { position.listed + 1 } else { 1 };
        position.missing = missing;
        Some(entry)
    }
}

impl Position {
    fn cursor(&self) -> Option<String> {
        match &self.start {
            Start::After(cursor) => Some(cursor.clone()),
            Start::Beginning | Start::End => None,
        }
    }

    /// Writes the position as text without commas.
    fn write(&self) -> String {
        let start = match &self.start {
            Start::Beginning => "",
            Start::After(cursor) => cursor,
            Start::End => "-",
        };
        format!("{}:{}:{start}", self.missing, self.listed)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let (missing, listed) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let start = match parts.next()? {
            "" => Start::Beginning,
            "-" => Start::End,
            cursor => Start::After(cursor.to_owned()),
        };
        Some(Self { start, missing, listed })
    }
}

/// Returns the cursor of the next page of a query; `None` if every feed has ended.
pub(crate) fn close(positions: &[Position], query: &str) -> Result<Option<String>, HostError> {
    if positions.iter().all(|position| position.start == Start::End) {
        return Ok(None);
    }
    let parts: Vec<String> = positions.iter().map(Position::write).collect();
    pages::close_cursor(&parts.join(","), query).map(Some)
}

/// Returns the positions in a number of feeds: those of the cursor, or the beginnings. Fails with
/// [`HostError::BadCursor`] if the cursor was not made for this query.
pub(crate) fn open(
    cursor: Option<&str>,
    query: &str,
    feeds: usize,
) -> Result<Vec<Position>, HostError> {
    let Some(cursor) = cursor else { return Ok(vec![Position::default(); feeds]) };
    let last = pages::open_cursor(cursor, query)?;
    let positions: Option<Vec<_>> = last.split(',').map(Position::parse).collect();
    positions.filter(|positions| positions.len() == feeds).ok_or(HostError::BadCursor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record_search::{Content, Person};
    use std::convert::Infallible;

    fn entry(id: &str, name: &str, relevance: f64) -> Entry {
        let person = Person {
            target_id: "tgt_1".into(),
            full_name: name.into(),
            title: String::new(),
            role_kind: String::new(),
            public_bio: String::new(),
            expertise: Vec::new(),
            public_figure_basis: String::new(),
            opt_out_url: String::new(),
            handoff_ids: Vec::new(),
            updated_at: String::new(),
        };
        Entry { id: id.into(), relevance, distance_m: None, content: Content::Person(person) }
    }

    /// Lists feeds in pages of these lengths, of which the last one repeats. A feed's cursor is the number of the next
    /// record.
    fn list(feeds: &[Vec<Entry>], q: &str, limits: &[u32]) -> Vec<String> {
        let read = |feed: usize, cursor: Option<String>, limit: u32| -> Result<Batch, Infallible> {
            let start: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            let end = (start + limit as usize).min(feeds[feed].len());
            let next = (end < feeds[feed].len()).then(|| end.to_string());
            Ok(Batch { entries: feeds[feed][start..end].to_vec(), next })
        };
        let order = Order { sort: Sort::Relevance, q: Some(q) };
        let mut positions = vec![Position::default(); feeds.len()];
        let mut limits = limits.iter().copied();
        let (mut listed, mut limit) = (Vec::new(), 1);
        while positions.iter().any(|position| position.start != Start::End) {
            limit = limits.next().unwrap_or(limit);
            let Ok(page) = page(&mut positions, &order, limit, read);
            listed.extend(page.into_iter().map(|entry| entry.id));
            let written: Vec<_> = positions.iter().map(Position::write).collect();
            let parsed: Option<Vec<_>> = written.iter().map(|text| Position::parse(text)).collect();
            assert_eq!(parsed.as_deref(), Some(&*positions));
        }
        listed
    }

    #[test]
    fn relevance_tells_how_many_words_are_missing() {
        for (relevance, missing) in
            [(7.5, 0), (0.0, 0), (-0.2, 1), (-1.0, 1), (-1.01, 2), (-2.0, 2), (-2.5, 3)]
        {
            assert_eq!(missing_words(relevance), missing, "{relevance}");
        }
    }

    #[test]
    fn records_with_all_words_come_first_and_feeds_take_turns() {
        let feeds = [
            vec![entry("a1", "x", 9.0), entry("a2", "x", 8.0), entry("a3", "x", -0.5)],
            vec![entry("b1", "Ada Example", 0.1), entry("b2", "x", 0.1), entry("b3", "x", -1.5)],
            vec![entry("c1", "x", -0.1), entry("c2", "x", -0.9)],
        ];
        let order = ["b1", "a1", "a2", "b2", "a3", "c1", "c2", "b3"];
        for limits in [&[100][..], &[1], &[2], &[3], &[5], &[1, 4, 2]] {
            assert_eq!(list(&feeds, "ada example", limits), order, "{limits:?}");
        }
        assert!(list(&[Vec::new(), Vec::new()], "ada", &[3]).is_empty());
    }
}
