//! The stored documents: a person's last export and erasure, and the parts of the archive.

use crate::{refusals::*, states::*, types::*};
use people_kit::hex;
use portolan_archive::Contents;
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Personal;
use portolan_sdk::{prelude::*, secrets};

/// The last export and the last erasure of each person, keyed by the owner's id. Each start writes it,
/// so two agents cannot start two at once.
pub(crate) const RIGHTS: Collection<Rights> =
    Collection::new("people").people(&[Person::delete("$id")]);

pub(crate) const EXPORTS: Collection<Export> =
    Collection::new("exports").people(&[Person::delete("owner_id")]);

/// The parts of archives, keyed by the export's id and the part's number. They copy what is stored elsewhere,
/// so exports leave them out.
pub(crate) const PARTS: Collection<StoredPart> = Collection::new("parts")
    .people(&[Person::delete("owner_id").fields(&[Personal("sealed")])])
    .annotations(&[("portolan/left_out_of_exports", "true")]);

pub(crate) const ERASURES: Collection<Erasure> = Collection::new("erasures")
    .people(&[Person::delete("owner_id"), Person::redact("agent_id", &[])]);

#[document(Default)]
pub(crate) struct Rights {
    pub(crate) export_id: Option<String>,
    pub(crate) erasure_id: Option<String>,
}

#[document]
#[entity(
    kind = "data_export", subjects = "data_exports", collection = EXPORTS, owner = owner_id,
    not_found = DataRightsError::ExportNotFound
)]
pub(crate) struct Export {
    pub(crate) owner_id: String,
    pub(crate) state: ExportState,
    pub(crate) requested_at: u64,
    pub(crate) ready_at: Option<u64>,
    /// The number of the last part that the host has sent.
    pub(crate) received: u32,
    /// The number of parts of the archive.
    pub(crate) parts: u32,
    /// The number of stored parts: more than those of the archive if the host has begun again.
    pub(crate) stored: u32,
    pub(crate) contents: Contents,
}

#[document]
pub(crate) struct StoredPart {
    pub(crate) owner_id: String,
    pub(crate) file: String,
    pub(crate) offset: u64,
    pub(crate) sha256: String,
    /// The text, sealed and as hexadecimal digits: an archive has contact data that others keep sealed too.
    pub(crate) sealed: String,
}

impl StoredPart {
    pub(crate) fn seal(text: &str) -> Result<String> {
        Ok(hex::encode(&secrets::seal(text.as_bytes())?))
    }

    /// Returns the text; `None` if this capability's keys cannot open it.
    pub(crate) fn open(&self) -> Result<Option<String>> {
        let opened = secrets::open(&hex::decode(&self.sealed))?;
        Ok(opened.and_then(|bytes| String::from_utf8(bytes).ok()))
    }
}

#[document]
#[entity(
    kind = "data_erasure", subjects = "data_erasures", collection = ERASURES, owner = owner_id,
    not_found = DataRightsError::ErasureNotFound
)]
pub(crate) struct Erasure {
    pub(crate) owner_id: String,
    pub(crate) state: ErasureState,
    pub(crate) requested_by: Requester,
    /// The agent through which the person asked.
    pub(crate) agent_id: Option<String>,
    pub(crate) scheduled_at: u64,
    pub(crate) erases_at: u64,
}

impl Export {
    /// Returns the bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.contents.0.values().map(|folder| folder.bytes).sum()
    }

    /// Returns when the archive is removed.
    pub(crate) fn expires_at(&self) -> Option<u64> {
        self.ready_at.map(|ready_at| ready_at + KEPT_FOR)
    }
}

pub(crate) fn part_id(export_id: &str, number: u32) -> String {
    format!("{export_id}/{number}")
}
