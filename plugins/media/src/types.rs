//! Inputs, outputs, limits and events.

use crate::states::*;
use people_kit::people::PersonId;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "media";

/// The id of the file: `med_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The id of a listing: `lst_` and a ULID.
#[id]
pub(crate) struct ListingIdText(String);

/// The id of an upload, as the host names it: `blob_` and a ULID.
#[id]
pub(crate) struct BlobIdText(String);

/// The maximum number of bytes of a file, by its kind.
pub(crate) const PICTURE_BYTES: u64 = 8 << 20;
pub(crate) const DOCUMENT_BYTES: u64 = 10 << 20;
/// The maximum number of files of a person.
pub(crate) const MOST_FILES: u64 = 100;
pub(crate) const CREATED_A_DAY: DailyLimit =
    DailyLimit { action: "create", name: "files_per_day", most: 100 };
/// The time from the end of an upload's address until the file is refused: an upload that has just arrived is seen.
pub(crate) const ARRIVAL_TIME: u64 = 5 * MINUTE;
/// The time after which a file that could not be processed is refused: many attempts fit into it.
pub(crate) const PROCESSING_TIME: u64 = 30 * MINUTE;
/// A timer that runs this much too late has waited for the host, and so have the attempts before it.
pub(crate) const LATE: u64 = MINUTE;
/// The time after which a refused file is forgotten.
pub(crate) const REFUSED_KEPT: u64 = 7 * DAY;
/// The time for which the address of a private file is valid.
pub(crate) const ADDRESS_TIME: u64 = 10 * MINUTE;

pub(crate) type MediaEvent = Event<Data<Facts>>;

pub(crate) const READY: MediaEvent = Event::new("media.ready");
pub(crate) const REFUSED: MediaEvent = Event::new("media.refused");
pub(crate) const HIDDEN: MediaEvent = Event::new("media.hidden");
pub(crate) const SHOWN: MediaEvent = Event::new("media.reinstated");

/// The facts of an event.
#[output]
pub(crate) struct Facts {
    pub(crate) media_id: String,
    pub(crate) kind: Kind,
    /// Why it was refused.
    pub(crate) reason: Option<Reason>,
}

#[choice]
pub(crate) enum Kind {
    /// A JPEG, PNG or WebP file of at most 8 MiB.
    Picture,
    /// A PDF file of at most 10 MiB.
    Document,
}

#[choice]
pub(crate) enum Visibility {
    /// Everybody who sees the listing or the person finds it, and everybody who has its address can read it.
    Public,
    /// The person alone.
    Private,
}

/// Why a file was refused.
#[choice]
pub(crate) enum Reason {
    /// It did not arrive in time.
    NotUploaded,
    /// Its content is not of a type that its kind can have, whatever its name says.
    UnsupportedType,
    /// It is damaged or not whole.
    Unreadable,
    /// The picture has too many pixels: about 12 million are possible.
    TooManyPixels,
    /// Reading it took too much time or memory.
    TooDemanding,
    /// The person has too many files or bytes.
    QuotaExceeded,
}

#[input]
pub(crate) struct Create {
    /// The kind of file, which decides the types that its content can have.
    pub(crate) kind: Kind,
    /// The bytes of the file. A smaller file can be sent, but no larger one.
    #[schemars(range(min = 1, max = 10_485_760))]
    pub(crate) bytes: u64,
    /// What the picture shows, or the document's title, on one line: for those who do not see it. Without contact data.
    pub(crate) title: Text<1, 200>,
    /// A listing that the person can edit. Without one, the file is on the profile.
    pub(crate) listing_id: Option<ListingIdText>,
    /// The readers; `public` if it is not given.
    pub(crate) visibility: Option<Visibility>,
}

#[input]
pub(crate) struct Update {
    pub(crate) media_id: Id,
    /// The description of the picture, or the document's title, on one line. Without contact data.
    pub(crate) title: Option<Text<1, 200>>,
    /// A listing that the person can edit, on which the file is from now on.
    pub(crate) listing_id: Option<ListingIdText>,
    /// The readers.
    pub(crate) visibility: Option<Visibility>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Step {
    pub(crate) media_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct MediaId {
    pub(crate) media_id: Id,
}

impl MediaId {
    pub(crate) fn of(media_id: &str) -> Self {
        Self { media_id: media_id.to_owned().into() }
    }
}

#[input]
pub(crate) struct GiveUp {
    pub(crate) media_id: Id,
    /// When it was to run, in milliseconds since the Unix epoch.
    pub(crate) due: u64,
    /// Whether the file was given another time because the first one had passed without attempts.
    #[serde(default)]
    pub(crate) again: bool,
}

#[input]
pub(crate) struct BlobId {
    pub(crate) blob_id: BlobIdText,
}

/// Exactly one of the two is given.
#[input]
pub(crate) struct About {
    pub(crate) listing_id: Option<ListingIdText>,
    /// A person, for the files on their profile.
    pub(crate) owner_id: Option<PersonId>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// Where and how the file is sent.
#[output]
pub(crate) struct UploadView {
    /// Always `PUT`.
    pub(crate) method: &'static str,
    /// The address, which works once.
    pub(crate) url: String,
    /// Until when (RFC 3339).
    pub(crate) expires_at: String,
    /// The maximum number of bytes.
    pub(crate) max_bytes: u64,
}

/// A file as the caller sees it.
#[output]
pub(crate) struct MediaView {
    pub(crate) media_id: String,
    pub(crate) owner_id: String,
    pub(crate) kind: Kind,
    pub(crate) state: State,
    /// The version, which increases with every change.
    pub(crate) version: u64,
    /// The actions that the caller may take now.
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The description of the picture, or the document's title.
    pub(crate) title: String,
    /// The listing; omitted for a file on the profile.
    pub(crate) listing_id: Option<String>,
    pub(crate) visibility: Visibility,
    /// The address of the file, once it is ready. That of a private file is valid for ten minutes.
    pub(crate) url: Option<String>,
    /// The address of a small picture, at most 320 pixels wide and high.
    pub(crate) thumbnail_url: Option<String>,
    /// The type of what is at the address: `image/jpeg` or `application/pdf`.
    pub(crate) media_type: Option<String>,
    /// The bytes of what is at the address.
    pub(crate) bytes: Option<u64>,
    /// The width of the picture in pixels.
    pub(crate) width: Option<u32>,
    /// The height of the picture in pixels.
    pub(crate) height: Option<u32>,
    /// Why it was refused.
    pub(crate) reason: Option<Reason>,
    /// Where the file is sent. Only `create` answers it.
    pub(crate) upload: Option<UploadView>,
    /// When it was begun (RFC 3339).
    pub(crate) created_at: String,
    /// Always `untrusted_user_content`: a person has made the file and its title.
    pub(crate) trust: &'static str,
}
