//! Reads all sources, each independently of the others, and joins the results with what was read before.

mod board;
mod details;
mod request;

use crate::{
    directory,
    entries::{Refused, shown},
    fetch::{Budget, Fetcher},
    identifier::sha256,
    record::SourceType,
    registry,
    sources::{BoardSource, Directory, Registry, Sources, Syndication},
    state::{Kept, Obtained, Records, Scope, State, Trust},
    syndication::{self, Answer, Item, Offering, Reach},
    timestamp::Timestamp,
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use request::Asker;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;
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
    /// The publication before, the last one of its day, could not be kept as a snapshot.
    NoSnapshot {
        reason: String,
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

    fn ignores_robots(&self) -> bool {
        match self {
            Self::Registry(registry) => registry.ignore_robots,
            Self::Directory(directory) => directory.ignore_robots,
            Self::Board(board) => board.ignore_robots,
            Self::Syndication(feed) => feed.ignore_robots,
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
    let until = Instant::now() + fetcher.limits().reading;
    // The postings have been cleaned from the names of people who objected: with another list, they are read anew.
    // Before the first build, the list is empty as well.
    let nothing = sha256(b"");
    let seed = if former.objections.is_empty() { &nothing } else { &former.objections };
    let each = asked.into_iter().map(|source| {
        let before = former.sources.remove(&source.id());
        async move {
            let asked = ask(&source, sources, before.as_ref(), (fetcher, seed.as_str(), now));
            let answer = tokio::time::timeout_at(until, asked).await;
            let too_late = || {
                let seconds = fetcher.limits().reading.as_secs();
                format!("the sources were not all read within {seconds} seconds")
            };
            let answer = answer.unwrap_or_else(|_| Err(too_late()));
            (source, before, answer.map_err(|reason| shown(&reason)))
        }
    });
    let mut running: FuturesUnordered<_> = each.collect();
    let mut kept = BTreeMap::new();
    while let Some((source, before, answer)) = running.next().await {
        left -= 1;
        let id = source.id();
        progress(match &answer {
            Ok(obtained) => Progress::Read {
                source: id.clone(),
                records: obtained.records.len(),
                refused: obtained.refused.len(),
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
    (fetcher, seed, now): (&Fetcher, &str, Timestamp),
) -> Result<Obtained, String> {
    let budget = Budget::new(fetcher.limits());
    let asker = Asker { fetcher, ignores_robots: source.ignores_robots(), budget };
    match source {
        AnySource::Registry(registry) => {
            let bytes = asker.usual(&address(&registry.url)?).await?;
            let (all, refused) = registry::read(&bytes, registry, sources)?;
            Ok(Obtained { records: Records::Organisations(all), refused, ..Obtained::default() })
        }
        AnySource::Directory(directory) => ask_directory(directory, &asker).await,
        AnySource::Board(source) => {
            let held = match before.map(|kept| &kept.records) {
                Some(Records::Postings(held)) => held.as_slice(),
                _ => &[],
            };
            let refused = before.map(|kept| kept.refused.as_slice()).unwrap_or_default();
            let digest = before.map(|kept| kept.digest.as_str()).unwrap_or_default();
            let known = board::Known { held, refused, digest, seed };
            board::read(&source.board(), &known, &asker, now).await
        }
        AnySource::Syndication(feed) => {
            let known = match before.map(|kept| &kept.records) {
                Some(Records::Items(items)) => items.as_slice(),
                _ => &[],
            };
            ask_feed(feed, known, &asker).await
        }
    }
}

fn address(url: &str) -> Result<Url, String> {
    Url::parse(url).map_err(|error| error.to_string())
}

/// Reads all pages of a directory. Each page names the next one, which must be on the same host.
async fn ask_directory(source: &Directory, asker: &Asker<'_>) -> Result<Obtained, String> {
    let first = address(&source.url)?;
    let (mut listed, mut refused, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut next = Some(first.clone());
    while let Some(url) = next.take() {
        if !seen.insert(url.clone()) || seen.len() > asker.fetcher.limits().directory_pages {
            return Err(format!("it has too many pages; the last was {url}"));
        }
        let page = directory::read(&asker.usual(&url).await?)?;
        listed.extend(page.listed);
        refused.extend(page.refused);
        next = match page.next.map(|address| url.join(&address)) {
            Some(Ok(url)) if url.origin() == first.origin() => Some(url),
            Some(_) => return Err("its next page is on another host".to_owned()),
            None => None,
        };
    }
    Ok(Obtained { records: Records::Listed(listed), refused, ..Obtained::default() })
}

/// Reads a feed and, if it lists filings, what those about offerings say. `known` are the entries that were
/// read before.
async fn ask_feed(
    source: &Syndication,
    known: &[Item],
    asker: &Asker<'_>,
) -> Result<Obtained, String> {
    let url = address(&source.url)?;
    let Answer { mut items, mut refused, reach } =
        syndication::read(&asker.usual(&url).await?, &source.url)?;
    // What people say can be taken back.
    let scope = match (source.kind, reach) {
        (SourceType::Social, Reach::Nothing) => Scope::All,
        (SourceType::Social, Reach::Since(at)) => Scope::Since(at),
        _ => Scope::Newest,
    };
    if source.kind == SourceType::Filing {
        let offerings: BTreeMap<&str, &Offering> = known
            .iter()
            .filter_map(|item| Some((item.key.as_str(), item.offering.as_ref()?)))
            .collect();
        let mut asked = 0;
        for item in &mut items {
            let Some(data) = syndication::data_of(item, &url) else { continue };
            item.offering = offerings.get(item.key.as_str()).map(|known| (*known).clone());
            if item.offering.is_some() || asked == asker.fetcher.limits().filings {
                continue;
            }
            asked += 1;
            match asker.usual(&data).await.and_then(|bytes| syndication::offering(&bytes)) {
                Ok(offering) => item.offering = Some(offering),
                Err(reason) => {
                    let entry = "the data of a filing".to_owned();
                    refused.push(Refused::new(entry, Some(&item.key), &reason));
                }
            }
        }
    }
    Ok(Obtained { records: Records::Items(items), refused, scope, ..Obtained::default() })
}
