//! Other forms of the feeds: lines of JSON, and CSV. A form is made when it is first asked for, once, however
//! many ask for it meanwhile.

use crate::part::Part;
use bytes::Bytes;
use portolan_feeds::{
    Roads,
    export::{FORMS, Form},
    record::{FEEDS, Feed},
};
use std::{collections::BTreeMap, io};
use tokio::{sync::OnceCell, task::spawn_blocking};

/// A form of a feed, which is made when it is first asked for.
#[derive(Debug)]
struct FormOfFeed {
    feed: &'static Feed,
    form: &'static Form,
    /// The path of the document with the feed.
    document: String,
    part: OnceCell<Part>,
}

/// Returns the paths of all forms of a city's feeds.
pub(crate) fn form_paths(roads: &Roads) -> impl Iterator<Item = String> {
    let of_feed = |feed| FORMS.iter().map(move |form: &Form| form.file(feed));
    FEEDS.iter().flat_map(of_feed).map(|file| roads.path(&file))
}

/// The forms of a publication, by path.
#[derive(Debug)]
pub(crate) struct Forms(BTreeMap<String, FormOfFeed>);

impl Forms {
    pub(crate) fn new(roads: &Roads) -> Self {
        let all = FEEDS.iter().flat_map(|feed| FORMS.iter().map(move |form| (feed, form)));
        let forms = all.map(|(feed, form)| {
            let (document, part) = (roads.path(feed.file), OnceCell::new());
            (roads.path(&form.file(feed)), FormOfFeed { feed, form, document, part })
        });
        Self(forms.collect())
    }

    /// Returns the form of a feed at this path. `document` returns the bytes of the document at a path. Who
    /// asks while it is made waits without a thread. One that could not be made is made again.
    pub(crate) async fn at(
        &self,
        path: &str,
        document: impl FnOnce(&str) -> Option<Bytes>,
    ) -> io::Result<Option<Part>> {
        let Some(FormOfFeed { feed, form, document: source, part }) = self.0.get(path) else {
            return Ok(None);
        };
        let making = || async {
            let bytes = document(source).unwrap_or_default();
            let (feed, form) = (*feed, *form);
            let make = move || Part::new(form.media_type, &(form.make)(feed.file, &bytes)?);
            spawn_blocking(make).await.map_err(io::Error::other)?
        };
        Ok(Some(part.get_or_try_init(making).await?.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    const PATH: &str = "/map/data/sf-people.ndjson";

    #[tokio::test]
    async fn a_form_is_made_once_for_all_who_ask_and_again_after_a_failure() {
        let forms = Arc::new(Forms::new(&Roads::of_host("", None)));
        let asked = Arc::new(AtomicUsize::new(0));
        let ask = |document: &'static str| {
            let (forms, asked) = (Arc::clone(&forms), Arc::clone(&asked));
            tokio::spawn(async move {
                let bytes = |_: &str| {
                    asked.fetch_add(1, Ordering::Relaxed);
                    Some(Bytes::from_static(document.as_bytes()))
                };
                forms.at(PATH, bytes).await.map(Option::unwrap)
            })
        };
        assert!(ask("{").await.unwrap().is_err());
        let all: Vec<_> = (0..100).map(|_| ask(r#"{"items":[{"id":"per_1"}]}"#)).collect();
        for one in all {
            assert_eq!(one.await.unwrap().unwrap().media_type, "application/x-ndjson");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert!(forms.at("/map/data/nothing.csv", |_| None).await.unwrap().is_none());
    }
}
