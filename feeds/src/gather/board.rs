//! Reads all pages of a board, and the details of its postings.

use super::request::Asker;
use crate::{
    board::{Board, Page, Posting},
    entries::Refused,
    state::{Held, Records, Told},
};
use std::collections::{BTreeMap, VecDeque};
use url::Url;

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
        self.refused.push(Refused { entry: entry.to_owned(), id, reason });
    }
}

/// Reads a board. `known` are the postings that were read before.
pub(super) async fn read(board: &Board, known: &[Held], asker: &Asker<'_>) -> Result<Told, String> {
    let limits = asker.fetcher.limits();
    let (mut reading, mut entries, mut pages) = (Reading::default(), 0, 0);
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
        let page = match page(board, &url, asker).await {
            Ok(page) => page,
            Err(reason) if leads => {
                reading.refuse(url.path(), None, reason);
                still_there(&mut reading, known, &url);
                continue;
            }
            Err(reason) => return Err(reason),
        };
        if known.is_empty()
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
        for posting in page.postings {
            let posting = completed(board, posting, known, asker, &mut reading).await;
            reading.add(posting);
        }
    }
    if !waiting.is_empty() {
        let reason = format!("{} more pages about roles are not read", waiting.len());
        reading.refuse("the board", None, reason);
        waiting.iter().for_each(|url| still_there(&mut reading, known, url));
    }
    let Reading { held, refused, .. } = reading;
    Ok(Told { records: Records::Postings(held), refused })
}

async fn page(board: &Board, url: &Url, asker: &Asker<'_>) -> Result<Page, String> {
    let bytes = asker.fetched(url, asker.fetcher.limits().board_bytes).await?;
    board.read(&bytes, url).map_err(|error| error.to_string())
}

/// Keeps what was read before on a page that could not be read now.
fn still_there(reading: &mut Reading, known: &[Held], url: &Url) {
    let here = known.iter().filter(|held| held.posting.source_url == url.as_str());
    here.for_each(|held| reading.add(held.posting.clone()));
}

/// Returns the posting with its details, or as it was read before if these cannot be read.
async fn completed(
    board: &Board,
    posting: Posting,
    known: &[Held],
    asker: &Asker<'_>,
    reading: &mut Reading,
) -> Posting {
    let is_new = !reading.positions.contains_key(&posting.external_id);
    let Some(url) = board.detail(&posting).filter(|_| is_new) else { return posting };
    let detail = asker.fetched(&url, asker.fetcher.limits().body_bytes).await;
    let complete = detail.and_then(|bytes| {
        board.complete(posting.clone(), &bytes).map_err(|error| error.to_string())
    });
    complete.unwrap_or_else(|reason| {
        reading.refuse("the details", Some(posting.external_id.clone()), reason);
        let before = known.iter().find(|entry| entry.posting.external_id == posting.external_id);
        before.map_or(posting, |entry| entry.posting.clone())
    })
}
