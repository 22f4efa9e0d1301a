//! Tells capabilities that a publication of the feeds is served: `feeds.published`, once for all nodes of a
//! database, also if nobody served the feeds while they were published.

use crate::host::Host;
use portolan_publication::Publication;
use portolan_store::{
    Attachments, Audience, Collection, DbError, Expectation, NewEvent, StateError, Unit, Verdict,
};
use portolan_vocabulary::{self as vocabulary, FEEDS_PUBLISHED, HOST};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::watch;

/// The host's own collection of announced publications, and the id of its one record.
const ANNOUNCED: &str = "announced_feeds";
const LAST: &str = "last";
/// The wait after the first failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The publication that was announced last.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Announced {
    publication: String,
    /// The cursor of the publication in the log of changes.
    cursor: String,
    /// The entity tags of its feeds, by their ids.
    tags: BTreeMap<String, String>,
}

impl Host {
    /// Announces each publication of the feeds to capabilities until `stop` becomes true.
    pub async fn announce_publications(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut publications = self.feeds.changes();
        let mut wait = FIRST_WAIT;
        loop {
            publications.mark_unchanged();
            let announced = match self.feeds.current() {
                Some(publication) => self.announce(&publication).await,
                None => Ok(()),
            };
            let is_failed = announced.is_err();
            if let Err(error) = announced {
                tracing::warn!(%error, "a publication of the feeds is not announced to capabilities yet; it will be tried again");
            }
            tokio::select! {
                changed = publications.changed() => if changed.is_err() { break },
                () = tokio::time::sleep(wait), if is_failed => {}
                _ = stop.changed() => break,
            }
            wait = if is_failed { (wait * 2).min(LONGEST_WAIT) } else { FIRST_WAIT };
        }
    }

    /// Publishes the event in both modes, unless this node or another one has done so. The record of the
    /// announcement is in the same unit of work, so of two nodes one announces the publication.
    async fn announce(&self, publication: &Publication) -> Result<(), StateError> {
        let collection = self.announced_collection().await?;
        loop {
            let mut unit = Unit::new(self.store.clone(), self.clock.now());
            let document = unit.get(&collection, LAST).await?;
            let last: Option<Announced> =
                document.as_ref().and_then(|document| serde_json::from_str(&document.body).ok());
            let next = Announced {
                publication: publication.name.clone(),
                cursor: publication.log.end().to_string(),
                tags: publication.feed_tags(self.feeds.roads()),
            };
            if last.as_ref() == Some(&next) {
                return Ok(());
            }
            let expected = document
                .map_or(Expectation::Absent, |document| Expectation::Revision(document.revision));
            unit.put(&collection, LAST, json!(next).to_string(), expected).await?;
            self.publish_announcement(&mut unit, &next, last.as_ref());
            match unit.commit(Attachments::default()).await.map_err(DbError::Shared)? {
                Verdict::Committed => return Ok(()),
                Verdict::Conflict(_) => {}
                refused => {
                    let text = format!("the commit was refused: {refused:?}");
                    return Err(StateError::Invalid(text));
                }
            }
        }
    }

    fn publish_announcement(&self, unit: &mut Unit, next: &Announced, last: Option<&Announced>) {
        let before = |feed: &str| last.and_then(|last| last.tags.get(feed));
        let changed = next.tags.iter().filter(|(feed, tag)| before(feed) != Some(tag));
        let feeds: Vec<&String> = changed.map(|(feed, _)| feed).collect();
        let data = json!({ "v": 1, "publication": next.publication, "cursor": next.cursor, "feeds": feeds });
        let subscribers = self.catalog.subscribers(&self.catalog.snapshot(), None, FEEDS_PUBLISHED);
        for test_mode in [false, true] {
            let (audience, now) = (Audience::Capabilities, unit.now());
            let event = NewEvent::of_host(FEEDS_PUBLISHED, "feeds", audience, &data, now);
            unit.publish(NewEvent { test_mode, subscribers: subscribers.clone(), ..event });
        }
    }

    async fn announced_collection(&self) -> Result<Collection, StateError> {
        let declared = vocabulary::Collection {
            name: ANNOUNCED.to_owned(),
            indexes: Vec::new(),
            text: Vec::new(),
            geo: None,
            version: 1,
            people: Some(Vec::new()),
        };
        let mut collections = self.store.declare(HOST, &[declared]).await?;
        let collection = collections.remove(ANNOUNCED);
        Ok(collection.ok_or_else(|| DbError::Declaration(ANNOUNCED.to_owned()))?)
    }
}
