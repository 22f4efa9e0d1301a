//! Creating a listing and changing its content.

use crate::content::{self, Prepared};
use crate::{
    acting, age, allowed, documents::*, patch, refusals::*, states::*, transitions, types::*,
};
use people_kit::people;
use people_kit::taxonomy::is_never_public;
use portolan_sdk::prelude::*;

pub(crate) fn create(call: &Call, input: Create) -> Result<Stored<Listing>> {
    let owner_id = call.require_owner()?.to_owned();
    acting::ensure_can_recruit(&owner_id, input.as_org.as_deref())?;
    let prepared = content::prepare(&input.category, input.side, input.content, "", call.now())?;
    let Prepared { content, checked, visibility, excerpt, flags } = prepared;
    let min_age = checked.policy.min_age.unwrap_or(0);
    let person = people::person(&owner_id)?;
    let value = Listing {
        owner_id,
        org_id: input.as_org.map(Into::into),
        category: input.category,
        side: input.side,
        content,
        about: checked.category,
        min_age,
        ttl_days: checked.policy.default_ttl_days,
        visibility,
        keys: checked.keys,
        said: checked.said,
        gist: checked.gist,
        words: checked.words,
        excerpt,
        state: State::Draft,
        changed_at: call.now(),
        flags,
        cleared: false,
        reason: None,
        published_at: None,
        first_published_at: None,
        times_published: 0,
        valid_through: None,
        ended_at: None,
        active_since: None,
        active_ms: 0,
        outcome: None,
        pairing_id: None,
    };
    age::ensure_acceptable(call, &value, person.as_ref(), "")?;
    let mut listing = Stored::new(call.new_id("lst"), value, call.now());
    transitions::enter(call, &mut listing, "create", State::Draft)?;
    transitions::notify(call, &listing, (CREATED, "The listing is stored."))?;
    if input.publish {
        transitions::publish(
            call,
            &mut listing,
            "publish",
            (PUBLISHED, "The listing is published."),
        )?;
    }
    Ok(listing)
}

pub(crate) fn update(call: &Call, input: Update) -> Result<Stored<Listing>> {
    let mut listing = transitions::load_editable(call, &input.listing_id, input.expected_version)?;
    let state = listing.value.state;
    if LISTING.step(&listing.id, state, "update").is_err() {
        return Err(ListingsError::ListingNotEditable {
            listing_id: listing.id,
            current: state.name(),
            allowed_actions: allowed::on(call, &listing.value)?,
        });
    }
    transitions::adopt(call, &mut listing)?;
    let mut patched = patch::patched(&listing.value.content, input.patch)?;
    if patched == listing.value.content {
        return Ok(listing);
    }
    // An update of other fields is not refused because `valid_through` has passed.
    let same_end = patched.valid_through == listing.value.content.valid_through;
    let kept_end = same_end.then(|| patched.valid_through.take()).flatten();
    let (category, side) = (listing.value.category.clone(), listing.value.side);
    let mut prepared = content::prepare(&category, side, patched, "/patch", call.now())?;
    if same_end {
        prepared.content.valid_through = kept_end;
    }
    let changed = changed(&listing.value.content, &prepared.content);
    if changed.is_empty() {
        return Ok(listing);
    }
    let before = transitions::tuples(&listing.id, &listing.value);
    let value = &mut listing.value;
    let speaks = ["title", "description", "attributes", "criteria"];
    value.cleared &= !changed.iter().any(|name| speaks.contains(name));
    let flagged = !prepared.flags.is_empty() && !value.cleared;
    value.content = prepared.content;
    value.keys = prepared.checked.keys;
    value.said = prepared.checked.said;
    value.gist = prepared.checked.gist;
    value.words = prepared.checked.words;
    value.about = prepared.checked.category;
    value.visibility = prepared.visibility;
    value.excerpt = prepared.excerpt;
    value.flags = prepared.flags;
    if value.min_age > 0 || is_never_public(&value.category) {
        let person = people::person(&value.owner_id)?;
        age::ensure_acceptable(call, value, person.as_ref(), "/patch")?;
    }
    if state.can_expire() && changed.contains(&"valid_through") {
        value.valid_through = Some(transitions::end_of_validity(value, call.now()));
    }
    if state == State::Active && flagged {
        transitions::enter(call, &mut listing, "update", State::InReview)?;
        transitions::notify(call, &listing, REVIEWED)?;
    } else {
        listing.value.changed_at = call.now();
        transitions::write(&mut listing, before)?;
    }
    let notice = (UPDATED, "The listing has changed.");
    transitions::notify_changed(call, &listing, notice, changed, read(&listing.id))?;
    Ok(listing)
}

/// Returns the names of the fields that differ.
fn changed(before: &Content, after: &Content) -> Vec<&'static str> {
    let [before, after] = [before, after].map(portolan_sdk::to_value);
    FIELDS.split(' ').filter(|name| before.get(name) != after.get(name)).collect()
}
