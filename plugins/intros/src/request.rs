//! Requests of a person for an introduction by somebody whom they know.

use crate::people::is_accepting;
use crate::{credits, deadlines, documents::*, refusals::*, states::*, types::*, views};
use people_kit::acquaintances::know_each_other;
use people_kit::{fair_text, people, visible};
use portolan_sdk::prelude::*;

pub(crate) fn request(call: &Call, input: Request) -> Result<views::View> {
    let me = call.require_owner()?;
    let (introducer_id, target_id): (String, String) =
        (input.introducer_id.into(), input.target_id.into());
    if introducer_id == me || target_id == me || introducer_id == target_id {
        return Err(IntroError::SamePerson);
    }
    people::ensure_visible(me)?;
    let found = visible::people(me, [introducer_id.as_str(), target_id.as_str()])?;
    let (Some(introducer), Some(target)) = (found.get(&introducer_id), found.get(&target_id))
    else {
        return Err(IntroError::OwnerNotFound);
    };
    // Whether introducer and target know each other is for the introducer to know. So it is asked when they
    // forward it, and the answer here depends on the requester's own acquaintances only.
    if !know_each_other(me, &introducer_id)? {
        return Err(IntroError::NotAcquainted);
    }
    if know_each_other(me, &target_id)? {
        return Err(IntroError::AlreadyAcquainted);
    }
    let reason = fair_text::read(CATEGORY, "/reason", &input.reason)?;
    if !is_accepting(introducer) || !is_accepting(target) {
        return Err(IntroError::RecipientNotAccepting);
    }
    let now = call.now();
    ensure_not_pressed(me, &introducer_id, now)?;
    ensure_room(&introducer_id, &target_id, now)?;
    let intro_id = call.new_id("intro");
    remember(me, &intro_id, &target_id, now)?;
    count_request(call, me)?;
    let mut seat = Seat {
        intro_id,
        owner_id: me.to_owned(),
        role: Role::Requester,
        requester_id: me.to_owned(),
        introducer_id,
        target_id,
        reason,
        note: None,
        state: State::Asked,
        requested_at: now,
        ends_at: now + OPEN_FOR,
        changed_at: now,
        thread_id: None,
        contact: Consents::default(),
        hold_id: None,
        cost: 0,
    };
    credits::hold(&mut seat)?;
    let introducers = Seat {
        ends_at: now + INTRODUCER_HAS,
        ..seat.for_other(Role::Introducer, State::Asked, now)
    };
    add(introducers, now)?;
    let requesters = add(seat, now)?;
    deadlines::begin(call, &requesters)?;
    views::view(&requesters)
}

/// Refuses a request to an introducer whom the person has asked enough lately, so that nobody takes all places of
/// another person.
fn ensure_not_pressed(me: &str, introducer_id: &str, now: u64) -> Result<()> {
    let mine = field("owner_id").eq(me).and(field("role").eq("requester"));
    let lately = field("introducer_id").eq(introducer_id).and(field("ends_at").gt(now));
    let latest = SEATS.find(Query::new().filter(mine.and(lately)).last("ends_at"))?;
    match latest.into_documents().nth(TO_ONE_INTRODUCER.most - 1) {
        Some(seat) => Err(IntroError::too_many_to_one(seat.value.ends_at - now)),
        None => Ok(()),
    }
}

/// Refuses a request to people who have enough of them. Requests count by the time when they were sent, answered
/// or not, so that the answer does not tell what others have decided. Two requests at the same instant do not
/// count each other.
fn ensure_room(introducer_id: &str, target_id: &str, now: u64) -> Result<()> {
    let open = |path: &str, owner_id: &str| {
        let sent = field(path).eq(owner_id).and(field("role").eq("requester"));
        SEATS.count(sent.and(field("ends_at").gt(now)))
    };
    let is_full = open("introducer_id", introducer_id)? >= OPEN_OF_AN_INTRODUCER
        || open("target_id", target_id)? >= OPEN_OF_A_TARGET;
    if is_full { Err(IntroError::RecipientNotAccepting) } else { Ok(()) }
}

/// Notes a new request of a person, unless it is one too many, or one for the same person is open or ended
/// recently.
fn remember(me: &str, intro_id: &str, target_id: &str, now: u64) -> Result<()> {
    let mut requester = REQUESTERS.get_or_default(me)?;
    let recent = &mut requester.value.recent;
    recent.retain(|request| request.open_until + COOLDOWN > now);
    if let Some(same) = recent.iter().find(|request| request.target_id == target_id) {
        return Err(match same.open_until > now {
            true => IntroError::IntroExists { intro_id: same.intro_id.clone() },
            false => IntroError::CooldownActive { wait: same.open_until + COOLDOWN - now },
        });
    }
    if recent.iter().filter(|request| request.open_until > now).count() >= OPEN_OF_A_REQUESTER {
        return Err(IntroError::too_many_open());
    }
    let (intro_id, target_id) = (intro_id.to_owned(), target_id.to_owned());
    recent.push(Recent { intro_id, target_id, open_until: now + OPEN_FOR });
    Ok(REQUESTERS.save(&mut requester)?)
}

/// Forgets a request of a person, which then has neither a place nor a cooldown.
pub(crate) fn forget(seat: &Seat) -> Result<()> {
    let Some(mut requester) = REQUESTERS.get(&seat.requester_id)? else { return Ok(()) };
    let recent = &mut requester.value.recent;
    let before = recent.len();
    recent.retain(|request| request.intro_id != seat.intro_id);
    if recent.len() < before {
        REQUESTERS.save(&mut requester)?;
    }
    Ok(())
}

/// Notes that a request of a person is not open any more.
pub(crate) fn close(seat: &Seat, now: u64) -> Result<()> {
    let Some(mut requester) = REQUESTERS.get(&seat.requester_id)? else { return Ok(()) };
    let mut recent = requester.value.recent.iter_mut();
    let Some(request) = recent.find(|request| request.intro_id == seat.intro_id) else {
        return Ok(());
    };
    request.open_until = request.open_until.min(now);
    Ok(REQUESTERS.save(&mut requester)?)
}
