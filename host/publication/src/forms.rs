//! Other forms of the feeds: lines of JSON, and CSV. A form is made when it is first asked for.

use crate::part::Part;
use bytes::Bytes;
use portolan_feeds::{
    Roads,
    export::{FORMS, Form},
    record::{FEEDS, Feed},
};
use std::{
    collections::BTreeMap,
    sync::{LazyLock, OnceLock},
};

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
pub(crate) struct Forms(BTreeMap<&'static str, OnceLock<Option<Part>>>);

impl Forms {
    pub(crate) fn new() -> Self {
        Self(form_paths().map(|path| (path, OnceLock::new())).collect())
    }

    /// Returns the form of a feed at this path. `document` returns the bytes of the document at a path.
    pub(crate) fn at(
        &self,
        path: &str,
        document: impl FnOnce(&str) -> Option<Bytes>,
    ) -> Option<Part> {
        let (feed, form) = *PATHS.get(path)?;
        let made = || {
            let bytes = (form.make)(feed.file, &document(&Roads::path(feed.file))?).ok()?;
            Part::new(form.media_type, &bytes).ok()
        };
        self.0.get(path)?.get_or_init(made).clone()
    }
}
