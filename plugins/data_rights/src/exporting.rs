//! Exports, from their start to the removal of their archive.

use crate::{documents::*, refusals::*, states::*, types::*};
use people_kit::UNTRUSTED;
use portolan_archive::Folder;
use portolan_sdk::{events::Nothing, people::export, prelude::*, time::seconds};

/// The maximum number of parts that one call removes.
const REMOVED_AT_ONCE: u32 = 200;

pub(crate) fn start(call: &Call) -> Result<Answer<ExportView>> {
    let owner_id = call.require_owner()?.to_owned();
    let mut rights = RIGHTS.get_or_default(&owner_id)?;
    if let Some(last) = find_last(&owner_id)? {
        ensure_may_be_replaced(&last.value, call.now())?;
        set_timer("expire", &last.id, call.now())?;
    }
    let export_id = export("keep", &About { owner_id: owner_id.clone() })?;
    rights.value.export_id = Some(export_id.clone());
    RIGHTS.save(&mut rights)?;
    let value = Export {
        owner_id,
        state: ExportState::Received,
        requested_at: call.now(),
        ready_at: None,
        received: 0,
        parts: 0,
        stored: 0,
        contents: Default::default(),
    };
    let started = EXPORTS.add(export_id, value, call.now())?;
    set_timer("give_up", &started.id, call.now() + GIVEN_UP_AFTER)?;
    Ok(Answer::new(view(&started)).next(status().after_s(10)))
}

fn ensure_may_be_replaced(last: &Export, now: u64) -> Result<()> {
    if matches!(last.state, ExportState::Received | ExportState::Running) {
        return Err(DataRightsError::ExportRunning);
    }
    let open_at = last.ready_at.map_or(0, |ready_at| ready_at + EXPORT_INTERVAL);
    match open_at.checked_sub(now).filter(|wait| *wait > 0) {
        Some(wait) => Err(DataRightsError::ExportTooSoon { wait_s: seconds(wait) }),
        None => Ok(()),
    }
}

/// Returns the last export of a person.
pub(crate) fn find_last(owner_id: &str) -> Result<Option<Stored<Export>>> {
    let rights = RIGHTS.get_or_default(owner_id)?.value;
    Ok(rights.export_id.map(|id| EXPORTS.get(&id)).transpose()?.flatten())
}

pub(crate) fn view(export: &Stored<Export>) -> ExportView {
    let value = &export.value;
    let folders = value.contents.0.iter();
    let folder = |(name, folder): (&String, &Folder)| {
        let folder_name = name.clone();
        view!(folder => FolderView { items, files, bytes; folder: folder_name })
    };
    view!(value => ExportView {
        state, parts;
        export_id: export.id.clone(),
        version: export.revision,
        allowed_actions: EXPORT.allowed(value.state),
        requested_at: rfc3339(value.requested_at),
        ready_at: value.ready_at.map(rfc3339),
        expires_at: value.expires_at().map(rfc3339),
        bytes: value.bytes(),
        contents: folders.map(folder).collect(),
    })
}

pub(crate) fn download(call: &Call, input: &Download) -> Result<Answer<Parts>> {
    let export = Export::load_own(call, &input.export_id)?;
    let value = &export.value;
    EXPORT.step(&export.id, value.state, "download").map_err(|refusal| refusal.next(status()))?;
    if input.part > value.parts {
        return Err(Refusal::validation("/part", "maximum", value.parts).into());
    }
    let last = input.part.saturating_add(input.limit.min(MOST_PARTS) - 1).min(value.parts);
    let numbers = input.part..=last;
    let stored = PARTS.get_many(numbers.clone().map(|number| part_id(&export.id, number)))?;
    let mut items = Vec::new();
    for (part, stored) in numbers.zip(stored) {
        let Some(stored) = stored else { continue };
        let Some(text) = stored.value.open()? else { continue };
        let StoredPart { file, offset, sha256, .. } = stored.value;
        items.push(PartView { part, file, offset, bytes: text.len() as u64, sha256, text });
    }
    let next_part = (last < value.parts).then_some(last + 1);
    let parts = Parts {
        export_id: export.id.clone(),
        parts: value.parts,
        bytes: value.bytes(),
        items,
        next_part,
        trust: UNTRUSTED,
    };
    let next = next_part.map(|part| {
        let next = Next::action(CAPABILITY, "download").field("export_id", export.id.as_str());
        next.field("part", part).field("limit", input.limit)
    });
    Ok(Answer::with(parts, next))
}

/// Gives up an export that is not ready, and removes what was stored of it.
pub(crate) fn give_up(call: &Call, export_id: &str) -> Result<()> {
    let Some(mut export) = EXPORTS.get(export_id)? else { return Ok(()) };
    if export.step(&EXPORT, "give_up").is_err() {
        return Ok(());
    }
    export.save()?;
    set_timer("expire", export_id, call.now())?;
    let summary = "Your export has failed. Start another one.";
    let next = Next::action(CAPABILITY, "export");
    let data = Data::by_system(export.resource(), summary, Nothing {}).next(next);
    Ok(export.notify_owner(FAILED, &data)?)
}

/// Removes the archive of an export, if its time is over, another export has replaced it, or it has failed. The
/// document of a replaced export is deleted.
pub(crate) fn expire(call: &Call, export_id: &str) -> Result<()> {
    let Some(mut export) = EXPORTS.get(export_id)? else { return Ok(()) };
    let rights = RIGHTS.get_or_default(&export.value.owner_id)?.value;
    let is_replaced = rights.export_id.as_deref() != Some(export_id);
    let is_due = export.value.expires_at().is_some_and(|at| at <= call.now());
    match export.value.state {
        ExportState::Received | ExportState::Running => return Ok(()),
        ExportState::Ready if !(is_due || is_replaced) => return Ok(()),
        ExportState::Ready => export.step(&EXPORT, "expire")?,
        ExportState::Expired | ExportState::Failed => {}
    }
    let left = export.value.stored.saturating_sub(REMOVED_AT_ONCE);
    for number in left + 1..=export.value.stored {
        PARTS.delete(&part_id(export_id, number), Expect::Any)?;
    }
    export.value.stored = left;
    if left > 0 {
        set_timer("expire", export_id, call.now())?;
    } else if is_replaced {
        return Ok(EXPORTS.delete(export_id, Expect::Any)?);
    }
    Ok(export.save()?)
}

pub(crate) fn set_timer(action: &str, export_id: &str, at: u64) -> Result<()> {
    let input = ExportId { export_id: export_id.to_owned() };
    Ok(timers::set(&timer(action, export_id), at, action, &input)?)
}

/// Returns the name of an export's timer.
pub(crate) fn timer(action: &str, export_id: &str) -> String {
    format!("{action}/{export_id}")
}
