//! The processing of a file after it has arrived, without its person.
//!
//! Reading a picture can end the call: it takes too much memory or time, or the decoder fails. So it has a call of its
//! own, which is tried again for half an hour, and another timer that refuses the file if none has succeeded.

use crate::{documents::*, items, notices, pictures, refusals::*, states::*, types::*};
use portolan_sdk::{contract::blobs, prelude::*};

const PICTURE_TYPE: &str = "image/jpeg";
const DOCUMENT_TYPE: &str = "application/pdf";
/// The first bytes of a PDF file.
const PDF: &[u8] = b"%PDF-";

pub(crate) fn arrived(call: &Call, blob_id: &str) -> Result<()> {
    let found = ITEMS.find(Query::new().filter(field("blob_id").eq(blob_id)).limit(1))?;
    let (mut found, _) = found.into_parts();
    let Some(mut item) = found.pop().filter(|item| item.value.state == State::Uploading) else {
        // The file was deleted or refused while it arrived.
        if found_none(blob_id)? {
            blobs::delete(blob_id)?;
        }
        return Ok(());
    };
    item.step(&MEDIA, "arrived")?;
    item.save()?;
    attempt(call, &item.id, false)
}

/// Makes `process` due, and `give_up` later. `again` if attempts were possible before.
fn attempt(call: &Call, media_id: &str, again: bool) -> Result<()> {
    let name = format!("process/{media_id}");
    timers::set(&name, call.now(), "process", &MediaId::of(media_id))?;
    items::set_give_up(media_id, call.now() + PROCESSING_TIME, again)
}

/// Returns whether no file has this upload.
fn found_none(blob_id: &str) -> Result<bool> {
    Ok(ITEMS.count(field("blob_id").eq(blob_id))? == 0)
}

pub(crate) fn process(call: &Call, media_id: &str) -> Result<()> {
    let Some(mut item) = in_state(media_id, State::Processing)? else { return Ok(()) };
    let Some(blob_id) = item.value.blob_id.clone() else { return Ok(()) };
    let read = match item.value.kind {
        Kind::Picture => picture(&blob_id)?,
        Kind::Document => document(&blob_id)?,
    };
    match read {
        Ok(served) => {
            if served.blob_id != blob_id {
                blobs::delete(&blob_id)?;
                item.value.blob_id = None;
            }
            item.value.served = Some(served);
            item.step_to(&MEDIA, "process", State::Ready)?;
            items::serve(&item.value)?;
            item.save()?;
            timers::cancel(&items::give_up(&item.id))?;
            notices::ready(&item)
        }
        Err(reason) => refuse(call, item, "process", reason),
    }
}

pub(crate) fn give_up(call: &Call, input: &GiveUp) -> Result<()> {
    let media_id: &str = &input.media_id;
    let Some(item) = ITEMS.get(media_id)? else { return Ok(()) };
    let reason = match item.value.state {
        State::Uploading => match uploaded(&item)? {
            Some(blob_id) => return arrived(call, &blob_id),
            None => Reason::NotUploaded,
        },
        // The host was down or overloaded, so the file has had no attempts.
        State::Processing if !input.again && call.now() > input.due + LATE => {
            return attempt(call, media_id, true);
        }
        State::Processing => Reason::TooDemanding,
        State::Ready | State::Refused | State::Hidden | State::Deleted => return Ok(()),
    };
    timers::cancel(&format!("process/{media_id}"))?;
    refuse(call, item, "give_up", reason)
}

/// Returns the upload of a file if its bytes have arrived.
fn uploaded(item: &Stored<Item>) -> Result<Option<String>> {
    let Some(blob_id) = item.value.blob_id.clone() else { return Ok(None) };
    let has_content = blobs::get(&blob_id)?.is_some_and(|blob| blob.sha256.is_some());
    Ok(has_content.then_some(blob_id))
}

pub(crate) fn forget(media_id: &str) -> Result<()> {
    let Some(item) = in_state(media_id, State::Refused)? else { return Ok(()) };
    Ok(ITEMS.delete(media_id, Expect::Revision(item.revision))?)
}

pub(crate) fn hide(media_id: &str) -> Result<()> {
    moderate(media_id, "hide", State::Hidden).and_then(|item| item.map_or(Ok(()), notices::hidden))
}

pub(crate) fn reinstate(media_id: &str) -> Result<()> {
    moderate(media_id, "reinstate", State::Ready)
        .and_then(|item| item.map_or(Ok(()), notices::reinstated))
}

/// Changes the state of a file by an action of the operator; `None` if it has the state already.
fn moderate(media_id: &str, action: &str, to: State) -> Result<Option<Stored<Item>>> {
    let mut item = Item::load(media_id)?;
    if item.value.state == to {
        return Ok(None);
    }
    item.step(&MEDIA, action)?;
    items::serve(&item.value)?;
    item.save()?;
    Ok(Some(item))
}

/// Refuses a file and deletes its bytes.
fn refuse(call: &Call, mut item: Stored<Item>, action: &str, reason: Reason) -> Result<()> {
    item.step_to(&MEDIA, action, State::Refused)?;
    item.value.reason = Some(reason);
    items::delete_blobs(&mut item.value)?;
    item.save()?;
    timers::cancel(&items::give_up(&item.id))?;
    let (name, at) = (format!("forget/{}", item.id), call.now() + REFUSED_KEPT);
    timers::set(&name, at, "forget", &MediaId::of(&item.id))?;
    notices::refused(&item)
}

/// Makes of a picture what is served.
fn picture(blob_id: &str) -> Result<Result<Served, Reason>> {
    let prepared = match pictures::prepare(content(blob_id, PICTURE_BYTES)?) {
        Ok(prepared) => prepared,
        Err(reason) => return Ok(Err(reason)),
    };
    let derive = |content: &[u8]| match blobs::derive(blob_id, content) {
        Err(HostError::Limit(_)) => Ok(None),
        derived => derived.map(Some),
    };
    let Some(full) = derive(&prepared.picture)? else { return Ok(Err(Reason::QuotaExceeded)) };
    let Some(thumbnail) = derive(&prepared.thumbnail)? else {
        blobs::delete(&full.id)?;
        return Ok(Err(Reason::QuotaExceeded));
    };
    Ok(Ok(Served {
        blob_id: full.id,
        media_type: PICTURE_TYPE.to_owned(),
        bytes: full.bytes,
        picture: Some(Picture {
            width: prepared.width,
            height: prepared.height,
            thumbnail_id: thumbnail.id,
        }),
    }))
}

/// A document is served as it is. Only its first bytes are read.
fn document(blob_id: &str) -> Result<Result<Served, Reason>> {
    let Some(blob) = blobs::get(blob_id)? else { return Ok(Err(Reason::Unreadable)) };
    if blobs::read(blob_id, 0, PDF.len() as u32)? != PDF {
        return Ok(Err(Reason::UnsupportedType));
    }
    Ok(Ok(Served {
        blob_id: blob.id,
        media_type: DOCUMENT_TYPE.to_owned(),
        bytes: blob.bytes,
        picture: None,
    }))
}

/// Reads a whole content.
fn content(blob_id: &str, most: u64) -> Result<Vec<u8>> {
    Ok(blobs::read(blob_id, 0, u32::try_from(most).unwrap_or(u32::MAX))?)
}

fn in_state(media_id: &str, state: State) -> Result<Option<Stored<Item>>> {
    Ok(ITEMS.get(media_id)?.filter(|item| item.value.state == state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Media;
    use portolan_sdk::test::{self, World};

    const ID: &str = "med_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    const DUE: u64 = 1_800_000_000_000;

    fn processing_at(now: u64) -> World {
        let item = Item {
            owner_id: "own_1".to_owned(),
            kind: Kind::Picture,
            state: State::Processing,
            title: "A desk".to_owned(),
            listing_id: None,
            on_profile: true,
            visibility: Visibility::Public,
            blob_id: None,
            served: None,
            reason: None,
            created_at: 0,
        };
        test::world().of::<Media>().system().at(now).document(ITEMS, ID, &item)
    }

    fn run_give_up(world: &mut World, again: bool) -> State {
        let input = GiveUp { media_id: ID.to_owned().into(), due: DUE, again };
        world.run(|call| give_up(call, &input)).unwrap();
        world.documents(ITEMS).remove(0).value.state
    }

    #[test]
    fn a_file_without_attempts_is_given_another_time_once() {
        let mut in_time = processing_at(DUE + 1);
        assert_eq!(run_give_up(&mut in_time, false), State::Refused);
        let late = DUE + LATE + 1;
        let mut world = processing_at(late);
        assert_eq!(run_give_up(&mut world, false), State::Processing);
        let mut timers = world.timers();
        timers.sort_by_key(|timer| timer.at);
        let timers: Vec<_> = timers.iter().map(|timer| (&*timer.action, timer.at)).collect();
        assert_eq!(timers, [("process", late), ("give_up", late + PROCESSING_TIME)]);
        assert_eq!(run_give_up(&mut processing_at(late), true), State::Refused);
    }
}
