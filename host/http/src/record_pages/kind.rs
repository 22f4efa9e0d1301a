//! The kinds of records that have pages.

use super::{company, error::PageError, event, person, reader::Reader, role};
use serde_json::Value;

/// The kinds of records that have pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Company,
    Role,
    Person,
    Event,
}

impl Kind {
    /// Returns the id of the feed.
    pub(super) fn feed(self) -> &'static str {
        match self {
            Self::Company => "targets",
            Self::Role => "roles",
            Self::Person => "people",
            Self::Event => "events",
        }
    }

    /// Returns the name of the folder of the pages below the city's path.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Company => "companies",
            Self::Role => "roles",
            Self::Person => "people",
            Self::Event => "events",
        }
    }

    /// Returns the HTML of the page about a record.
    pub(super) async fn render(
        self,
        reader: &Reader<'_>,
        record: &Value,
    ) -> Result<String, PageError> {
        match self {
            Self::Company => company::render(reader, record).await,
            Self::Role => role::render(reader, record).await,
            Self::Person => person::render(reader, record).await,
            Self::Event => event::render(reader, record).await,
        }
    }
}
