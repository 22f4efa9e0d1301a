//! Groups: the invitation, the answers, and the end.

use crate::{
    asking, documents::*, held, limits::*, notices, refusals::*, states::*, types::*, views::*,
};
use people_kit::{
    people, relations,
    text::{Fault, Faults, Lines, public},
};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn invite(call: &Call, input: Invite) -> Result<Answer<GroupView>> {
    let me = call.require_owner()?;
    people::ensure_visible(me)?;
    let mut faults = Faults::default();
    let title = public("/title", &input.title, Lines::One, &mut faults);
    let invited: BTreeSet<&str> = input.owner_ids.iter().map(String::as_str).collect();
    if invited.len() < input.owner_ids.len() || invited.contains(me) {
        faults.add("/owner_ids", "distinct", "different people, without yourself");
    }
    faults.check()?;
    ensure_askable(call, me, &input.owner_ids)?;
    INVITATIONS.count(call, DAYS, me, list())?;
    let member = |owner_id| Member {
        owner_id,
        state: Membership::Invited,
        answered_at: None,
        told_at: None,
    };
    let group = Group {
        organizer: me.to_owned(),
        title,
        may_book: input.may_book,
        begun_with: u32::try_from(invited.len() + 1).unwrap_or(u32::MAX),
        members: input.owner_ids.into_iter().map(member).collect(),
        state: State::Open,
        changed_at: call.now(),
        closes_at: call.now() + GROUP_FOR,
        questions: Vec::new(),
        guests: Vec::new(),
        asked_at: None,
        turns: Vec::new(),
    };
    let group = GROUPS.add(call.new_id("grp"), group, call.now())?;
    if OWN_GROUPS.enter(me, &group.id)? > MOST_GROUPS {
        let limit = u64::try_from(MOST_GROUPS).unwrap_or(u64::MAX);
        return Err(FinderError::OpenLimitReached { name: "open_groups", limit });
    }
    timers::set(&timer(&group.id), group.value.closes_at, "expire", &by_id(&group.id))?;
    notices::invited(call, &group)?;
    shown(call, me, &group)
}

/// Refuses people who do not exist, cannot be reached, accept nothing from this person now, or were invited by this
/// person and have not answered, or have declined lately.
fn ensure_askable(call: &Call, me: &str, owner_ids: &[String]) -> Result<()> {
    let askable = asking::askable(me, owner_ids.iter().map(String::as_str).collect())?;
    let found = people::people(askable.iter().map(String::as_str))?;
    let earlier = Earlier::read(call, me, owner_ids)?;
    let mut errors = Vec::new();
    for (number, owner_id) in owner_ids.iter().enumerate() {
        let is_reachable = found.get(owner_id).is_some_and(people::Person::is_reachable);
        let object = format!("owner:{owner_id}");
        let broken = match is_reachable && relations::has_relation(object, "can_message", me)? {
            true => earlier.broken_rule(owner_id),
            false => Some(("accepts_messages", "a person who accepts messages from you")),
        };
        if let Some((rule, expected)) = broken {
            errors.push(Fault { pointer: format!("/owner_ids/{number}"), rule, expected });
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(FinderError::RecipientNotAccepting { errors }),
    }
}

/// What people have answered to the earlier invitations of one person.
#[derive(Debug, Default)]
struct Earlier {
    /// The people with an open invitation that they have not answered.
    waiting: BTreeSet<String>,
    /// The people who have declined an invitation in the last 30 days.
    declined: BTreeSet<String>,
    /// The number of invitations of the last 30 days that a person has not answered.
    unanswered: BTreeMap<String, usize>,
}

impl Earlier {
    /// Reads the groups of this person with these people. A group is kept for longer than its answers count.
    fn read(call: &Call, me: &str, owner_ids: &[String]) -> Result<Self> {
        let theirs = field("organizer").eq(me).and(field("members[].owner_id").one_of(owner_ids));
        let is_recent = |at: u64| at + DECLINED_FOR > call.now();
        let mut earlier = Self::default();
        for hit in GROUPS.all(Query::new().filter(theirs).limit(100)) {
            let group = hit?.document.value;
            let begun_at = group.closes_at.saturating_sub(GROUP_FOR);
            let is_counted = begun_at + UNANSWERED_FOR > call.now();
            for Member { owner_id, state, answered_at, .. } in group.members {
                match state {
                    Membership::Declined if answered_at.is_some_and(is_recent) => {
                        earlier.declined.insert(owner_id);
                    }
                    Membership::Invited if group.state == State::Open => {
                        earlier.waiting.insert(owner_id);
                    }
                    Membership::Invited if is_counted => {
                        *earlier.unanswered.entry(owner_id).or_default() += 1;
                    }
                    _ => {}
                }
            }
        }
        Ok(earlier)
    }

    /// Returns the rule by which a person is not invited again now, and what it expects; `None` if there is none.
    fn broken_rule(&self, owner_id: &str) -> Option<(&'static str, &'static str)> {
        let unanswered = self.unanswered.get(owner_id).copied().unwrap_or(0);
        if self.waiting.contains(owner_id) {
            Some(("invited", "a person who has answered your other invitation"))
        } else if self.declined.contains(owner_id) {
            let expected = "a person who has declined no invitation of yours in the last 30 days";
            Some(("declined", expected))
        } else if unanswered >= MOST_UNANSWERED {
            Some((
                "unanswered",
                "a person with at most one unanswered invitation of yours in 30 days",
            ))
        } else {
            None
        }
    }
}

/// Changes the calling person's answer.
pub(crate) fn answer(call: &Call, input: &GroupStep, action: &str) -> Result<Answer<GroupView>> {
    let me = call.require_owner()?;
    let mut group = Group::load_own(call, &input.group_id)?;
    ensure_version(&group, call, me, input.expected_version)?;
    let group_id = group.id.clone();
    ensure_open(&group)?;
    let member = group.value.member_mut(me).ok_or_else(|| {
        let message = "You have begun this group: the others answer.";
        Refusal::common(ErrorCode::NotPermitted, message).next(get(&group_id))
    })?;
    member.state = MEMBERSHIP.step(&group_id, member.state, action)?;
    member.answered_at = Some(call.now());
    let answer = member.state;
    let is_told = member.told_at.is_none_or(|at| at + TOLD_EVERY <= call.now());
    if is_told {
        member.told_at = Some(call.now());
    }
    save(call, &mut group)?;
    if is_told {
        notices::answered(call, &group, answer)?;
    }
    if answer == Membership::Left {
        held::end_of_group(call, &group_id)?;
    }
    shown(call, me, &group)
}

pub(crate) fn close(call: &Call, input: &GroupStep) -> Result<Answer<GroupView>> {
    let me = call.require_owner()?;
    let mut group = load_for_action(call, &input.group_id, "close")?;
    ensure_version(&group, call, me, input.expected_version)?;
    group.step(&GROUP, "close")?;
    end(call, &mut group)?;
    shown(call, me, &group)
}

/// Closes a group whose time has passed, and deletes one that was closed a month ago, with its polls. Many polls are
/// deleted in several runs, the group in the last one.
pub(crate) fn expire(call: &Call, group_id: &str) -> Result<()> {
    let Some(mut group) = GROUPS.get(group_id)? else { return Ok(()) };
    if group.value.state == State::Open {
        group.step(&GROUP, "expire")?;
        return end(call, &mut group);
    }
    let of_group = Query::new().filter(field("group_id").eq(group_id)).limit(POLLS_DELETED);
    let (polls, more) = POLLS.find(of_group)?.into_parts();
    for poll in polls {
        POLLS.delete(&poll.id, Expect::Any)?;
    }
    match more {
        Some(_) => Ok(timers::set(&timer(group_id), call.now(), "expire", &by_id(group_id))?),
        None => Ok(GROUPS.delete(group_id, Expect::Any)?),
    }
}

/// Stores the end of a group, and ends its holds.
fn end(call: &Call, group: &mut Stored<Group>) -> Result<()> {
    held::end_of_group(call, &group.id)?;
    OWN_GROUPS.leave(&group.value.organizer, &group.id)?;
    timers::set(&timer(&group.id), call.now() + KEPT_FOR, "expire", &by_id(&group.id))?;
    save(call, group)
}

fn timer(group_id: &str) -> String {
    format!("group/{group_id}")
}

fn by_id(group_id: &str) -> GroupInput {
    GroupInput { group_id: group_id.into() }
}

/// Returns an open group for an action of its organizer.
pub(crate) fn load_for_action(call: &Call, group_id: &str, action: &str) -> Result<Stored<Group>> {
    let me = call.require_owner()?;
    let group = Group::load_own(call, group_id)?;
    if group.value.organizer != me {
        let message = "Only the person who has begun this group may do this.";
        return Err(Refusal::common(ErrorCode::NotPermitted, message).next(get(group_id)).into());
    }
    GROUP.step(group_id, group.value.state, action)?;
    Ok(group)
}

fn ensure_open(group: &Stored<Group>) -> Result<()> {
    GROUP.step(&group.id, group.value.state, "find")?;
    Ok(())
}

fn ensure_version(
    group: &Stored<Group>,
    call: &Call,
    me: &str,
    expected: Option<Version>,
) -> Result<()> {
    let view = views_of(call, me, group)?;
    Ok(group.ensure_version(expected, || view, get(&group.id))?)
}

pub(crate) fn save(call: &Call, group: &mut Stored<Group>) -> Result<()> {
    group.value.changed_at = call.now();
    Ok(group.save()?)
}

fn views_of(call: &Call, me: &str, group: &Stored<Group>) -> Result<GroupView> {
    crate::views::group(call, me, group)
}

fn shown(call: &Call, me: &str, group: &Stored<Group>) -> Result<Answer<GroupView>> {
    Ok(Answer::new(views_of(call, me, group)?).next(get(&group.id)))
}

pub(crate) fn read(call: &Call, group_id: &str) -> Result<GroupView> {
    let group = Group::load_own(call, group_id)?;
    views_of(call, call.require_owner()?, &group)
}

pub(crate) fn list_own(call: &Call, me: &str, input: List) -> Result<Items<GroupView>> {
    let mine = field("organizer").eq(me).or(field("members[].owner_id").eq(me));
    let groups = GROUPS.find(input.page.last_changed(mine.and(input.state.map(in_state))))?;
    Items::try_of(groups, |group| views_of(call, me, &group))
}

pub(crate) fn in_state(state: State) -> Filter {
    field("state").eq(state)
}
