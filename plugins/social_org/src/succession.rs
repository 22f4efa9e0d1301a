//! Succession: who owns an organisation whose owner is gone.
//!
//! A person is gone if they do not exist any more, or if none of their agents has called for
//! [`GONE_AFTER`]. This is checked when the organisation is requested and again when the request is
//! due, so an owner who has returned in between keeps it.

use crate::{
    access::*,
    members,
    refusal::{OrgError, Result, get},
    states::*,
    types::*,
    view::{self, OrgView},
};
use people_kit::organisations::Vacancy;
use people_kit::people;
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// The maximum number of people who are notified in one call.
const TOLD_AT_ONCE: usize = 80;

/// Returns whether at least one of these people is not gone.
fn is_anybody_there(call: &Call, owner_ids: &[String]) -> Result<bool> {
    Ok(people::is_anybody_present(owner_ids, call.now().saturating_sub(GONE_AFTER))?)
}

/// Returns whether no owner and no admin is there, so that the domain decides who may take over.
pub(crate) fn vacancy(call: &Call, org_id: &str) -> Result<Vacancy> {
    let org = Org::load(org_id)?;
    Ok(Vacancy { vacant: !is_anybody_there(call, &org.value.members_from(Role::Admin))? })
}

/// Returns why the person may own the organisation if its owners are gone, without a look at these;
/// `None` if they may not.
fn ground(org: &Org, owner_id: &str) -> Option<Ground> {
    match org.roles.get(owner_id) {
        Some(Role::Admin) => Some(Ground::Admin),
        Some(Role::Owner) => None,
        _ if org.verified_by.contains(owner_id) => Some(Ground::Domain),
        Some(Role::Recruiter | Role::Member) => Some(Ground::Member),
        None => None,
    }
}

/// Returns whether those are gone who come first: the owners; for others than admins, also the admins; and
/// for a member, also the people who have proved the domain.
fn are_others_gone(call: &Call, org: &Org, ground: Ground) -> Result<bool> {
    let others = match ground {
        Ground::Admin => org.members_from(Role::Owner),
        Ground::Domain => org.members_from(Role::Admin),
        Ground::Member => {
            let mut others = org.members_from(Role::Admin);
            others.extend(org.verified_by.iter().cloned());
            others
        }
    };
    Ok(!is_anybody_there(call, &others)?)
}

/// Returns whether the caller can request to own the organisation now.
pub(crate) fn can_request(call: &Call, org: &Org) -> Result<bool> {
    let is_open = org.state == OrgState::Active && org.open_succession().is_none();
    let me = call.owner_id().filter(|_| is_open);
    match me.and_then(|me| ground(org, me)) {
        Some(ground) => are_others_gone(call, org, ground),
        None => Ok(false),
    }
}

/// Loads an organisation in the expected version, with the caller's membership, if there is one.
fn load(call: &Call, input: &OrgVersion) -> Result<(Stored<Org>, Option<Member>)> {
    let org = Org::load(&input.org_id)?;
    let own = own_membership(call, &org.id)?;
    org.ensure_version(
        input.expected_version,
        || view::org(call, &org, own.as_ref()),
        get(&org.id),
    )?;
    Ok((org, own))
}

pub(crate) fn request(call: &Call, input: &OrgVersion) -> Result<OrgView> {
    let me = call.require_owner()?.to_owned();
    let (mut org, own) = load(call, input)?;
    org.value.state = ORG.step(&org.id, org.value.state, "request_succession")?;
    let ground = ground(&org.value, &me).ok_or_else(|| not_permitted(&org.id))?;
    let state = match &org.value.succession {
        Some(before) => SUCCESSION.step(&org.id, before.state, "request_succession")?,
        None => SuccessionState::Requested,
    };
    if !are_others_gone(call, &org.value, ground)? {
        return Err(OrgError::OwnerPresent { org_id: org.id });
    }
    let wait = match ground {
        Ground::Admin => WAIT_OF_ADMIN,
        Ground::Domain => WAIT_OF_DOMAIN,
        Ground::Member => WAIT_OF_MEMBER,
    };
    let (requested_at, due_at) = (call.now(), call.now() + wait);
    org.value.succession = Some(Succession { by: me, ground, state, requested_at, due_at });
    save(&mut org)?;
    let due = SuccessionDue { org_id: org.id.clone() };
    timers::set(&timer(&org.id), due_at, "complete_succession", &due)?;
    tell(call, &org, Notice::Requested)?;
    Ok(view::org(call, &org, own.as_ref()))
}

pub(crate) fn refuse(call: &Call, input: &OrgVersion) -> Result<OrgView> {
    let mut access = authorize(call, &input.org_id, "refuse_succession", input.expected_version)?;
    end(call, &mut access.org, "refuse_succession", SuccessionState::Refused)?;
    access.view(call)
}

pub(crate) fn withdraw(call: &Call, input: &OrgVersion) -> Result<OrgView> {
    let me = call.require_owner()?.to_owned();
    let (mut org, own) = load(call, input)?;
    org.value.state = ORG.step(&org.id, org.value.state, "withdraw_succession")?;
    if org.value.succession.as_ref().is_none_or(|request| request.by != me) {
        return Err(not_permitted(&org.id).into());
    }
    end(call, &mut org, "withdraw_succession", SuccessionState::Withdrawn)?;
    Ok(view::org(call, &org, own.as_ref()))
}

/// Ends a request without effect, and notifies the members.
fn end(call: &Call, org: &mut Stored<Org>, action: &str, to: SuccessionState) -> Result<()> {
    let org_id = org.id.clone();
    let none = || Refusal::common(ErrorCode::NotFound, "Nobody has requested to own it.");
    let request = org.value.succession.as_mut().ok_or_else(|| none().next(get(&org_id)))?;
    request.state = SUCCESSION.step_to(&org_id, request.state, action, to)?;
    save(org)?;
    cancel(&org_id)?;
    tell(call, org, Notice::Refused)
}

/// Cancels the timer of a request.
pub(crate) fn cancel(org_id: &str) -> Result<()> {
    timers::cancel(&timer(org_id))?;
    Ok(())
}

/// Makes the claimant the owner, if that is due and still right.
pub(crate) fn complete(call: &Call, org_id: &str) -> Result<()> {
    let is_active = |org: &Stored<Org>| org.value.state == OrgState::Active;
    let Some(mut org) = ORGS.get(org_id)?.filter(is_active) else { return Ok(()) };
    let due = org.value.open_succession().filter(|request| request.due_at <= call.now());
    let Some(request) = due.cloned() else { return Ok(()) };
    let is_right = ground(&org.value, &request.by) == Some(request.ground)
        && people::person(&request.by)?.is_some_and(|person| person.active)
        && are_others_gone(call, &org.value, request.ground)?;
    match is_right {
        true => hand_over(call, &mut org, request),
        false => end(call, &mut org, "complete_succession", SuccessionState::Lapsed),
    }
}

/// Makes a person the owner. Former owners who still exist become admins.
fn hand_over(call: &Call, org: &mut Stored<Org>, request: Succession) -> Result<()> {
    let org_id = org.id.clone();
    let state = SuccessionState::Completed;
    let state = SUCCESSION.step_to(&org_id, request.state, "complete_succession", state)?;
    let (former, heir) = (org.value.members_from(Role::Owner), request.by.clone());
    org.value.succession = Some(Succession { state, ..request });
    let mut changed = vec![give_role(call, org, &heir, Role::Owner)?];
    for owner_id in former {
        changed.push(give_role(call, org, &owner_id, Role::Admin)?);
    }
    save(org)?;
    for member in &changed {
        let to = Some(member.value.owner_id.clone());
        members::notify(call, member, to, "Your role in an organisation has changed.")?;
    }
    tell(call, org, Notice::OwnerChanged)
}

/// Gives a person a role, whether they are a member or not. The calling function saves the
/// organisation.
fn give_role(
    call: &Call,
    org: &mut Stored<Org>,
    owner_id: &str,
    role: Role,
) -> Result<Stored<Member>> {
    let id = member_id(&org.id, owner_id);
    let new = Member {
        org_id: org.id.clone(),
        owner_id: owner_id.to_owned(),
        role,
        state: MemberState::Member,
        since: call.now(),
        invited_by: None,
        expires_at: None,
    };
    let before = MEMBERS.get(&id)?;
    let role_before = role_of(before.as_ref().map(|member| &member.value));
    let mut member = match before {
        Some(before) if role_before.is_some() => {
            Stored { value: Member { role, ..before.value }, ..before }
        }
        Some(before) => Stored { value: new, ..before },
        None => Stored::new(id, new, call.now()),
    };
    if org.value.invited.remove(owner_id) {
        timers::cancel(&members::timer(&member.id))?;
    }
    set_member_role(org, owner_id, Some(role))?;
    MEMBERS.save(&mut member)?;
    write_role_relation(&org.id, owner_id, role_before, Some(role))?;
    Ok(member)
}

/// Publishes an event about the request to all members, and to the person who made it.
fn tell(call: &Call, org: &Stored<Org>, notice: Notice) -> Result<()> {
    tell_after(call, org, notice, "")
}

/// Continues to publish an event about a request.
pub(crate) fn go_on_telling(call: &Call, input: &Telling) -> Result<()> {
    let Some(org) = ORGS.get(&input.org_id)? else { return Ok(()) };
    tell_after(call, &org, input.notice, &input.after)
}

/// Publishes an event about the ownership to the people whose ids follow `after`: some in this call, the
/// others in calls that follow.
fn tell_after(call: &Call, org: &Stored<Org>, notice: Notice, after: &str) -> Result<()> {
    let request = org.value.succession.as_ref().filter(|_| notice != Notice::OwnerGone);
    let ended = request.map(|request| request.state);
    let ended = ended.filter(|state| *state != SuccessionState::Requested);
    let due_at = request.filter(|_| ended.is_none()).map(|request| rfc3339(request.due_at));
    let facts = Facts {
        org_id: Some(org.id.clone()),
        owner_id: request.map(|request| request.by.clone()),
        due_at,
        succession: ended,
        ..Facts::default()
    };
    let (event, summary) = notice.event();
    let data = Data::new(call, org.resource(), summary, facts).next(get(&org.id));
    let claimant = request.map(|request| &request.by);
    let people: BTreeSet<&String> = org.value.roles.keys().chain(claimant).collect();
    let mut people = people.into_iter().filter(|owner_id| owner_id.as_str() > after).peekable();
    let mut last = String::new();
    for owner_id in people.by_ref().take(TOLD_AT_ONCE) {
        org.publish(event, Audience::Owner(owner_id.clone()), &data)?;
        last.clone_from(owner_id);
    }
    match people.peek() {
        Some(_) => tell_later_after(call, org, notice, last),
        None => Ok(()),
    }
}

/// Publishes an event to all members in calls that follow.
pub(crate) fn tell_later(call: &Call, org: &Stored<Org>, notice: Notice) -> Result<()> {
    tell_later_after(call, org, notice, String::new())
}

fn tell_later_after(call: &Call, org: &Stored<Org>, notice: Notice, after: String) -> Result<()> {
    let input = Telling { org_id: org.id.clone(), notice, after };
    Ok(timers::set(&format!("tell/{}", org.id), call.now(), "tell_members", &input)?)
}

impl Notice {
    /// Returns the event, and its summary.
    fn event(self) -> (Event<Data<Facts>>, &'static str) {
        match self {
            Self::Requested => {
                (SUCCESSION_REQUESTED, "Somebody asks to own an organisation whose owner is gone.")
            }
            Self::Refused => (SUCCESSION_REFUSED, "An organisation keeps its owner."),
            Self::OwnerChanged => (OWNER_CHANGED, "An organisation has another owner."),
            Self::OwnerGone => (
                OWNER_CHANGED,
                "An organisation has no owner any more. Another member can request to own it.",
            ),
        }
    }
}

fn timer(org_id: &str) -> String {
    format!("succession/{org_id}")
}
