//! The delivery of waiting applications, and the ends of applications: by a timer, and by changes
//! of listings and people.

use crate::conversation::{end_thread, set_check_at};
use crate::notices::{self, Notice};
use crate::recipients::Recipients;
use crate::{documents::*, presence, refusals::*, states::*, subject, transitions, types::*};
use people_kit::listings::Card;
use people_kit::{listings, people, relations, threads};
use portolan_sdk::prelude::*;

/// Delivers the applications that wait for a target, each in a call of its own.
pub(crate) fn deliver_to_target(call: &Call, target_id: &str) -> Result<()> {
    let waiting = field("about.target_id").eq(target_id).and(field("state").eq(State::Waiting));
    for hit in APPLICATIONS.all(Query::new().filter(waiting)) {
        let id = hit?.document.id;
        let input = ApplicationId { application_id: id.as_str().into() };
        timers::set(&format!("deliver/{id}"), call.now(), "deliver", &input)?;
    }
    Ok(())
}

/// Delivers an application whose target somebody has claimed.
pub(crate) fn deliver(call: &Call, id: &str) -> Result<()> {
    let Some(mut application) = load_in(id, &[State::Waiting])? else { return Ok(()) };
    let recipients = Recipients::of(&application.value)?;
    if recipients.are_unclaimed() {
        return Ok(());
    }
    let value = &application.value;
    if recipients.are_unreachable() || recipients.include(&value.owner_id) {
        return cancel(call, &mut application, "deliver");
    }
    let (applicant, listing_id) = (value.owner_id.clone(), value.profile_listing_id.clone());
    // The listing may have ended since.
    let own = |listing_id: String| subject::own_listing(&applicant, &listing_id, None).ok();
    let card = listing_id.and_then(own).as_ref().map(Card::from);
    transitions::enter(call, &mut application, "deliver", State::Submitted)?;
    let facts = Facts { card, ..Facts::default() };
    notices::RECEIPT.notify(call, &application, &recipients.reachable, facts)?;
    notices::DELIVERY.notify(call, &application, [&applicant], Facts::default())
}

/// Ends an application that was not delivered or decided in time, and notifies the people who know of
/// it. If a message was sent in its conversation meanwhile, sets a later time instead.
pub(crate) fn expire(call: &Call, id: &str) -> Result<()> {
    let Some(mut application) = load_in(id, OPEN)? else { return Ok(()) };
    if application.value.due_at.is_none_or(|due_at| due_at > call.now()) {
        return Ok(());
    }
    let later = last_written(&application.value)? + UNDECIDED_FOR;
    if later > call.now() {
        return transitions::set_due(&mut application, Some(later));
    }
    let is_unclaimed = application.value.state == State::Waiting;
    end_thread(&application, "idle")?;
    let reason = if is_unclaimed { "unclaimed" } else { "undecided" };
    let facts =
        Facts { recipient_unclaimed: Some(is_unclaimed), reason: Some(reason), ..Facts::default() };
    end(call, &mut application, ("expire", State::Expired), notices::EXPIRY, facts)
}

/// Returns when the last message was sent in the conversation; 0 if there is no conversation, or
/// neither side still takes part in it.
fn last_written(application: &Application) -> Result<u64> {
    let Some(thread_id) = &application.thread_id else { return Ok(0) };
    for owner_id in [Some(&application.owner_id), application.contact_id.as_ref()] {
        let Some(owner_id) = owner_id else { continue };
        match threads::thread(thread_id, owner_id).map_err(Refusal::from) {
            Ok(thread) => return Ok(thread.active_at),
            Err(refusal) if refusal.code == "thread_not_found" => {}
            Err(refusal) => return Err(refusal.into()),
        }
    }
    Ok(0)
}

/// The states in which a listing has ended by its owner's decision or by its time, and the reason that
/// both sides read.
const ENDS: [(&str, &str); 3] = [
    ("filled", "listing_filled"),
    ("withdrawn", "listing_withdrawn"),
    ("expired", "listing_expired"),
];

/// Ends the applications to a listing that is no longer active, except those with a conversation.
pub(crate) fn listing_left(call: &Call, event: &Happened<ListingLeft>) -> Result<()> {
    let listing_id = event.data.listing_id.as_str();
    let listing = listings::profile(listing_id)?;
    // The event may be delivered after the listing was published again.
    if listing.as_ref().is_some_and(listings::Profile::is_active) {
        return Ok(());
    }
    let ended = listing.map(|listing| listing.state).unwrap_or_default();
    let reason = ENDS.iter().find(|(state, _)| *state == ended).map(|(_, reason)| *reason);
    let reason = Some(reason.unwrap_or("listing_inactive"));
    let to_it = field("about.listing_id").eq(listing_id).and(field("state").one_of(UNDECIDED));
    let page = APPLICATIONS.find(Query::new().filter(to_it).limit(LEFT_AT_ONCE))?;
    let has_ended_one = !page.hits.is_empty();
    for mut application in page.into_documents() {
        let facts = Facts { reason, ..Facts::default() };
        let step = ("on_listing_left", State::Expired);
        end(call, &mut application, step, notices::LISTING_END, facts)?;
    }
    match has_ended_one {
        true => {
            Ok(timers::set(&format!("left/{listing_id}"), call.now(), "on_listing_left", event)?)
        }
        false => profile_left(call, event),
    }
}

/// Tells both sides of the open applications with which a listing was sent that it is no longer shown:
/// of one application in this call, of the others in calls that follow.
fn profile_left(call: &Call, event: &Happened<ListingLeft>) -> Result<()> {
    let ListingLeft { listing_id, cursor } = &event.data;
    let with_it = field("profile_listing_id").eq(listing_id).and(field("state").one_of(OPEN));
    let query = Query::new().filter(with_it).limit(LEFT_AT_ONCE).cursor(cursor.clone());
    let (applications, next) = APPLICATIONS.find(query)?.into_parts();
    for application in applications {
        let mut people = vec![application.value.owner_id.clone()];
        if application.value.state != State::Waiting {
            people.extend(Recipients::of(&application.value)?.reachable);
        }
        notices::PROFILE_END.notify(call, &application, &people, Facts::default())?;
    }
    if next.is_some() {
        let data = ListingLeft { cursor: next, ..event.data.clone() };
        let event = Happened { data, ..event.clone() };
        timers::set(&format!("left/{listing_id}"), call.now(), "on_listing_left", &event)?;
    }
    Ok(())
}

/// Ends the open applications of a person who is deactivated, as their proposals end, and those to a
/// listing of theirs that wait for an answer of one of the two sides.
pub(crate) fn deactivated(call: &Call, event: &Happened<Deactivated>) -> Result<()> {
    let owner_id = event.subject.trim_start_matches("owners/");
    // The event may be delivered after the person has returned.
    if people::person(owner_id)?.is_some_and(|person| person.active) {
        return Ok(());
    }
    let step = Departure { action: "on_owner_deactivated", sent: OPEN };
    end_with(call, owner_id, &step, event)
}

/// Ends the applications of a person who is about to be erased, also accepted ones, and those to a listing
/// of theirs that wait for an answer of one of the two sides.
pub(crate) fn left(call: &Call, event: &Happened<OwnerLeft>) -> Result<()> {
    let step = Departure { action: "on_owner_left", sent: ACTIVE };
    end_with(call, &event.data.owner_id, &step, event)
}

/// The reason of an application to an organisation that was archived.
const ARCHIVED: &str = "org_archived";

/// Ends the applications to an organisation that was archived, one in each call, because nobody acts for it any
/// more.
pub(crate) fn org_archived(call: &Call, event: &Happened<OrgArchived>) -> Result<()> {
    let org_id = event.data.org_id.as_str();
    let theirs = field("about.org_id").eq(org_id).and(field("state").one_of(ACTIVE));
    let page = APPLICATIONS.find(Query::new().filter(theirs).limit(LEFT_AT_ONCE))?;
    let (applications, next) = page.into_parts();
    for mut application in applications {
        end_thread(&application, ARCHIVED)?;
        let facts = Facts { reason: Some(ARCHIVED), ..Facts::default() };
        let step = ("on_org_archived", State::Cancelled);
        end(call, &mut application, step, notices::CANCELLATION, facts)?;
    }
    match next {
        Some(_) => {
            Ok(timers::set(&format!("archived/{org_id}"), call.now(), "on_org_archived", event)?)
        }
        None => Ok(()),
    }
}

/// The departure of a person: the action, and the states in which the sent applications end.
struct Departure {
    action: &'static str,
    sent: &'static [State],
}

/// Ends the applications that a person has sent or that nobody else can answer in their place: a call ends
/// some, the others follow. Those that nobody has decided end with the listing. If colleagues go on with an
/// application, or it was accepted, it is compared with its people soon, because the person may be erased.
fn end_with<T: Serialize>(
    call: &Call,
    owner_id: &str,
    departure: &Departure,
    event: &Happened<T>,
) -> Result<()> {
    let Departure { action, sent: ended } = *departure;
    let sent = field("owner_id").eq(owner_id).and(field("state").one_of(ACTIVE));
    let received = any_of(["to_owner_id", "contact_id"].map(|path| field(path).eq(owner_id)));
    let received = received.and(field("state").one_of(TALKING));
    let mut told = 0;
    for hit in [sent, received].into_iter().flat_map(|of| APPLICATIONS.all(Query::new().filter(of)))
    {
        let mut application = hit?.document;
        let value = &application.value;
        let others = Recipients::of(value)?.reachable.iter().filter(|id| *id != owner_id).count();
        let is_applicant = value.owner_id == owner_id;
        let ends = match is_applicant {
            true => ended.contains(&value.state),
            false => others == 0 && UNANSWERED.contains(&value.state),
        };
        if !ends {
            set_check_at(&application, call.now() + CHECKED_AFTER)?;
            let is_away = presence::is_away(value, is_applicant);
            if is_away || !is_applicant && others > 0 {
                continue;
            }
        }
        told += 3 + others;
        if told > MOST_TOLD {
            return Ok(timers::set(&format!("gone/{owner_id}"), call.now(), action, event)?);
        }
        if !ends {
            presence::update(call, &mut application, is_applicant, false)?;
            continue;
        }
        end_thread(&application, "cancelled")?;
        cancel(call, &mut application, action)?;
        if let Some(thread_id) = &application.value.thread_id {
            notices::publish_gone(&application.id, thread_id)?;
        }
    }
    Ok(())
}

/// Ends the applications of two people after a block, unless somebody else acts for the recipient. The
/// events do not contain the reason.
pub(crate) fn blocked(call: &Call, event: Happened<Blocked>) -> Result<()> {
    let Blocked { blocker_id, blocked_id, cursor } = &event.data;
    // The event may be delivered after the block has ended.
    if !relations::are_blocked(blocker_id, blocked_id)? {
        return Ok(());
    }
    let sent = field("owner_id").one_of([blocker_id, blocked_id]);
    let query = Query::new().filter(sent.and(field("state").one_of(OPEN))).limit(BLOCKED_AT_ONCE);
    let (applications, next) = APPLICATIONS.find(query.cursor(cursor.clone()))?.into_parts();
    for mut application in applications {
        if Recipients::of(&application.value)?.are_unreachable() {
            cancel(call, &mut application, "on_blocked")?;
        }
    }
    if next.is_some() {
        let name = format!("blocked/{blocker_id}/{blocked_id}");
        let data = Blocked { cursor: next, ..event.data.clone() };
        timers::set(&name, call.now(), "on_blocked", &Happened { data, ..event })?;
    }
    Ok(())
}

pub(crate) fn cancel(
    call: &Call,
    application: &mut Stored<Application>,
    action: &str,
) -> Result<()> {
    let step = (action, State::Cancelled);
    end(call, application, step, notices::CANCELLATION, Facts::default())
}

/// Enters a final state, and tells the applicant and those whom the application has reached.
fn end(
    call: &Call,
    application: &mut Stored<Application>,
    (action, to): (&str, State),
    notice: Notice,
    facts: Facts,
) -> Result<()> {
    let mut people = vec![application.value.owner_id.clone()];
    if application.value.state != State::Waiting {
        people.extend(Recipients::of(&application.value)?.reachable);
    }
    application.value.end_reason = facts.reason.map(str::to_owned);
    transitions::enter(call, application, action, to)?;
    notice.notify(call, application, &people, facts)
}

/// Returns the application if it is in one of these states; otherwise `None`.
fn load_in(id: &str, states: &[State]) -> Result<Option<Stored<Application>>> {
    let is_in = |application: &Stored<Application>| states.contains(&application.value.state);
    Ok(APPLICATIONS.get(id)?.filter(is_in))
}
