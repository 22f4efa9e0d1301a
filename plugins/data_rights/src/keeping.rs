//! Keeps the parts of an export that the host sends, as the files of an archive.

use crate::{documents::*, exporting, refusals::*, states::*, types::*};
use people_kit::hex;
use portolan_archive::File;
use portolan_sdk::{people::Part, prelude::*};
use sha2::{Digest as _, Sha256};

/// Keeps the next items. After a crash, the host begins again with the first part; everything before is
/// replaced.
pub(crate) fn keep(call: &Call, part: Part<About>) -> Result<()> {
    // The export was replaced, or the person is erased.
    let Some(mut export) = EXPORTS.get(&part.export_id)? else { return Ok(()) };
    let value = &mut export.value;
    if part.part == 1 {
        (value.received, value.parts) = (0, 0);
        value.contents = Default::default();
    }
    let is_next = part.part == value.received + 1;
    let to = if part.last { ExportState::Ready } else { ExportState::Running };
    if !is_next || export.step_to(&EXPORT, "keep", to).is_err() {
        return Ok(());
    }
    let value = &mut export.value;
    value.received = part.part;
    for file in value.contents.add(part.items) {
        store(&part.export_id, value, &file)?;
    }
    if part.last {
        let exported_at = rfc3339(call.now());
        let about =
            portolan_archive::About { owner_id: &value.owner_id, exported_at: &exported_at };
        let index = value.contents.index(about);
        store(&part.export_id, value, &index)?;
        value.ready_at = Some(call.now());
    }
    export.save()?;
    if part.last { announce(&export) } else { Ok(()) }
}

/// Stores a file in parts.
fn store(export_id: &str, export: &mut Export, file: &File) -> Result<()> {
    let mut offset = 0;
    for text in pieces(&file.text) {
        export.parts += 1;
        export.stored = export.stored.max(export.parts);
        let part = StoredPart {
            owner_id: export.owner_id.clone(),
            file: file.name.clone(),
            offset,
            sha256: hex::encode(&Sha256::digest(text)),
            sealed: StoredPart::seal(text)?,
        };
        offset += text.len() as u64;
        let id = part_id(export_id, export.parts);
        PARTS.put(&id, &part, Expect::Any)?;
    }
    Ok(())
}

/// Splits a text into pieces that a part can have.
fn pieces(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PART_BYTES));
        pieces.push(piece);
        text = rest;
    }
    pieces
}

/// Announces an archive that is ready, and sets the timer that removes it.
fn announce(export: &Stored<Export>) -> Result<()> {
    let value = &export.value;
    let Some(expires_at) = value.expires_at() else { return Ok(()) };
    timers::cancel(&exporting::timer("give_up", &export.id))?;
    exporting::set_timer("expire", &export.id, expires_at)?;
    let archive = Archive {
        export_id: export.id.clone(),
        parts: value.parts,
        bytes: value.bytes(),
        expires_at: rfc3339(expires_at),
    };
    let next = Next::action(CAPABILITY, "download").field("export_id", export.id.as_str());
    let summary = "An export of all your data can be downloaded.";
    let data = Data::by_system(export.resource(), summary, archive).next(next);
    Ok(export.notify_owner(READY, &data)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_between_characters() {
        let text = "é".repeat(PART_BYTES);
        let split = pieces(&text);
        assert_eq!(split.len(), 2);
        assert_eq!(split.concat(), text);
        let odd = format!("x{text}");
        assert_eq!(pieces(&odd)[0].len(), PART_BYTES - 1);
        assert!(pieces("").is_empty());
    }
}
