//! The people who take part for an organisation: everybody who acts in its name, as long as they do,
//! and whom the others may see.

use crate::{acceptance, documents::*, refusals::*, states::*, types::*};
use people_kit::organisations;
use portolan_sdk::prelude::*;

/// The maximum number of threads that one run updates.
const ROUND: u32 = 10;

/// Adds the people who act for the thread's organisations by now, and removes those who no longer do;
/// returns the ids of both. A person who has left the conversation is not added again.
pub(crate) fn arrange(thread: &mut Thread, now: u64) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for org_id in thread.orgs() {
        let is_of = |member: &Member| member.org_id.as_ref() == Some(&org_id);
        let others = thread.joined().filter(|member| !is_of(member));
        let others: Vec<String> = others.map(|member| member.owner_id.clone()).collect();
        let acting = organisations::members_visible_to(&org_id, others.iter().map(String::as_str))?;
        for member in thread.members.iter_mut().filter(|member| is_of(member)) {
            let acts = acting.contains(&member.owner_id);
            let to = match member.membership {
                Membership::Joined if !acts => Membership::Removed,
                Membership::Removed if acts => Membership::Joined,
                _ => continue,
            };
            MEMBERSHIP.step_to(&org_id, member.membership, "on_org_changed", to)?;
            (member.membership, member.since) = (to, now);
            changed.push(member.owner_id.clone());
        }
        let taken = thread.joined().filter(|member| is_of(member)).count();
        let mut free = organisations::MOST_TOLD.saturating_sub(taken);
        for owner_id in acting {
            if free > 0 && thread.member(&owner_id).is_none() {
                free -= 1;
                thread.members.push(Member {
                    owner_id: owner_id.clone(),
                    org_id: Some(org_id.clone()),
                    membership: Membership::Joined,
                    since: now,
                    ..Member::default()
                });
                changed.push(owner_id);
            }
        }
    }
    Ok(changed)
}

/// Arranges a stored thread, and saves it if that has changed it.
pub(crate) fn update(thread: &mut Stored<Thread>, now: u64) -> Result<()> {
    let changed = arrange(&mut thread.value, now)?;
    if changed.is_empty() {
        return Ok(());
    }
    thread.save()?;
    for owner_id in &changed {
        let place = if thread.value.has_joined(owner_id) { Place::Inbox } else { Place::Gone };
        take_seat(thread, owner_id, place)?;
    }
    acceptance::write_relations(thread)
}

/// Gives a person a seat in this place. Earlier messages count as read.
fn take_seat(thread: &Stored<Thread>, owner_id: &str, place: Place) -> Result<()> {
    let id = seat_id(&thread.id, owner_id);
    let seat = SEATS.get(&id)?;
    let new = || Stored::new(id, Seat::new(&thread.id, owner_id, thread.value.active_at), 0);
    let mut seat = seat.unwrap_or_else(new);
    let marks = Marks { delivered: thread.value.last_seq, read: thread.value.last_seq };
    (seat.value.place, seat.value.unread) = (place, 0);
    (seat.value.receipt, seat.value.told) = (marks, marks);
    Ok(SEATS.save(&mut seat)?)
}

/// Arranges the threads of an organisation whose members have changed: some in this call, the others
/// in calls that follow.
pub(crate) fn org_changed(call: &Call, round: OrgRound) -> Result<()> {
    let of_org = field("members[].org_id").eq(&round.org_id);
    let page = THREADS.find(Query::new().filter(of_org).limit(ROUND).cursor(round.cursor))?;
    let (threads, cursor) = page.into_parts();
    for mut thread in threads {
        update(&mut thread, call.now())?;
    }
    if cursor.is_some() {
        let timer = format!("org/{}", round.org_id);
        let round = OrgRound { org_id: round.org_id, cursor };
        timers::set(&timer, call.now(), "go_on_for_org", &round)?;
    }
    Ok(())
}

/// Arranges the threads of organisations that two people share, after a block or its end.
pub(crate) fn block_changed(call: &Call, blocked: &Blocked) -> Result<()> {
    for mut thread in acceptance::shared_threads(blocked)? {
        update(&mut thread, call.now())?;
    }
    Ok(())
}
