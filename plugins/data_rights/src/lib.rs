//! The capability `data_rights`: a person exports and erases what is stored about them.
//!
//! The host collects an export and sends it in parts; this capability keeps the parts as the files of an
//! archive for a week. An erasure is scheduled, announced to all agents of the person, and carried out by the
//! host when its time has come.

mod documents;
mod erasing;
mod exporting;
mod intents;
mod person_page;
mod keeping;
mod refusals;
mod states;
#[cfg(test)]
mod tests;
mod types;

use documents::{ERASURES, EXPORTS, PARTS, RIGHTS};
use people_kit::people;
use portolan_sdk::{WHILE_SUSPENDED, people::Part, prelude::*};
use refusals::DataRightsError;
use states::{ERASURE, EXPORT};
use types::*;

struct DataRights;

/// Export everything that this service stores about a person, or erase it.
///
/// `export` makes an archive of everything: documents of all capabilities, events, webhooks, stored
/// answers and pending timers, as JSON files by capability with an index. It is ready within minutes, as
/// the event `data_export.ready` says, and `download` returns it in parts for 7 days. `erase` schedules the
/// erasure of everything in 7 days. All agents of the person are notified at once and a day before, and any of
/// them can `cancel` until then. An erasure cannot be undone.
#[capability(
    id = "data_rights",
    consequence = portolan_sdk::Consequence::of("account"),
    title = "Your data",
    tags = ["privacy", "gdpr", "export", "erasure", "account"],
    invokes = [people::PEOPLE, WARN_OF_ERASURE],
    collections = [RIGHTS, EXPORTS, PARTS, ERASURES],
    state_machines = [EXPORT, ERASURE]
)]
impl DataRights {
    /// Start an export of what is stored about the person.
    ///
    /// It leaves out the audit log of calls, and what others keep about the person for themselves.
    /// The archive of an earlier export is removed. Another export can be started a day after
    /// the last one was ready.
    #[action(
        access = write, annotations = [(WHILE_SUSPENDED, true)], example = json!({}),
        intents = intents::EXPORT, person_page = person_page::export()
    )]
    fn export(call: &Call) -> Result<Answer<ExportView>, DataRightsError> {
        exporting::start(call)
    }

    /// Show the person's last export and erasure: their states, and when something happens next.
    ///
    /// For an agent that nobody has claimed, both are null, and `next` is the way to a claim.
    #[action(access = read, idempotent, intents = intents::STATUS, person_page = person_page::status())]
    fn status(call: &Call) -> Result<Answer<Status>, DataRightsError> {
        let Some(owner_id) = call.owner_id() else {
            return Ok(Answer::new(Status { export: None, erasure: None }).next(Next::claim()));
        };
        let status = Status {
            export: exporting::find_last(owner_id)?.as_ref().map(exporting::view),
            erasure: erasing::find_last(owner_id)?.as_ref().map(erasing::view),
        };
        Ok(Answer::new(status))
    }

    /// Download parts of an archive that is ready.
    ///
    /// Write the `text` of each part to the file that it names, in UTF-8; append it if `offset` is not 0. Go
    /// on with `next_part` until it is null. `sha256` is the digest of the part's text. Start with the
    /// last part to read the index first.
    #[action(
        access = read, idempotent,
        example = json!({ "export_id": EXPORT_ID }),
        example = json!({ "export_id": EXPORT_ID, "part": 5, "limit": 4 }),
        intents = intents::DOWNLOAD, person_page = person_page::download()
    )]
    fn download(call: &Call, input: Download) -> Result<Answer<Parts>, DataRightsError> {
        exporting::download(call, &input)
    }

    /// Schedule the erasure of everything that is stored about the person, in 7 days.
    ///
    /// Without `confirm`, it is refused with the list of what will be deleted, redacted and kept: show it to the
    /// person, and ask for a clear yes. An erasure that is scheduled already stays as it is. Until it is
    /// carried out, everything works as before, and `cancel` stops it.
    #[action(
        access = write, idempotent, destructive, emits = [SCHEDULED],
        annotations = [(WHILE_SUSPENDED, true)],
        example = json!({ "confirm": true }),
        intents = intents::ERASE, person_page = person_page::erase()
    )]
    fn erase(call: &Call, input: Erase) -> Result<Answer<ErasureView>, DataRightsError> {
        erasing::erase(call, &input)
    }

    /// Cancel the scheduled erasure.
    #[action(
        access = write, emits = [CANCELLED], annotations = [(WHILE_SUSPENDED, true)],
        example = json!({}),
        intents = intents::CANCEL, person_page = person_page::cancel()
    )]
    fn cancel(call: &Call) -> Result<ErasureView, DataRightsError> {
        erasing::cancel(call)
    }

    /// Schedule the erasure of a person, for the operator.
    ///
    /// It is announced and can be cancelled like one that the person has asked for.
    #[action(access = internal, idempotent, emits = [SCHEDULED])]
    fn schedule_erasure(call: &Call, input: OwnerId) -> Result<ErasureView, DataRightsError> {
        erasing::schedule_for_operator(call, &input.owner_id)
    }

    /// Keep the next items of an export.
    #[action(access = internal, emits = [READY])]
    fn keep(call: &Call, part: Part<About>) -> Result<(), DataRightsError> {
        keeping::keep(call, part)
    }

    /// Give up an export that the host has not completed in a day.
    #[action(access = internal, idempotent, emits = [FAILED])]
    fn give_up(call: &Call, input: ExportId) -> Result<(), DataRightsError> {
        exporting::give_up(call, &input.export_id)
    }

    /// Remove the archive of an export that has expired or was replaced.
    #[action(access = internal, idempotent)]
    fn expire(call: &Call, input: ExportId) -> Result<(), DataRightsError> {
        exporting::expire(call, &input.export_id)
    }

    /// Remind the person's agents of an erasure.
    #[action(access = internal, emits = [REMINDER])]
    fn remind(_call: &Call, input: ErasureId) -> Result<(), DataRightsError> {
        erasing::remind(&input.erasure_id)
    }

    /// Carry out an erasure whose time has come.
    #[action(access = internal)]
    fn carry_out(call: &Call, input: ErasureId) -> Result<(), DataRightsError> {
        erasing::carry_out(call, &input.erasure_id)
    }
}

const EXPORT_ID: &str = "exp_01JZX8Q4M2N6P7R8S9T0V1W2X3";
