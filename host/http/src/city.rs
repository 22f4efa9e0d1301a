//! A city whose feeds this host serves, as the state of its routes.

use crate::App;
use axum::extract::FromRef;
use portolan_publication::{Feeds, Roads};
use std::sync::Arc;

/// A city, as the state of its routes.
#[derive(Debug, Clone)]
pub(super) struct City {
    pub(super) app: Arc<App>,
    pub(super) feeds: Arc<Feeds>,
}

impl FromRef<City> for Arc<App> {
    fn from_ref(city: &City) -> Self {
        Self::clone(&city.app)
    }
}

impl City {
    /// Returns the cities of this host, the first one first.
    pub(super) fn all(app: &Arc<App>) -> impl Iterator<Item = Self> {
        let city = |feeds| Self { app: Arc::clone(app), feeds: Arc::clone(feeds) };
        app.host.cities().map(city)
    }

    pub(super) fn roads(&self) -> &Roads {
        self.feeds.roads()
    }
}
