//! The readers of a file, and the form in which each sees it.
//!
//! A person sees their own files in every state. Others see what is ready and public, as long as they see the listing
//! that it is on, or the person.

use crate::{documents::*, refusals::*, states::*, types::*};
use people_kit::{UNTRUSTED, visible};
use portolan_sdk::{contract::blobs, prelude::*};

/// The call that reads a listing as the caller sees it.
pub(crate) const LISTING: Invocation<Value, Value> = Invocation::new("agent_listings", "get");

pub(crate) fn get(call: &Call, media_id: &str) -> Result<MediaView> {
    let me = call.owner_id().ok_or(MediaError::MediaNotFound)?;
    let item = Item::load(media_id)?;
    if item.value.owner_id == me {
        return own_view(call, &item);
    }
    let Item { state, visibility, listing_id, owner_id, .. } = &item.value;
    let is_shown = *state == State::Ready && *visibility == Visibility::Public;
    let is_visible = is_shown
        && match listing_id {
            Some(listing_id) => sees_listing(listing_id)?,
            None => sees_person(me, owner_id)?,
        };
    match is_visible {
        true => view(call, &item, false),
        false => Err(MediaError::MediaNotFound),
    }
}

pub(crate) fn list(call: &Call, page: PageInput) -> Result<Answer<Items<MediaView>>> {
    Items::own(call, |me| {
        let query = Query::new().filter(field("owner_id").eq(me)).last("created_at").page(page);
        Items::try_of(ITEMS.find(query)?, |item| own_view(call, &item))
    })
}

pub(crate) fn about(call: &Call, input: About) -> Result<Answer<Items<MediaView>>> {
    let shown = field("state").eq(State::Ready).and(field("visibility").eq(Visibility::Public));
    Items::own(call, |me| {
        let filter = match (&input.listing_id, &input.owner_id) {
            (Some(listing_id), None) => {
                if !sees_listing(listing_id)? {
                    return Err(MediaError::ListingNotFound);
                }
                field("listing_id").eq(&**listing_id)
            }
            (None, Some(owner_id)) => {
                if !sees_person(me, owner_id)? {
                    return Err(MediaError::OwnerNotFound);
                }
                field("owner_id").eq(&**owner_id).and(field("on_profile").eq(true))
            }
            _ => {
                let expected = "exactly one of listing_id and owner_id";
                return Err(Refusal::validation("/listing_id", "required", expected).into());
            }
        };
        let query = Query::new().filter(filter.and(shown)).last("created_at").page(input.page);
        Items::try_of(ITEMS.find(query)?, |item| view(call, &item, item.value.owner_id == me))
    })
}

/// Returns a file as its person sees it.
pub(crate) fn own_view(call: &Call, item: &Stored<Item>) -> Result<MediaView> {
    view(call, item, true)
}

fn view(call: &Call, item: &Stored<Item>, is_own: bool) -> Result<MediaView> {
    let value = &item.value;
    let served = value.served.as_ref().filter(|_| value.state == State::Ready);
    let picture = served.and_then(|served| served.picture.as_ref());
    let address = |id: &String| blobs::address(id, call.now() + ADDRESS_TIME);
    let url = served.map(|served| address(&served.blob_id)).transpose()?;
    let thumbnail_url = picture.map(|picture| address(&picture.thumbnail_id)).transpose()?;
    Ok(view!(value => MediaView {
        owner_id, kind, state, title, listing_id, visibility, reason;
        media_id: item.id.clone(),
        version: item.revision,
        allowed_actions: if is_own { MEDIA.allowed(value.state) } else { Vec::new() },
        url,
        thumbnail_url,
        media_type: served.map(|served| served.media_type.clone()),
        bytes: served.map(|served| served.bytes),
        width: picture.map(|picture| picture.width),
        height: picture.map(|picture| picture.height),
        upload: None,
        created_at: rfc3339(value.created_at),
        trust: UNTRUSTED,
    }))
}

/// Returns whether the caller sees a listing.
fn sees_listing(listing_id: &str) -> Result<bool> {
    match LISTING.call(&json!({ "listing_id": listing_id })) {
        Ok(_) => Ok(true),
        Err(refusal) if refusal.code == ErrorCode::DependencyUnavailable.name() => {
            Err(refusal.into())
        }
        Err(_) => Ok(false),
    }
}

fn sees_person(me: &str, owner_id: &str) -> Result<bool> {
    Ok(visible::people(me, [owner_id])?.contains_key(owner_id))
}
