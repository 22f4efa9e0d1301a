//! Reads all sources, each independently of the others, and joins the results with what was read before.

use crate::{
    board::{Board, Page},
    directory,
    entries::Refused,
    fetch::Fetcher,
    registry,
    sources::{BoardSource, Directory, Registry, Sources, Syndication},
    state::{Held, Kept, Records, State, Told, Trust},
    syndication,
    timestamp::Timestamp,
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// What a build is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The build has begun to read this many sources.
    Begun {
        sources: usize,
    },
    Read {
        source: String,
        records: usize,
        refused: usize,
        left: usize,
    },
    Failed {
        source: String,
        reason: String,
        kept: usize,
        left: usize,
    },
    Joined {
        records: usize,
    },
    Published {
        folder: std::path::PathBuf,
    },
}

/// One source of any kind.
enum AnySource<'a> {
    Registry(&'a Registry),
    Directory(&'a Directory),
    Board(&'a BoardSource),
    Syndication(&'a Syndication),
}

impl AnySource<'_> {
    fn id(&self) -> String {
        match self {
            Self::Registry(registry) => registry.id.clone(),
            Self::Directory(directory) => directory.id.clone(),
            Self::Board(board) => board.id(),
            Self::Syndication(feed) => feed.id.clone(),
        }
    }

    /// Returns an empty list of this source's kind of records.
    fn nothing(&self) -> Records {
        match self {
            Self::Registry(_) => Records::Organisations(Vec::new()),
            Self::Directory(_) => Records::Listed(Vec::new()),
            Self::Board(_) => Records::Postings(Vec::new()),
            Self::Syndication(_) => Records::Items(Vec::new()),
        }
    }
}

/// Reads all sources, several hosts at the same time. A source that fails keeps its former records.
/// `confirmed`: the sources that have lost records as the operator knows.
pub async fn gather(
    sources: &Sources,
    mut former: State,
    fetcher: &Fetcher,
    confirmed: &BTreeSet<String>,
    now: Timestamp,
    progress: &(dyn Fn(Progress) + Sync),
) -> State {
    let asked: Vec<AnySource<'_>> = (sources.registry.iter().map(AnySource::Registry))
        .chain(sources.directory.iter().map(AnySource::Directory))
        .chain(sources.board.iter().map(AnySource::Board))
        .chain(sources.syndication.iter().map(AnySource::Syndication))
        .collect();
    progress(Progress::Begun { sources: asked.len() });
    let mut left = asked.len();
    let each = asked.into_iter().map(|source| {
        let before = former.sources.remove(&source.id());
        async move {
            let answer = ask(&source, sources, before.as_ref(), fetcher).await;
            (source, before, answer)
        }
    });
    let mut running: FuturesUnordered<_> = each.collect();
    let mut kept = BTreeMap::new();
    while let Some((source, before, answer)) = running.next().await {
        left -= 1;
        let id = source.id();
        progress(match &answer {
            Ok(told) => Progress::Read {
                source: id.clone(),
                records: told.records.len(),
                refused: told.refused.len(),
                left,
            },
            Err(reason) => Progress::Failed {
                source: id.clone(),
                reason: reason.clone(),
                kept: before.as_ref().map_or(0, |known| known.records.len()),
                left,
            },
        });
        let is_confirmed = confirmed.contains(&id);
        let trust = Trust { largest_loss: sources.largest_loss, is_confirmed };
        kept.insert(id, Kept::after(before, answer, &source.nothing(), trust, now));
    }
    drop(running);
    State { sources: kept, ..former }
}

async fn ask(
    source: &AnySource<'_>,
    sources: &Sources,
    before: Option<&Kept>,
    fetcher: &Fetcher,
) -> Result<Told, String> {
    match source {
        AnySource::Registry(registry) => {
            let bytes = fetched(fetcher, &registry.url).await?;
            let (all, refused) = registry::read(&bytes, sources.city.bbox)?;
            Ok(Told { records: Records::Organisations(all), refused })
        }
        AnySource::Directory(directory) => ask_directory(directory, fetcher).await,
        AnySource::Board(board) => {
            let known = match before.map(|kept| &kept.records) {
                Some(Records::Postings(held)) => held.as_slice(),
                _ => &[],
            };
            ask_board(&board.board(), known, fetcher).await
        }
        AnySource::Syndication(feed) => {
            let bytes = fetched(fetcher, &feed.url).await?;
            let (items, refused) = syndication::read(&bytes, &feed.url)?;
            Ok(Told { records: Records::Items(items), refused })
        }
    }
}

async fn fetched(fetcher: &Fetcher, url: &str) -> Result<Vec<u8>, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    fetcher.get(&url).await.map_err(|error| error.to_string())
}

/// Reads all pages of a directory. Each page names the next one, which must be on the same host.
async fn ask_directory(source: &Directory, fetcher: &Fetcher) -> Result<Told, String> {
    let first = Url::parse(&source.url).map_err(|error| error.to_string())?;
    let (mut listed, mut refused, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut next = Some(first.clone());
    while let Some(url) = next.take() {
        if !seen.insert(url.clone()) || seen.len() > fetcher.limits().pages {
            return Err(format!("it has too many pages; the last was {url}"));
        }
        let page = directory::read(&fetched(fetcher, url.as_str()).await?)?;
        listed.extend(page.listed);
        refused.extend(page.refused);
        next = match page.next.map(|address| url.join(&address)) {
            Some(Ok(url)) if url.origin() == first.origin() => Some(url),
            Some(_) => return Err("its next page is on another host".to_owned()),
            None => None,
        };
    }
    Ok(Told { records: Records::Listed(listed), refused })
}

async fn ask_board(board: &Board, known: &[Held], fetcher: &Fetcher) -> Result<Told, String> {
    let (mut held, mut refused): (Vec<Held>, Vec<Refused>) = (Vec::new(), Vec::new());
    let (mut entries, mut pages) = (0, 0);
    let mut next = board.first();
    while let Some(url) = next.take() {
        pages += 1;
        if pages > fetcher.limits().pages {
            return Err(format!("it has too many pages; the last was {url}"));
        }
        let page: Page = board
            .read(&fetched(fetcher, url.as_str()).await?)
            .map_err(|error| error.to_string())?;
        next = board.next(&page, entries);
        entries += page.entries;
        if known.is_empty()
            && let Some(doubt) = board.doubt(&page)
        {
            let (entry, reason) = ("the board".to_owned(), doubt.to_owned());
            refused.push(Refused { entry, id: None, reason });
        }
        refused.extend(page.refused);
        for posting in page.postings {
            // A posting can be on two pages, if the board changes while it is read.
            if held.iter().any(|entry| entry.posting.external_id == posting.external_id) {
                continue;
            }
            let Some(url) = board.detail(&posting) else {
                held.push(Held { posting, missing: 0 });
                continue;
            };
            let detail = fetched(fetcher, url.as_str()).await;
            let complete = detail.and_then(|bytes| {
                board.complete(posting.clone(), &bytes).map_err(|error| error.to_string())
            });
            let posting = complete.unwrap_or_else(|reason| {
                let (entry, id) = ("the details".to_owned(), Some(posting.external_id.clone()));
                refused.push(Refused { entry, id, reason });
                let before =
                    known.iter().find(|entry| entry.posting.external_id == posting.external_id);
                before.map_or(posting, |entry| entry.posting.clone())
            });
            held.push(Held { posting, missing: 0 });
        }
    }
    Ok(Told { records: Records::Postings(held), refused })
}
