//! Files that people upload (blobs), and what capabilities make of them.
//!
//! A blob is a document of the host's own: the capability and the person it belongs to, its content, and how it is
//! served. A content is stored once under its SHA-256 digest, whatever the number of blobs that have it, and is removed
//! with the last of them. The modules, in reading order:
//!
//! - `settings` is what the operator can set, `error` why something is refused.
//! - `records` are the documents; `contents` is where contents are: a `folder`, or a `bucket`.
//! - `address` signs the addresses of uploads and of private files.
//! - `blobs` is what capabilities do with blobs, in the unit of work of their call.
//! - `incoming` receives an upload, and `arrivals` has the room for it; `served` finds what an address of a file shows, of a
//!   `served_type`.
//! - `ownership` says whose the place of the contents is; `removal` removes contents that no blob has, and everything of an erased person.
//!
//! Invariants: no content is decoded here; a content is on the disk before a document names it, and no document names
//! it when it is removed, so a crash leaves at most a file that the sweep removes; the name of a file is used only
//! once, so what is removed is never what is stored anew.

mod address;
mod arrivals;
mod blobs;
mod bucket;
mod contents;
mod error;
mod folder;
mod incoming;
mod ownership;
mod records;
mod removal;
mod served;
mod served_type;
mod settings;

pub use blobs::{Blob, Blobs, Holder, UNUSED_CONTENTS, Upload};
pub use error::BlobError;
pub use incoming::{Arrived, Incoming};
pub use ownership::Place;
pub use records::Serving;
pub use served::{Served, SignedAddress};
pub use settings::{BucketSettings, MediaSettings, StoreKind};
