//! Members of an organisation: invited, joined, promoted, removed.

use crate::{
    access::*,
    life::*,
    refusal::{OrgError, Result, get},
    types::*,
    view::{self, MemberView, OrgView},
};
use people_kit::people::{self, ContactPolicy};
use people_kit::relations;
use portolan_sdk::prelude::*;

pub(crate) fn list(call: &Call, input: ListMembers) -> Result<Items<MemberView>> {
    let org = Org::load(&input.org_id)?;
    let role = view::role(own(call, &input.org_id)?.as_ref());
    let is_open = input.state == MemberState::Member || may(role, "invite_member");
    if role.is_none() || !is_open {
        return Err(not_permitted(&input.org_id).into());
    }
    let of_it = field("org_id").eq(&input.org_id).and(field("state").eq(input.state));
    let page = MEMBERS.find(Query::new().filter(of_it).page(input.page))?;
    let ids = || page.documents().map(|member| member.value.owner_id.as_str());
    let (mut people, hidden) = (people::people(ids())?, relations::hidden(call.owner_id(), ids())?);
    // Colleagues stay on the list; of a person who is not visible, only the role is shown.
    people.retain(|owner_id, _| !hidden.contains(owner_id));
    let view = |found: &Stored<Member>| {
        let person = people.get(&found.value.owner_id);
        view::member(found, org.value.state, role, call.owner_id(), person)
    };
    Ok(Items { items: page.documents().map(view).collect(), next_cursor: page.next })
}

pub(crate) fn invite(call: &Call, input: Invite) -> Result<MemberView> {
    let mut standing = enter(call, &input.org_id, "invite_member", input.expected_version)?;
    let (org_id, owner_id) = (String::from(input.org_id), String::from(input.owner_id));
    if input.role > standing.role {
        return Err(not_permitted(&org_id).into());
    }
    let before = membership(&org_id, &owner_id)?;
    if let Some(member) = &before {
        if member.value.state == MemberState::Member {
            return Err(OrgError::AlreadyMember { org_id });
        }
        MEMBERSHIP.step(&org_id, member.value.state, "invite_member")?;
    }
    let is_alone = before.as_ref().is_some_and(|before| left_alone(&before.value, call.now()));
    if is_alone || !accepts(&standing.me, &owner_id)? {
        return Err(OrgError::RecipientNotAccepting { org_id });
    }
    ensure_below("invitations", standing.org.value.invited.len(), MOST_INVITED)?;
    ensure_below("members", standing.org.value.roles.len(), MOST_MEMBERS)?;
    let expires_at = call.now() + INVITE_FOR;
    let invited = Member {
        org_id: org_id.clone(),
        owner_id: owner_id.clone(),
        role: input.role,
        state: MemberState::Invited,
        since: call.now(),
        invited_by: Some(standing.me.clone()),
        expires_at: Some(expires_at),
    };
    let mut stored = match before {
        Some(before) => Stored { value: invited, ..before },
        None => Stored::new(member_id(&org_id, &owner_id), invited, call.now()),
    };
    stored.save()?;
    let ends = InviteEnds { org_id: org_id.clone(), owner_id: owner_id.clone() };
    timers::set(&timer(&stored.id), expires_at, "expire_invite", &ends)?;
    standing.org.value.invited.insert(owner_id.clone());
    standing.save()?;
    let respond = Next::action(CAPABILITY, "respond_invite").field("org_id", org_id.as_str());
    let respond =
        respond.ask("decision", "Do you want to join this organisation: accept or decline?");
    let (role, expires_at) = (Some(input.role), Some(rfc3339(expires_at)));
    let facts = Facts { org_id: Some(org_id), role, expires_at, ..Facts::default() };
    let summary = "You are invited to an organisation.";
    let data = Data::new(call, stored.resource(), summary, facts).next(respond);
    standing.org.publish(INVITED, Audience::Owner(owner_id), &data)?;
    view_of(&standing, &stored)
}

/// Returns whether the person accepts an invitation from the caller. Refuses with `owner_not_found`
/// if the person does not exist or is not visible to the caller.
fn accepts(me: &str, owner_id: &str) -> Result<bool> {
    let person = people::person(owner_id)?.ok_or(OrgError::OwnerNotFound)?;
    if !relations::hidden(Some(me), [owner_id])?.is_empty() {
        return Err(OrgError::OwnerNotFound);
    }
    match person.contact_policy {
        _ if !person.active => Ok(false),
        ContactPolicy::AnyoneMatching => Ok(true),
        ContactPolicy::Paused => Ok(false),
        ContactPolicy::Network => Ok(relations::may(format!("owner:{owner_id}"), "connected", me)?),
    }
}

fn left_alone(member: &Member, now: u64) -> bool {
    let pause = match member.state {
        MemberState::Declined => AFTER_DECLINED,
        MemberState::Withdrawn => AFTER_WITHDRAWN,
        _ => 0,
    };
    now < member.since + pause
}

pub(crate) fn respond(call: &Call, input: Respond) -> Result<OrgView> {
    let me = call.require_owner()?.to_owned();
    let mut org = Org::load(&input.org_id)?;
    let invited = membership(&input.org_id, &me)?;
    let invited = invited.filter(|invited| invited.value.state == MemberState::Invited);
    let mut own = invited.ok_or(OrgError::InviteNotFound)?;
    org.value.state = ORG.step(&input.org_id, org.value.state, "respond_invite")?;
    if own.value.expires_at.is_some_and(|at| at <= call.now()) {
        return Err(OrgError::InviteNotFound);
    }
    let to = match input.decision {
        Decision::Accept => MemberState::Member,
        Decision::Decline => MemberState::Declined,
    };
    MEMBERSHIP.step_to(&input.org_id, own.value.state, "respond_invite", to)?;
    end_invitation(call, &mut org.value, &mut own.value, to);
    if to == MemberState::Member {
        ensure_below("members", org.value.roles.len(), MOST_MEMBERS)?;
        enroll(&mut org, &me, Some(own.value.role))?;
        state_role(&input.org_id, &me, None, Some(own.value.role))?;
    }
    MEMBERS.save(&mut own)?;
    save(&mut org)?;
    timers::cancel(&timer(&own.id))?;
    let inviter = match own.value.invited_by.clone() {
        Some(inviter) if may_know(&input.org_id, &inviter, &me)? => Some(inviter),
        _ => None,
    };
    tell(call, &own, inviter, "An invitation to an organisation was answered.")?;
    Ok(view::org(&org, Some(&own.value)))
}

/// Returns whether the inviter may still learn of the answer: they are a member, and the two are
/// not blocked.
fn may_know(org_id: &str, inviter: &str, invited: &str) -> Result<bool> {
    let inviters = membership(org_id, inviter)?;
    let is_member = inviters.is_some_and(|inviter| inviter.value.state == MemberState::Member);
    Ok(is_member && relations::hidden(Some(inviter), [invited])?.is_empty())
}

pub(crate) fn set_role(call: &Call, input: SetRole) -> Result<MemberView> {
    let mut standing = enter(call, &input.org_id, "set_role", input.expected_version)?;
    let mut member = standing.member(&input.owner_id, "set_role")?;
    if input.role > standing.role {
        return Err(not_permitted(&input.org_id).into());
    }
    if member.value.role != input.role {
        change_role(&mut standing, &mut member, input.role)?;
        standing.save()?;
        tell(
            call,
            &member,
            Some(input.owner_id.into()),
            "Your role in an organisation has changed.",
        )?;
    }
    view_of(&standing, &member)
}

pub(crate) fn transfer(call: &Call, input: OfMember) -> Result<OrgView> {
    let mut standing = enter(call, &input.org_id, "transfer_ownership", input.expected_version)?;
    let mut heir = standing.member(&input.owner_id, "transfer_ownership")?;
    if heir.value.owner_id != standing.me {
        if heir.value.role != Role::Owner {
            change_role(&mut standing, &mut heir, Role::Owner)?;
        }
        let mut own = standing.own.clone();
        change_role(&mut standing, &mut own, Role::Admin)?;
        standing.save()?;
        tell(call, &heir, Some(input.owner_id.into()), "You own an organisation now.")?;
    }
    standing.view()
}

pub(crate) fn remove(call: &Call, input: OfMember) -> Result<MemberView> {
    let mut standing = enter(call, &input.org_id, "remove_member", input.expected_version)?;
    let mut member = standing.member(&input.owner_id, "remove_member")?;
    depart(call, &mut standing, &mut member, "remove_member")?;
    let summary = "You are no longer in an organisation.";
    tell(call, &member, Some(input.owner_id.into()), summary)?;
    view_of(&standing, &member)
}

pub(crate) fn leave(call: &Call, input: Whole) -> Result<OrgView> {
    let mut standing = enter(call, &input.org_id, "leave", input.expected_version)?;
    let mut own = standing.own.clone();
    depart(call, &mut standing, &mut own, "leave")?;
    tell(call, &own, None, "Somebody has left an organisation.")?;
    Ok(view::org(&standing.org, Some(&own.value)))
}

/// Ends an invitation that was not answered, unless there is a newer one.
pub(crate) fn expire(call: &Call, input: &InviteEnds) -> Result<()> {
    let Some(mut invited) = membership(&input.org_id, &input.owner_id)? else { return Ok(()) };
    let is_due = invited.value.expires_at.is_some_and(|at| at <= call.now());
    if invited.value.state != MemberState::Invited || !is_due {
        return Ok(());
    }
    let mut org = Org::load(&input.org_id)?;
    let expired = MEMBERSHIP.step(&org.id, invited.value.state, "expire_invite")?;
    end_invitation(call, &mut org.value, &mut invited.value, expired);
    MEMBERS.save(&mut invited)?;
    save(&mut org)
}

fn end_invitation(call: &Call, org: &mut Org, invited: &mut Member, to: MemberState) {
    (invited.state, invited.since, invited.expires_at) = (to, call.now(), None);
    org.invited.remove(&invited.owner_id);
}

fn change_role(standing: &mut Standing, member: &mut Stored<Member>, role: Role) -> Result<()> {
    let before = std::mem::replace(&mut member.value.role, role);
    enroll(&mut standing.org, &member.value.owner_id, Some(role))?;
    MEMBERS.save(member)?;
    state_role(&member.value.org_id, &member.value.owner_id, Some(before), Some(role))
}

fn depart(
    call: &Call,
    standing: &mut Standing,
    member: &mut Stored<Member>,
    action: &str,
) -> Result<()> {
    let before = member.value.state;
    let to = MEMBERSHIP.step(&standing.org.id, before, action)?;
    if before == MemberState::Invited {
        end_invitation(call, &mut standing.org.value, &mut member.value, to);
        timers::cancel(&timer(&member.id))?;
    } else {
        (member.value.state, member.value.since) = (to, call.now());
        enroll(&mut standing.org, &member.value.owner_id, None)?;
        state_role(&standing.org.id, &member.value.owner_id, Some(member.value.role), None)?;
    }
    MEMBERS.save(member)?;
    standing.save()
}

/// Refuses one more if `number` has reached `most`.
fn ensure_below(name: &'static str, number: usize, most: u64) -> Result<()> {
    match number as u64 >= most {
        true => Err(OrgError::OrgLimitReached { limit: Limit::reached(name, most) }),
        false => Ok(()),
    }
}

fn tell(
    call: &Call,
    member: &Stored<Member>,
    to: Option<String>,
    summary: &'static str,
) -> Result<()> {
    let audience = to.map_or(Audience::Capabilities, Audience::Owner);
    let Member { org_id, owner_id, role, .. } = &member.value;
    let facts = Facts {
        org_id: Some(org_id.clone()),
        owner_id: Some(owner_id.clone()),
        role: Some(*role),
        ..Facts::default()
    };
    let data = Data::new(call, member.resource(), summary, facts).next(get(org_id));
    MEMBER_CHANGED.publish(audience, format!("orgs/{org_id}"), &data)?;
    Ok(())
}

fn view_of(standing: &Standing, member: &Stored<Member>) -> Result<MemberView> {
    let owner_id = member.value.owner_id.as_str();
    let person = people::person(owner_id)?;
    let hidden = relations::hidden(Some(&standing.me), [owner_id])?;
    let person = person.filter(|_| hidden.is_empty());
    let (state, role) = (standing.org.value.state, Some(standing.role));
    Ok(view::member(member, state, role, Some(&standing.me), person.as_ref()))
}

fn timer(member_id: &str) -> String {
    format!("invite/{member_id}")
}
