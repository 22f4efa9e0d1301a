//! Members of an organisation: invited, joined, promoted, removed.

use crate::{
    access::*,
    refusal::{OrgError, Result, get},
    states::*,
    types::*,
    view::{self, MemberView, OrgView},
};
use people_kit::people::{self, ContactPolicy, Person};
use people_kit::relations;
use portolan_sdk::prelude::*;

pub(crate) fn list(call: &Call, input: ListMembers) -> Result<Items<MemberView>> {
    let org = Org::load(&input.org_id)?;
    let role = role_of(own_membership(call, &input.org_id)?.as_ref());
    let is_open = input.state == MemberState::Member || is_permitted(role, "invite_member");
    if role.is_none() || !is_open {
        return Err(not_permitted(&input.org_id).into());
    }
    let filter = field("org_id").eq(&input.org_id).and(field("state").eq(input.state));
    let page = MEMBERS.find(Query::new().filter(filter).page(input.page))?;
    let ids = || page.documents().map(|member| member.value.owner_id.as_str());
    let (mut people, hidden) = (people::people(ids())?, relations::hidden(call.owner_id(), ids())?);
    // Colleagues stay on the list; of a person who is not visible, only the role is shown.
    people.retain(|owner_id, _| !hidden.contains(owner_id));
    let view = |found: &Stored<Member>| {
        let person = people.get(&found.value.owner_id);
        view::member(found, &org.value, role, call.owner_id(), person)
    };
    Ok(Items { items: page.documents().map(view).collect(), next_cursor: page.next })
}

pub(crate) fn invite(call: &Call, input: Invite) -> Result<MemberView> {
    let mut access = authorize(call, &input.org_id, "invite_member", input.expected_version)?;
    people::ensure_visible(&access.me)?;
    let (org_id, owner_id) = (String::from(input.org_id), String::from(input.owner_id));
    if input.role > access.role {
        return Err(not_permitted(&org_id).into());
    }
    let before = membership(&org_id, &owner_id)?;
    if let Some(member) = &before {
        if member.value.state == MemberState::Member {
            return Err(OrgError::AlreadyMember { org_id });
        }
        MEMBERSHIP.step(&org_id, member.value.state, "invite_member")?;
    }
    let is_in_cooldown =
        before.as_ref().is_some_and(|before| is_in_cooldown(&before.value, call.now()));
    let person = visible_person(&access.me, &owner_id)?;
    if is_in_cooldown || !accepts_invitations(&access.me, &person)? {
        return Err(OrgError::RecipientNotAccepting { org_id });
    }
    ensure_below("invitations", access.org.value.invited.len(), MOST_INVITED)?;
    ensure_below("members", access.org.value.roles.len(), MOST_MEMBERS)?;
    let expires_at = call.now() + INVITE_FOR;
    let invited = Member {
        org_id: org_id.clone(),
        owner_id: owner_id.clone(),
        role: input.role,
        state: MemberState::Invited,
        since: call.now(),
        invited_by: Some(access.me.clone()),
        expires_at: Some(expires_at),
    };
    let mut stored = match before {
        Some(before) => Stored { value: invited, ..before },
        None => Stored::new(member_id(&org_id, &owner_id), invited, call.now()),
    };
    stored.save()?;
    let ends = InviteExpiry { org_id: org_id.clone(), owner_id: owner_id.clone() };
    timers::set(&timer(&stored.id), expires_at, "expire_invite", &ends)?;
    access.org.value.invited.insert(owner_id.clone());
    access.save()?;
    let respond = Next::action(CAPABILITY, "respond_invite").field("org_id", org_id.as_str());
    let respond =
        respond.ask("decision", "Do you want to join this organisation: accept or decline?");
    let (role, expires_at) = (Some(input.role), Some(rfc3339(expires_at)));
    let facts = Facts { org_id: Some(org_id), role, expires_at, ..Facts::default() };
    let summary = "You are invited to an organisation.";
    let data = Data::new(call, stored.resource(), summary, facts).next(respond);
    access.org.publish(INVITED, Audience::Owner(owner_id), &data)?;
    let mut view = view_of(&access, &stored)?;
    view.counterpart_reachable = Some(person.has_agent);
    Ok(view)
}

/// Returns a person. Refuses with `owner_not_found` if the person does not exist or is not visible to
/// the caller.
fn visible_person(me: &str, owner_id: &str) -> Result<Person> {
    let person = people::person(owner_id)?.ok_or(OrgError::OwnerNotFound)?;
    match relations::hidden(Some(me), [owner_id])?.is_empty() {
        true => Ok(person),
        false => Err(OrgError::OwnerNotFound),
    }
}

/// Returns whether the person accepts an invitation from the caller.
fn accepts_invitations(me: &str, person: &Person) -> Result<bool> {
    match person.contact_policy {
        _ if !person.active => Ok(false),
        ContactPolicy::AnyoneMatching => Ok(true),
        ContactPolicy::Paused => Ok(false),
        ContactPolicy::Network => {
            Ok(relations::has_relation(format!("owner:{}", person.owner_id), "connected", me)?)
        }
    }
}

fn is_in_cooldown(member: &Member, now: u64) -> bool {
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
        Decision::Accept if !can_still_invite(&org.value, &own.value) => {
            return Err(OrgError::InviterNotPermitted);
        }
        Decision::Accept => MemberState::Member,
        Decision::Decline => MemberState::Declined,
    };
    MEMBERSHIP.step_to(&input.org_id, own.value.state, "respond_invite", to)?;
    end_invitation(call, &mut org.value, &mut own.value, to);
    if to == MemberState::Member {
        ensure_below("members", org.value.roles.len(), MOST_MEMBERS)?;
        set_member_role(&mut org, &me, Some(own.value.role))?;
        write_role_relation(&input.org_id, &me, None, Some(own.value.role))?;
    }
    MEMBERS.save(&mut own)?;
    save(&mut org)?;
    timers::cancel(&timer(&own.id))?;
    let inviter = match own.value.invited_by.clone() {
        Some(inviter) if can_notify(&input.org_id, &inviter, &me)? => Some(inviter),
        _ => None,
    };
    notify(call, &own, inviter, "An invitation to an organisation was answered.")?;
    Ok(view::org(call, &org, Some(&own.value)))
}

/// Returns whether the inviter of a person may still give them the role. A mere member may do nothing in the
/// organisation's name, so that invitation stays.
fn can_still_invite(org: &Org, invited: &Member) -> bool {
    let inviter = invited.invited_by.as_ref().and_then(|inviter| org.roles.get(inviter));
    invited.role == Role::Member
        || inviter.is_some_and(|role| *role >= Role::Admin && *role >= invited.role)
}

/// Returns whether the inviter may still learn of the answer: they are a member, and the two are
/// not blocked.
fn can_notify(org_id: &str, inviter: &str, invited: &str) -> Result<bool> {
    let inviters = membership(org_id, inviter)?;
    let is_member = inviters.is_some_and(|inviter| inviter.value.state == MemberState::Member);
    Ok(is_member && relations::hidden(Some(inviter), [invited])?.is_empty())
}

pub(crate) fn set_role(call: &Call, input: SetRole) -> Result<MemberView> {
    let mut access = authorize(call, &input.org_id, "set_role", input.expected_version)?;
    let mut member = access.member_for_action(&input.owner_id, "set_role")?;
    if input.role > access.role {
        return Err(not_permitted(&input.org_id).into());
    }
    if member.value.role != input.role {
        change_role(&mut access, &mut member, input.role)?;
        access.save()?;
        notify(
            call,
            &member,
            Some(input.owner_id.into()),
            "Your role in an organisation has changed.",
        )?;
    }
    view_of(&access, &member)
}

pub(crate) fn transfer(call: &Call, input: MemberInput) -> Result<OrgView> {
    let mut access = authorize(call, &input.org_id, "transfer_ownership", input.expected_version)?;
    let mut new_owner = access.member_for_action(&input.owner_id, "transfer_ownership")?;
    if new_owner.value.owner_id != access.me {
        if new_owner.value.role != Role::Owner {
            change_role(&mut access, &mut new_owner, Role::Owner)?;
        }
        let mut own = access.own.clone();
        change_role(&mut access, &mut own, Role::Admin)?;
        access.save()?;
        notify(call, &new_owner, Some(input.owner_id.into()), "You own an organisation now.")?;
    }
    access.view(call)
}

pub(crate) fn remove(call: &Call, input: MemberInput) -> Result<MemberView> {
    let mut access = authorize(call, &input.org_id, "remove_member", input.expected_version)?;
    let mut member = access.member_for_action(&input.owner_id, "remove_member")?;
    end_membership(call, &mut access, &mut member, "remove_member")?;
    let summary = "You are no longer in an organisation.";
    notify(call, &member, Some(input.owner_id.into()), summary)?;
    view_of(&access, &member)
}

pub(crate) fn leave(call: &Call, input: OrgVersion) -> Result<OrgView> {
    let mut access = authorize(call, &input.org_id, "leave", input.expected_version)?;
    let mut own = access.own.clone();
    end_membership(call, &mut access, &mut own, "leave")?;
    notify(call, &own, None, "Somebody has left an organisation.")?;
    Ok(view::org(call, &access.org, Some(&own.value)))
}

/// Ends an invitation that was not answered, unless there is a newer one.
pub(crate) fn expire(call: &Call, input: &InviteExpiry) -> Result<()> {
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

fn change_role(access: &mut Access, member: &mut Stored<Member>, role: Role) -> Result<()> {
    let before = std::mem::replace(&mut member.value.role, role);
    set_member_role(&mut access.org, &member.value.owner_id, Some(role))?;
    MEMBERS.save(member)?;
    write_role_relation(&member.value.org_id, &member.value.owner_id, Some(before), Some(role))
}

fn end_membership(
    call: &Call,
    access: &mut Access,
    member: &mut Stored<Member>,
    action: &str,
) -> Result<()> {
    let before = member.value.state;
    let to = MEMBERSHIP.step(&access.org.id, before, action)?;
    if before == MemberState::Invited {
        end_invitation(call, &mut access.org.value, &mut member.value, to);
        timers::cancel(&timer(&member.id))?;
    } else {
        (member.value.state, member.value.since) = (to, call.now());
        set_member_role(&mut access.org, &member.value.owner_id, None)?;
        write_role_relation(&access.org.id, &member.value.owner_id, Some(member.value.role), None)?;
    }
    MEMBERS.save(member)?;
    access.save()
}

/// Refuses one more if `number` has reached `most`.
fn ensure_below(name: &'static str, number: usize, most: u64) -> Result<()> {
    match number as u64 >= most {
        true => Err(OrgError::OrgLimitReached { limit: Limit::reached(name, most) }),
        false => Ok(()),
    }
}

pub(crate) fn notify(
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

fn view_of(access: &Access, member: &Stored<Member>) -> Result<MemberView> {
    let owner_id = member.value.owner_id.as_str();
    let person = people::person(owner_id)?;
    let hidden = relations::hidden(Some(&access.me), [owner_id])?;
    let person = person.filter(|_| hidden.is_empty());
    let (org, role) = (&access.org.value, Some(access.role));
    Ok(view::member(member, org, role, Some(&access.me), person.as_ref()))
}

pub(crate) fn timer(member_id: &str) -> String {
    format!("invite/{member_id}")
}
