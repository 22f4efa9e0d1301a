//! Other forms of the feeds: lines of JSON, and CSV. A form is made when it is first asked for, once, however
//! many ask for it meanwhile.

use crate::part::Part;
use bytes::Bytes;
use portolan_feeds::{
    Roads,
    export::{FORMS, Form},
    record::{FEEDS, Feed},
};
use std::{collections::BTreeMap, io, sync::LazyLock};
use tokio::{sync::OnceCell, task::spawn_blocking};

/// A form of a feed.
type FormOfFeed = (&'static Feed, &'static Form);

/// The forms of all feeds, by path.
static PATHS: LazyLock<BTreeMap<String, FormOfFeed>> = LazyLock::new(|| {
    let of_feed = |feed: &'static Feed| {
        FORMS.iter().map(move |form| (Roads::path(&form.file(feed)), (feed, form)))
    };
    FEEDS.iter().flat_map(of_feed).collect()
});

/// Returns the paths of all forms.
pub fn form_paths() -> impl Iterator<Item = &'static str> {
    PATHS.keys().map(String::as_str)
}

/// The forms of a publication that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Forms(BTreeMap<&'static str, OnceCell<Part>>);

impl Forms {
    pub(crate) fn new() -> Self {
        Self(form_paths().map(|path| (path, OnceCell::new())).collect())
    }

    /// Returns the form of a feed at this path. `document` returns the bytes of the document at a path. Who
    /// asks while it is made waits without a thread. One that could not be made is made again.
    pub(crate) async fn at(
        &self,
        path: &str,
        document: impl FnOnce(&str) -> Option<Bytes>,
    ) -> io::Result<Option<Part>> {
        let (Some((feed, form)), Some(cell)) = (PATHS.get(path).copied(), self.0.get(path)) else {
            return Ok(None);
        };
        let making = || async {
            let bytes = document(&Roads::path(feed.file)).unwrap_or_default();
            let make = move || Part::new(form.media_type, &(form.make)(feed.file, &bytes)?);
            spawn_blocking(make).await.map_err(io::Error::other)?
        };
        Ok(Some(cell.get_or_try_init(making).await?.clone()))
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
        let forms = Arc::new(Forms::new());
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
