//! The stored documents: one for each file. Its bytes are the host's.

use crate::{refusals::*, states::*, types::*};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Shared;
use portolan_sdk::prelude::*;

pub(crate) const ITEMS: Collection<Item> = Collection::new("items")
    .people(&[Person::delete("owner_id").fields(&[Shared("title")])])
    .index("owner", &["owner_id", "on_profile", "state", "visibility", "created_at"])
    .index("listing", &["listing_id", "state", "visibility", "created_at"])
    .index("blob", &["blob_id"]);

/// The actions of each person on one day, keyed by their id.
pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

/// A file. All times are milliseconds since the Unix epoch.
#[document]
#[entity(
    kind = "media", subjects = "media", collection = ITEMS, owner = owner_id,
    not_found = MediaError::MediaNotFound
)]
pub(crate) struct Item {
    pub(crate) owner_id: String,
    pub(crate) kind: Kind,
    pub(crate) state: State,
    pub(crate) title: String,
    /// The listing; none for a file on the profile.
    pub(crate) listing_id: Option<String>,
    /// Whether it is on the profile, and not on a listing.
    pub(crate) on_profile: bool,
    pub(crate) visibility: Visibility,
    /// The upload; that of a picture is deleted when it is processed.
    pub(crate) blob_id: Option<String>,
    /// The served content.
    pub(crate) served: Option<Served>,
    pub(crate) reason: Option<Reason>,
    pub(crate) created_at: u64,
}

/// The served form of a file.
#[document]
pub(crate) struct Served {
    pub(crate) blob_id: String,
    pub(crate) media_type: String,
    pub(crate) bytes: u64,
    /// Of a picture.
    pub(crate) picture: Option<Picture>,
}

#[document]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) thumbnail_id: String,
}

impl Item {
    /// Returns every blob of the file.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = &String> {
        let served = self.served.as_ref();
        let thumbnails = served.and_then(|served| served.picture.as_ref());
        let upload =
            self.blob_id.as_ref().filter(|id| served.is_none_or(|served| served.blob_id != **id));
        upload
            .into_iter()
            .chain(served.map(|served| &served.blob_id))
            .chain(thumbnails.map(|picture| &picture.thumbnail_id))
    }
}
