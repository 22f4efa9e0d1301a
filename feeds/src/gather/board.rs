//! Reads all pages of a board, and the details of its postings.

use super::{
    details::{Details, Taken, listed},
    request::Asker,
};
use crate::{
    board::{Board, Detailed, Posting},
    entries::Refused,
    identifier::sha256,
    state::{Held, Obtained, Records},
    timestamp::Timestamp,
};
use std::collections::{BTreeMap, VecDeque};
use url::Url;

/// Raise it whenever the same answer gives other records: boards that have not changed are read anew then.
const READERS: u32 = 1;

/// What was read of a board so far.
#[derive(Default)]
struct Reading {
    held: Vec<Held>,
    /// The positions of the postings by their identifiers.
    positions: BTreeMap<String, usize>,
    refused: Vec<Refused>,
}

impl Reading {
    /// Adds a posting. Some boards list a posting once for each of its places, and one can be on two pages
    /// if the board changes while it is read.
    fn add(&mut self, posting: Posting) {
        let position = self.positions.get(&posting.external_id);
        let Some(known) = position.and_then(|position| self.held.get_mut(*position)) else {
            self.positions.insert(posting.external_id.clone(), self.held.len());
            self.held.push(Held { posting, missing: 0 });
            return;
        };
        known.posting.add_locations(posting.locations);
    }

    fn refuse(&mut self, entry: &str, id: Option<String>, reason: String) {
        self.refused.push(Refused::new(entry.to_owned(), id.as_deref(), &reason));
    }
}

/// What is known of a board from the build before.
pub(super) struct Known<'k> {
    pub(super) held: &'k [Held],
    pub(super) refused: &'k [Refused],
    /// The digest of its answer.
    pub(super) digest: &'k str,
    /// What else the records were made from.
    pub(super) seed: &'k str,
}

impl Known<'_> {
    /// Returns what was read of the same answer. What is missing since then was not in it.
    fn again(&self, digest: &str) -> Option<Obtained> {
        let is_same = !digest.is_empty() && self.digest == digest;
        is_same.then(|| Obtained {
            records: Records::Postings(
                self.held.iter().filter(|held| held.missing == 0).cloned().collect(),
            ),
            refused: self.refused.to_vec(),
            digest: digest.to_owned(),
            ..Obtained::default()
        })
    }
}

/// Reads a board. `now` is when its details are read.
pub(super) async fn read(
    board: &Board,
    known: &Known<'_>,
    asker: &Asker<'_>,
    now: Timestamp,
) -> Result<Obtained, String> {
    let limits = asker.fetcher.limits();
    let (mut reading, mut entries, mut pages) = (Reading::default(), 0, 0);
    let mut details = Details::new(known.held, limits);
    let mut digest = String::new();
    let mut waiting: VecDeque<Url> = board.first().into_iter().collect();
    // Whether the first page has named others that may describe roles.
    let mut leads = false;
    while let Some(url) = waiting.pop_front() {
        pages += 1;
        if pages > limits.pages {
            if !leads {
                return Err(format!("it has too many pages; the last was {url}"));
            }
            waiting.push_front(url);
            break;
        }
        let answer = asker.fetched(&url, limits.board_bytes).await;
        if pages == 1
            && let Ok(bytes) = &answer
        {
            digest =
                sha256(format!("{}{READERS}{board:?}{}", known.seed, sha256(bytes)).as_bytes());
            if let Some(obtained) = known.again(&digest) {
                return Ok(obtained);
            }
        }
        let read = |bytes: Vec<u8>| board.read(&bytes, &url).map_err(|error| error.to_string());
        let page = match answer.and_then(read) {
            Ok(page) => page,
            Err(reason) if leads => {
                reading.refuse(url.path(), None, reason);
                still_there(&mut reading, known.held, &url);
                continue;
            }
            Err(reason) => return Err(reason),
        };
        if known.held.is_empty()
            && let Some(doubt) = board.doubt(&page)
        {
            reading.refuse("the board", None, doubt.to_owned());
        }
        waiting.extend(board.next(&page, entries));
        if pages == 1 {
            leads = !page.links.is_empty();
            waiting.extend(page.links);
        }
        entries += page.entries;
        reading.refused.extend(page.refused);
        for mut posting in page.postings {
            if leads {
                posting.page = url.to_string();
            }
            let posting = completed(board, posting, (&mut details, now), asker, &mut reading).await;
            reading.add(posting);
        }
    }
    if details.waiting > 0 {
        let reason =
            format!("the details of {} postings are read in later builds", details.waiting);
        reading.refuse("the board", None, reason);
    }
    if !waiting.is_empty() {
        let reason = format!("{} more pages about roles are not read", waiting.len());
        reading.refuse("the board", None, reason);
        waiting.iter().for_each(|url| still_there(&mut reading, known.held, url));
    }
    let Reading { held, refused, .. } = reading;
    // An answer that leads to others does not say everything.
    let is_whole = pages == 1 && !board.has_details();
    let digest = if is_whole { digest } else { String::new() };
    Ok(Obtained { records: Records::Postings(held), refused, digest, ..Obtained::default() })
}

/// Keeps what was read before on a page that could not be read now.
fn still_there(reading: &mut Reading, known: &[Held], url: &Url) {
    let is_here = |posting: &Posting| match posting.page.as_str() {
        "" => posting.source_url == url.as_str(),
        page => page == url.as_str(),
    };
    let here = known.iter().filter(|held| is_here(&held.posting));
    here.for_each(|held| reading.add(held.posting.clone()));
}

/// Returns the posting with its details, or as it was read before if these are not read now.
async fn completed(
    board: &Board,
    posting: Posting,
    (details, now): (&mut Details<'_>, Timestamp),
    asker: &Asker<'_>,
    reading: &mut Reading,
) -> Posting {
    let is_new = !reading.positions.contains_key(&posting.external_id);
    let Some(url) = board.detail(&posting).filter(|_| is_new) else { return posting };
    let listed = listed(&posting);
    let known = details.known(&posting.external_id);
    match details.of(&posting, &listed, asker.budget.is_short()) {
        Taken::Before(known) => return known.clone(),
        Taken::Later(known) => return known.map_or(posting, Posting::clone),
        Taken::Board => {}
    }
    let detail = asker.fetched(&url, asker.fetcher.limits().body_bytes).await;
    let complete = detail.and_then(|bytes| {
        board.complete(posting.clone(), &bytes).map_err(|error| error.to_string())
    });
    match complete {
        Ok(complete) => Posting { detailed: Some(Detailed { at: now, listed }), ..complete },
        Err(reason) => {
            reading.refuse("the details", Some(posting.external_id.clone()), reason);
            known.map_or(posting, Posting::clone)
        }
    }
}
