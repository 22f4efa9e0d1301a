//! A person's files, from `create` to `delete`.

use crate::{documents::*, reading, refusals::*, states::*, types::*};
use people_kit::relations;
use people_kit::text::{Faults, Lines, public};
use portolan_sdk::{contract::blobs, prelude::*};

pub(crate) fn create(call: &Call, input: Create) -> Result<Answer<MediaView>> {
    let owner_id = call.require_owner()?.to_owned();
    let title = checked_title(&input.title)?;
    let most = match input.kind {
        Kind::Picture => PICTURE_BYTES,
        Kind::Document => DOCUMENT_BYTES,
    };
    if input.bytes > most {
        return Err(MediaError::too_large(most));
    }
    let listing_id = editable(&owner_id, input.listing_id.as_deref())?;
    if ITEMS.count(field("owner_id").eq(owner_id.as_str()))? >= MOST_FILES {
        return Err(MediaError::too_many());
    }
    CREATED_A_DAY.count(call, DAYS, &owner_id, list())?;
    let upload = blobs::begin_upload(input.bytes, "arrived")?;
    let item = Item {
        owner_id,
        kind: input.kind,
        state: State::Uploading,
        title,
        on_profile: listing_id.is_none(),
        listing_id,
        visibility: input.visibility.unwrap_or(Visibility::Public),
        blob_id: Some(upload.id),
        served: None,
        reason: None,
        created_at: call.now(),
    };
    let item = ITEMS.add(call.new_id("med"), item, call.now())?;
    set_give_up(&item.id, upload.expires_at + ARRIVAL_TIME, false)?;
    let upload = UploadView {
        method: "PUT",
        url: upload.url,
        expires_at: rfc3339(upload.expires_at),
        max_bytes: upload.max_bytes,
    };
    let view = MediaView { upload: Some(upload), ..reading::own_view(call, &item)? };
    Ok(Answer::new(view).next(get(&item.id)))
}

pub(crate) fn update(call: &Call, input: Update) -> Result<MediaView> {
    let mut item = load_for_change(call, &input.media_id, input.expected_version)?;
    item.step(&MEDIA, "update")?;
    if let Some(title) = &input.title {
        item.value.title = checked_title(title)?;
    }
    if input.listing_id.is_some() {
        let owner_id = item.value.owner_id.clone();
        item.value.listing_id = editable(&owner_id, input.listing_id.as_deref())?;
        item.value.on_profile = false;
    }
    if let Some(visibility) = input.visibility {
        item.value.visibility = visibility;
        serve(&item.value)?;
    }
    item.save()?;
    reading::own_view(call, &item)
}

pub(crate) fn delete(call: &Call, input: &Step) -> Result<MediaView> {
    let mut item = load_for_change(call, &input.media_id, input.expected_version)?;
    item.step(&MEDIA, "delete")?;
    delete_blobs(&mut item.value)?;
    timers::cancel(&give_up(&item.id))?;
    ITEMS.delete(&item.id, Expect::Revision(item.revision))?;
    reading::own_view(call, &item)
}

/// Returns the name of the timer that ends the wait for a file.
pub(crate) fn give_up(media_id: &str) -> String {
    format!("give_up/{media_id}")
}

/// Sets the timer that ends the wait for a file. `again` if the wait was prolonged.
pub(crate) fn set_give_up(media_id: &str, due: u64, again: bool) -> Result<()> {
    let input = GiveUp { media_id: media_id.to_owned().into(), due, again };
    Ok(timers::set(&give_up(media_id), due, "give_up", &input)?)
}

/// Lets the host serve what is ready, to those who may read it; nothing if it is not ready.
pub(crate) fn serve(item: &Item) -> Result<()> {
    let Some(served) = &item.served else { return Ok(()) };
    let how = (item.state == State::Ready).then(|| blobs::Serving {
        media_type: served.media_type.clone(),
        public: item.visibility == Visibility::Public,
    });
    blobs::serve(&served.blob_id, how.as_ref())?;
    if let Some(picture) = &served.picture {
        blobs::serve(&picture.thumbnail_id, how.as_ref())?;
    }
    Ok(())
}

/// Deletes every blob of a file.
pub(crate) fn delete_blobs(item: &mut Item) -> Result<()> {
    for id in item.blobs() {
        blobs::delete(id)?;
    }
    item.blob_id = None;
    item.served = None;
    Ok(())
}

fn load_for_change(call: &Call, media_id: &str, expected: Option<Version>) -> Result<Stored<Item>> {
    let item = Item::load_own(call, media_id)?;
    let current = || reading::own_view(call, &item).ok();
    item.ensure_version(expected, current, get(media_id))?;
    Ok(item)
}

/// Returns a listing that the person can edit, if one is given.
fn editable(owner_id: &str, listing_id: Option<&str>) -> Result<Option<String>> {
    let Some(listing_id) = listing_id else { return Ok(None) };
    match relations::has_relation(format!("listing:{listing_id}"), "editor", owner_id)? {
        true => Ok(Some(listing_id.to_owned())),
        false => Err(MediaError::ListingNotFound),
    }
}

fn checked_title(title: &str) -> Result<String> {
    let mut faults = Faults::default();
    let title = public("/title", title, Lines::One, &mut faults);
    faults.check()?;
    Ok(title)
}
