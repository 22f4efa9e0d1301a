//! Tells WebSub hubs which documents have changed. A hub tells its subscribers and fetches the documents
//! itself, so no subscriber is known here.

use crate::{feeds::Feeds, publication::Publication, status::HubStatus};
use portolan_outgoing::OutgoingError;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{sync::watch, task::JoinSet};
use url::form_urlencoded;

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const TIMEOUT: Duration = Duration::from_secs(15);
/// How much of a hub's answer is read. Only its status counts.
const MAX_ANSWER_BYTES: usize = 1024;
/// The wait after the first failure. It doubles with each further one.
const FIRST_WAIT_S: u64 = 2;
const LONGEST_WAIT_S: u64 = 3600;

impl Feeds {
    /// Tells the hubs of each publication until `stop` becomes true: of all documents at the start, and then
    /// of those that have changed. A hub that fails is asked again, less and less often.
    pub async fn notify_hubs(self: Arc<Self>, stop: watch::Receiver<bool>) {
        let mut tasks = JoinSet::new();
        for address in &self.options.hubs.addresses {
            tasks.spawn(notify(Arc::clone(&self), address.clone(), stop.clone()));
        }
        while tasks.join_next().await.is_some() {}
    }
}

async fn notify(feeds: Arc<Feeds>, hub: String, mut stop: watch::Receiver<bool>) {
    let mut publications = feeds.changes();
    let mut known = BTreeMap::new();
    let mut failures = 0;
    loop {
        let topics = feeds.current().map(|current| topics(&current, &feeds)).unwrap_or_default();
        let mut wait = None;
        if topics != known {
            let changed = topics.iter().filter(|(topic, tag)| known.get(*topic) != Some(*tag));
            let sent = send(&feeds, &hub, changed.map(|(topic, _)| topic.as_str())).await;
            let error = sent.as_ref().err().map(|failed| failed.error.to_string());
            let now = feeds.options.clock.now();
            feeds.update_status(|status| {
                status.note_hub(HubStatus { hub: hub.clone(), at: now, error })
            });
            match sent {
                Ok(()) => (known, failures) = (topics, 0),
                Err(Failed { error, retry_after_s }) => {
                    tracing::warn!(hub, %error, "the hub was not told of the new publication; it will be asked again");
                    let seconds = (FIRST_WAIT_S << failures).max(retry_after_s.unwrap_or(0));
                    wait = Some(Duration::from_secs(seconds.min(LONGEST_WAIT_S)));
                    // Higher powers of two are above the longest wait.
                    failures = (failures + 1).min(11);
                }
            }
        }
        tokio::select! {
            changed = publications.changed() => if changed.is_err() { break },
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            _ = stop.changed() => break,
        }
    }
}

/// Returns the entity tags of the feeds and their index, by address.
fn topics(publication: &Publication, feeds: &Feeds) -> BTreeMap<String, String> {
    let documents = publication.documents().filter(|document| document.link.is_some());
    let topic = |path: &str| format!("{}{path}", feeds.options.host.public_url);
    documents.map(|document| (topic(&document.entry.path), document.plain().etag.clone())).collect()
}

struct Failed {
    error: OutgoingError,
    retry_after_s: Option<u64>,
}

/// Returns the body of a notification. WebSub leaves its form to the hub; this is the one that public hubs take.
fn notification<'a>(topics: impl Iterator<Item = &'a str>) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("hub.mode", "publish");
    for topic in topics {
        form.append_pair("hub.url", topic);
    }
    form.finish()
}

/// Sends one notification.
async fn send(feeds: &Feeds, hub: &str, topics: impl Iterator<Item = &str>) -> Result<(), Failed> {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, FORM)]);
    let body = notification(topics).into_bytes();
    let outgoing = &feeds.options.hubs.outgoing;
    let response = outgoing
        .post(hub, headers, body, TIMEOUT, MAX_ANSWER_BYTES)
        .await
        .map_err(|error| Failed { error, retry_after_s: None })?;
    if (200..300).contains(&response.status) {
        return Ok(());
    }
    let retry_after_s = response.retry_after_s(feeds.options.clock.now());
    Err(Failed { error: OutgoingError::Status(response.status), retry_after_s })
}
