//! The published feeds: read from their folder, checked, compressed once, and replaced as a whole.
//!
//! # The modules, in reading order
//!
//! - [`options`](FeedsOptions) and [`provider`](Provider): the folder of the feeds, and the host's
//!   description of itself.
//! - [`cities`](CitySettings): the cities after the first one.
//! - [`entries`](DocumentEntry): the documents that are served, with their paths and titles.
//! - [`file_backed`](FileBacked) and [`document`](Document): a document's bytes in each content coding,
//!   and the files from which the kernel can send them.
//! - `part`: documents that are held compressed only, such as the long texts of records; and `forms`: the
//!   feeds as lines and tables.
//! - `data_catalog`, `discovery` and `description`: the documents that the host makes itself, the feeds as a
//!   catalogue in DCAT, the discovery manifest and the OpenAPI description.
//! - [`records`]: the records of the feeds in a database of their own, so that capabilities can search
//!   them; [`lookup`](Reference) reads single ones.
//! - [`pages`](Pages): which records have pages.
//! - [`publication`](Publication): all documents of one publication.
//! - [`snapshots`](Snapshots): the documents of earlier days.
//! - [`status`](Status): what the operator reads about the feeds.
//! - [`feeds`](Feeds): the current publication.
//! - [`hubs`](Hubs) and `hub_notices`: the WebSub hubs, and how they are told which documents have changed.
//! - `updater`: the one task that watches the folder and publishes a new publication.
//!
//! # Invariants
//!
//! - The feeds of a city have a folder, a publication, a status and a task of their own; no city waits for another.
//! - A publication never changes. A new one replaces it in one atomic swap.
//! - A publication with a fault never replaces one without.
//! - Nothing is read from disk or compressed for a request, but for pages of the log of changes, snapshots, the
//!   first request for another form of a feed, and clients that accept no gzip.
//! - What a request holds in memory does not grow with the document that it reads.
//! - The records of a publication are never written after it is published, and are deleted with it.

mod cities;
mod data_catalog;
mod description;
mod discovery;
mod document;
mod entries;
mod feeds;
mod file_backed;
mod forms;
mod hub_notices;
mod hubs;
mod lookup;
mod options;
mod pages;
mod part;
mod provider;
mod publication;
pub mod records;
mod snapshots;
mod status;
mod updater;

pub use cities::{CitySettings, city_faults};
pub use document::{Body, Coding, Document};
pub use entries::DocumentEntry;
pub use feeds::{Feeds, no_feeds};
pub use file_backed::FileBacked;
pub use hubs::{FeedsSettings, Hubs};
pub use lookup::{Reference, RoleDescription};
pub use options::{FeedsOptions, HostDescription};
pub use pages::{PageEntry, Pages, page_folder, record_feeds};
pub use part::Part;
pub use portolan_feeds::changes;
pub use portolan_feeds::{
    Roads,
    record::{Feed, MAP_PATH},
};
pub use provider::Provider;
pub use publication::Publication;
pub use snapshots::{SnapshotDocument, Snapshots};
pub use status::{CurrentPublication, RefusedPublication, Status};
