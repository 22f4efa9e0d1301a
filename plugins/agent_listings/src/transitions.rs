//! The transitions of a listing, with everything that follows from them.

use crate::allowed::{days_to_renew, is_in_time};
use crate::{acting, age, contact, documents::*, refusals::*, states::*, types::*, views::*};
use people_kit::listings::is_withheld;
use people_kit::people;
use people_kit::relations::{self, Tuple};
use portolan_sdk::prelude::*;

/// Returns a listing that the caller may change. It refuses with `not_owner`, or with
/// `listing_not_found` if the listing is not visible to the caller.
pub(crate) fn load_editable(
    call: &Call,
    listing_id: &str,
    expected: Option<Version>,
) -> Result<Stored<Listing>> {
    let listing = Listing::load(listing_id)?;
    if !can_edit(call, &listing)? {
        if !can_view(call, &listing)? {
            return Err(ListingsError::ListingNotFound);
        }
        let message = "Only the owner of this listing may do this.";
        return Err(Refusal::common(ErrorCode::NotOwner, message).next(read(listing_id)).into());
    }
    let current = || View::own(call, &listing).ok();
    listing.ensure_version(expected, current, read(listing_id))?;
    Ok(listing)
}

/// Whether the caller may change the listing: as its owner, as a recruiter of its organisation, or
/// with a granted permission.
pub(crate) fn can_edit(call: &Call, listing: &Stored<Listing>) -> Result<bool> {
    let (value, Some(viewer)) = (&listing.value, call.owner_id()) else { return Ok(false) };
    let decided = match &value.org_id {
        Some(org_id) => acting::can_edit(value, org_id, viewer)?,
        None => (viewer == value.owner_id).then_some(true),
    };
    match decided {
        Some(decided) => Ok(decided),
        None => Ok(relations::has_relation(format!("listing:{}", listing.id), "editor", viewer)?),
    }
}

/// Whether the listing is active and visible to the caller.
pub(crate) fn can_view(call: &Call, listing: &Stored<Listing>) -> Result<bool> {
    let value = &listing.value;
    if value.state != State::Active || is_withheld(&value.category, value.visibility) {
        return Ok(false);
    }
    match call.owner_id() {
        None => Ok(listing.value.visibility != Visibility::Network),
        Some(viewer) => {
            if listing_search::can_view(&listing.id, viewer)? {
                return Ok(true);
            }
            // A block with the owner excludes the viewer, unless others can stand for the listing.
            let is_shared = value.org_id.is_some() && value.visibility != Visibility::Network;
            Ok(is_shared
                && acting::standing(call, value)?.is_some_and(|other| other != value.owner_id))
        }
    }
}

/// Applies an action to a listing, and stores it with its card, timers and relations.
pub(crate) fn enter(
    call: &Call,
    listing: &mut Stored<Listing>,
    action: &str,
    to: State,
) -> Result<()> {
    let (id, from) = (listing.id.clone(), listing.value.state);
    let is_new = listing.revision == 0;
    let before = if is_new { Vec::new() } else { tuples(&id, &listing.value) };
    if !is_new {
        LISTING.step_to(&id, from, action, to)?;
    }
    let (now, value) = (call.now(), &mut listing.value);
    if to != State::Active
        && let Some(since) = value.active_since.take()
    {
        value.active_ms += now.saturating_sub(since);
    }
    if to == State::Active {
        value.active_since.get_or_insert(now);
    }
    value.ended_at = match to {
        State::Filled | State::Withdrawn | State::Expired | State::Removed => {
            Some(value.ended_at.unwrap_or(now))
        }
        _ => None,
    };
    value.state = to;
    value.changed_at = now;
    update_counts(&id, value, true)?;
    write(listing, before)
}

/// Passes a listing of an organisation whose owner is gone to the person who answers for it.
/// Refuses if nobody acts for the organisation any more.
pub(crate) fn adopt(call: &Call, listing: &mut Stored<Listing>) -> Result<()> {
    if listing.value.org_id.is_none() {
        return Ok(());
    }
    let responsible = acting::responsible(call, &listing.value)?;
    let responsible = responsible.ok_or_else(acting::not_recruiting)?;
    match responsible.owner_id == listing.value.owner_id {
        true => Ok(()),
        false => pass_on(listing, responsible.owner_id),
    }
}

/// Gives a listing of an organisation another owner. The limits of that person do not apply: they did
/// not choose it.
pub(crate) fn pass_on(listing: &mut Stored<Listing>, owner_id: String) -> Result<()> {
    let before = tuples(&listing.id, &listing.value);
    if let Some(mut book) = OWNER_LISTINGS.get(&listing.value.owner_id)? {
        book.value.published.remove(&listing.id);
        book.value.kept.remove(&listing.id);
        OWNER_LISTINGS.save(&mut book)?;
    }
    listing.value.owner_id = owner_id;
    update_counts(&listing.id, &listing.value, false)?;
    write(listing, before)
}

/// Writes a listing with its card, its timers and its relations. `former_relations` are the relations that are stored
/// before this write.
pub(crate) fn write(listing: &mut Stored<Listing>, former_relations: Vec<Tuple>) -> Result<()> {
    let (id, value) = (&listing.id, &listing.value);
    match value.is_searchable() {
        true => {
            CARDS.put(id, &value.card(contact::is_paused(id, value)?), Expect::Any).map(drop)?
        }
        false => CARDS.delete(id, Expect::Any)?,
    }
    set_timers(id, value)?;
    let after = tuples(id, value);
    let removed: Vec<_> =
        former_relations.iter().filter(|tuple| !after.contains(tuple)).cloned().collect();
    let added: Vec<_> =
        after.into_iter().filter(|tuple| !former_relations.contains(tuple)).collect();
    if !removed.is_empty() || !added.is_empty() {
        relations::relate(added, removed)?;
    }
    Ok(listing.save()?)
}

/// Returns the relations from which the permissions of others follow.
pub(crate) fn tuples(listing_id: &str, listing: &Listing) -> Vec<Tuple> {
    let object = format!("listing:{listing_id}");
    let owner = format!("owner:{}", listing.owner_id);
    let mut tuples = vec![Tuple::new(&object, "owner", &owner)];
    let org = listing.org_id.as_ref();
    tuples.extend(org.map(|org| Tuple::new(&object, "org", format!("org:{org}"))));
    if listing.state == State::Active {
        let viewer = match listing.visibility {
            Visibility::Public | Visibility::Unlisted => "*".to_owned(),
            Visibility::Network => format!("{owner}#connected"),
        };
        tuples.push(Tuple::new(object, "viewer", viewer));
    }
    tuples
}

/// Moves a listing to the group of states to which it now belongs. Refuses if that exceeds the
/// person's limit for the group, unless it is not `limited`.
fn update_counts(listing_id: &str, listing: &Listing, limited: bool) -> Result<()> {
    let mut book = OWNER_LISTINGS.get_or_default(&listing.owner_id)?;
    let state = listing.state;
    // A pause or a rejection, which the person may not have chosen, is never refused because of a
    // limit.
    let is_chosen = limited && !matches!(state, State::Paused | State::Rejected);
    for (list, states, most, name) in [
        (&mut book.value.published, State::PUBLISHED, MOST_PUBLISHED, "published_listings"),
        (&mut book.value.kept, State::UNPUBLISHED, MOST_UNPUBLISHED, "kept_listings"),
    ] {
        let is_counted = states.contains(&state);
        let added = is_counted && list.insert(listing_id.to_owned());
        if added && is_chosen && list.len() > most {
            let states = states.iter().map(|state| state.name()).collect();
            return Err(ListingsError::ListingLimitReached { name, limit: most as u64, states });
        }
        if !is_counted {
            list.remove(listing_id);
        }
    }
    Ok(OWNER_LISTINGS.save(&mut book)?)
}

/// Sets the timers for the expiry of a listing and for the warning before it. Cancels each one that
/// does not apply: both if the listing will not expire, the warning if its time has already passed.
fn set_timers(listing_id: &str, listing: &Listing) -> Result<()> {
    let input = ListingId { listing_id: listing_id.into() };
    let end = listing.valid_through.filter(|_| listing.state.can_expire());
    let warning = end.map(|end| end.saturating_sub(WARNING_DAYS * DAY));
    let warning = warning.filter(|warning| *warning > listing.changed_at);
    for (action, at) in [("expire", end), ("warn", warning)] {
        let timer = format!("{action}/{listing_id}");
        match at {
            Some(at) => timers::set(&timer, at, action, &input)?,
            None => timers::cancel(&timer).map(drop)?,
        }
    }
    Ok(())
}

/// Publishes a listing, or puts it in review if its text is flagged or it was rejected. Publishes
/// the event of `notice` or, for a review, that of `REVIEWED`.
pub(crate) fn publish(
    call: &Call,
    listing: &mut Stored<Listing>,
    action: &str,
    notice: Notice,
) -> Result<()> {
    adopt(call, listing)?;
    let (now, value) = (call.now(), &mut listing.value);
    ensure_ready(call, value)?;
    let needs_review = !value.flags.is_empty() && !value.cleared || value.state == State::Rejected;
    let to = if needs_review { State::InReview } else { State::Active };
    if action != "resume" {
        value.valid_through = Some(end_of_validity(value, now));
        value.reason = None;
        value.outcome = None;
        value.pairing_id = None;
    }
    if to == State::Active && action != "resume" {
        mark_published(value, now);
    }
    enter(call, listing, action, to)?;
    notify(call, listing, if to == State::Active { notice } else { REVIEWED })
}

/// Renews a listing for the usual time of its category.
pub(crate) fn renew(call: &Call, listing: &mut Stored<Listing>) -> Result<()> {
    let (now, state) = (call.now(), listing.value.state);
    let to = LISTING.step(&listing.id, state, "renew")?;
    listing.value.content.valid_through = None;
    if to != state {
        ensure_in_time(call, &listing.value, days_to_renew(state))?;
        let notice = (PUBLISHED, "The listing is published again.");
        return publish(call, listing, "renew", notice);
    }
    adopt(call, listing)?;
    ensure_ready(call, &listing.value)?;
    let before = tuples(&listing.id, &listing.value);
    listing.value.valid_through = Some(end_of_validity(&listing.value, now));
    listing.value.changed_at = now;
    write(listing, before)?;
    let notice = (UPDATED, "The listing runs longer.");
    notify_changed(call, listing, notice, vec!["valid_through"], read(&listing.id))
}

/// Refuses if more than this number of days have passed since the listing ended.
pub(crate) fn ensure_in_time(call: &Call, listing: &Listing, days: u64) -> Result<()> {
    if is_in_time(call, listing, days) {
        return Ok(());
    }
    let next = Next::action("listing_taxonomy", "tree");
    let message = "The time for this has passed. Create a new listing.";
    Err(Refusal::common(ErrorCode::ResourceGone, message).next(next).into())
}

pub(crate) fn mark_published(listing: &mut Listing, now: u64) {
    listing.published_at = Some(now);
    listing.first_published_at.get_or_insert(now);
    listing.times_published += 1;
}

/// Returns when a listing that is published now expires.
pub(crate) fn end_of_validity(listing: &Listing, now: u64) -> u64 {
    let chosen = listing.content.valid_through.as_deref().and_then(time::parse);
    let by_default = now + u64::from(listing.ttl_days) * DAY;
    chosen.filter(|end| *end > now).unwrap_or(by_default)
}

/// Refuses unless the listing's owner is active, and the listing may be public and agrees with the
/// owner's age.
pub(crate) fn ensure_ready(call: &Call, listing: &Listing) -> Result<()> {
    let person = people::person(&listing.owner_id)?;
    if person.as_ref().is_some_and(|person| !person.active) {
        return Err(people::hidden_profile().into());
    }
    age::ensure_publishable(call, listing, person)
}

/// Publishes an event for the owner and for subscribed capabilities.
pub(crate) fn notify(call: &Call, listing: &Stored<Listing>, notice: Notice) -> Result<()> {
    notify_changed(call, listing, notice, Vec::new(), read(&listing.id))
}

pub(crate) fn notify_changed(
    call: &Call,
    listing: &Stored<Listing>,
    (event, summary): Notice,
    changed: Vec<&'static str>,
    next: Next,
) -> Result<()> {
    let value = &listing.value;
    let facts = view!(value => Facts {
        category, side, reason;
        listing_id: listing.id.clone(),
        valid_through: value.valid_through.map(rfc3339),
        changed,
    });
    let data = Data::new(call, listing.resource(), summary, facts).next(next);
    Ok(listing.notify_owner(event, &data)?)
}
