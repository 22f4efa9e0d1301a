//! Organisations: created, changed, verified, archived.

use crate::{
    access::{
        authorize, delete_role_relations, member_id, own_membership, save, write_role_relation,
    },
    map, names, refusal,
    refusal::{OrgError, Result, another_domain},
    states::*,
    succession,
    types::*,
    view::{self, OrgView},
};
use people_kit::text::{self, Faults, Lines, public};
use portolan_sdk::documents::{NoWords, ensure_words};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn search(call: &Call, input: Search) -> Result<Items<OrgView>> {
    ensure_words(input.q.as_deref()).map_err(|NoWords| OrgError::QueryEmpty)?;
    let mut filters: Vec<Filter> = vec![field("state").eq(OrgState::Active)];
    filters.extend(input.kind.map(|kind| field("kind").eq(kind)));
    filters.extend(input.verified.map(|verified| field("verified").eq(verified)));
    let query = match &input.q {
        Some(_) => Query::new().last("relevance"),
        None => Query::new().first("name_key"),
    };
    let query = query.text(input.q.map(Into::into)).filter(all_of(filters));
    let page = ORGS.find(query.page(input.page))?;
    let own = match call.owner_id() {
        Some(me) => MEMBERS.get_many(page.documents().map(|org| member_id(&org.id, me)))?,
        None => page.documents().map(|_| None).collect(),
    };
    let both = page.documents().zip(own);
    let items =
        both.map(|(org, own)| view::org(call, org, own.map(|own| own.value).as_ref())).collect();
    Ok(Items { items, next_cursor: page.next })
}

pub(crate) fn get(call: &Call, org_id: &str) -> Result<OrgView> {
    let (org, own) = (Org::load(org_id)?, own_membership(call, org_id)?);
    let mut view = view::org(call, &org, own.as_ref());
    if succession::can_request(call, &org.value)? {
        view.allowed_actions.push("request_succession");
    }
    Ok(view)
}

pub(crate) fn list_mine(call: &Call, me: &str, input: ListMine) -> Result<Items<OrgView>> {
    let states = match input.state.is_empty() {
        true => vec![MemberState::Member, MemberState::Invited],
        false => input.state,
    };
    let mine = field("owner_id").eq(me).and(field("state").one_of(states));
    let page = MEMBERS.find(Query::new().filter(mine).page(input.page))?;
    let orgs = ORGS.get_many(page.documents().map(|own| own.value.org_id.as_str()))?;
    let both = orgs.into_iter().zip(page.documents());
    let items = both.filter_map(|(org, own)| Some(view::org(call, &org?, Some(&own.value))));
    Ok(Items { items: items.collect(), next_cursor: page.next })
}

pub(crate) fn create(call: &Call, input: Create) -> Result<OrgView> {
    let (me, org_id) = (call.require_owner()?.to_owned(), call.new_id("org"));
    let (name, name_key) = check_name(&input.name)?;
    count_founded(&me, 1)?;
    let org = Org {
        name,
        name_key,
        kind: input.kind,
        domain: input.domain,
        verified: false,
        target_id: None,
        state: OrgState::Active,
        founder: me.clone(),
        roles: BTreeMap::from([(me.clone(), Role::Owner)]),
        invited: BTreeSet::new(),
        sole_member: Some(me.clone()),
        verified_by: BTreeSet::new(),
        succession: None,
    };
    let mut org = Stored::new(org_id.clone(), org, call.now());
    save(&mut org)?;
    let member = Member {
        org_id: org_id.clone(),
        owner_id: me.clone(),
        role: Role::Owner,
        state: MemberState::Member,
        since: call.now(),
        invited_by: None,
        expires_at: None,
    };
    MEMBERS.put(&member_id(&org_id, &me), &member, Expect::Absent)?;
    write_role_relation(&org_id, &me, None, Some(Role::Owner))?;
    Ok(view::org(call, &org, Some(&member)))
}

pub(crate) fn update(call: &Call, input: Update) -> Result<OrgView> {
    let mut access = authorize(call, &input.org_id, "update", input.expected_version)?;
    let mut org = access.org.value.clone();
    if let Some(name) = &input.name {
        (org.name, org.name_key) = check_name(name)?;
    }
    org.kind = input.kind.unwrap_or(org.kind);
    org.domain = input.domain.unwrap_or(org.domain);
    let before = &access.org.value;
    // A verification is only about the domain that was proved.
    let has_new_domain = org.domain != before.domain;
    if has_new_domain || (&org.name, org.kind) != (&before.name, before.kind) {
        org.verified &= !has_new_domain;
        access.org.value = org;
        if has_new_domain {
            access.org.value.verified_by.clear();
            unlink(&mut access.org)?;
        }
        access.save()?;
    }
    access.view(call)
}

pub(crate) fn link_target(call: &Call, input: LinkTarget) -> Result<OrgView> {
    let mut access = authorize(call, &input.org_id, "link_target", input.expected_version)?;
    if access.org.value.target_id == input.target_id {
        return access.view(call);
    }
    if input.target_id.is_some() && !access.org.value.verified {
        return Err(OrgError::VerificationRequired { org_id: input.org_id.into() });
    }
    if let Some(target_id) = &input.target_id
        && !map::has_domain(target_id, access.org.value.domain.as_deref())?
    {
        return Err(another_domain(target_id).into());
    }
    unlink(&mut access.org)?;
    let linked = input.target_id.clone();
    if let Some(target_id) = input.target_id {
        // The organisation that is linked to it may have been erased with its only member.
        if let Some(existing) = TARGETS.get(&target_id)?
            && ORGS.get(&existing.value.org_id)?.is_some()
        {
            return Err(OrgError::TargetTaken { existing_id: existing.value.org_id });
        }
        TARGETS.put(&target_id, &Target { org_id: input.org_id.into() }, Expect::Any)?;
        access.org.value.target_id = Some(target_id);
    }
    access.save()?;
    if linked.is_some() {
        let org_id = Some(access.org.id.clone());
        let facts = Facts { org_id, target_id: linked, ..Facts::default() };
        let summary = "An organisation is linked to its target of the map.";
        let data = Data::new(call, access.org.resource(), summary, facts);
        access.org.publish(TARGET_LINKED, Audience::Capabilities, &data)?;
    }
    access.view(call)
}

fn unlink(org: &mut Stored<Org>) -> Result<()> {
    if let Some(target_id) = org.value.target_id.take() {
        TARGETS.delete(&target_id, Expect::Any)?;
    }
    Ok(())
}

pub(crate) fn archive(call: &Call, input: OrgVersion) -> Result<OrgView> {
    let mut access = authorize(call, &input.org_id, "archive", input.expected_version)?;
    end(call, &mut access.org)?;
    access.view(call)
}

/// Ends an organisation whose state is archived by now: its roles end, and its name is free.
pub(crate) fn end(call: &Call, org: &mut Stored<Org>) -> Result<()> {
    unlink(org)?;
    count_founded(&org.value.founder.clone(), -1)?;
    org.value.name_key.clone_from(&org.id);
    let member = field("org_id").eq(&org.id).and(field("state").eq(MemberState::Member));
    let mut roles = Vec::new();
    for hit in MEMBERS.all(Query::new().filter(member)) {
        let member = hit?.document.value;
        roles.push((member.owner_id, member.role));
    }
    delete_role_relations(&org.id, &roles)?;
    succession::cancel(&org.id)?;
    save(org)?;
    let facts = Facts { org_id: Some(org.id.clone()), ..Facts::default() };
    let summary = "An organisation was archived.";
    let data = Data::new(call, org.resource(), summary, facts);
    Ok(org.publish(ARCHIVED, Audience::Capabilities, &data)?)
}

pub(crate) fn set_verified(call: &Call, input: SetVerified) -> Result<()> {
    let mut org = Org::load(&input.org_id)?;
    let is_other = input.domain.is_some() && input.domain != org.value.domain;
    if org.value.verified == input.verified || is_other {
        return Ok(());
    }
    org.value.state = ORG.step(&input.org_id, org.value.state, "set_verified")?;
    org.value.verified = input.verified;
    if let Some(target_id) = org.value.target_id.take_if(|_| !input.verified) {
        TARGETS.delete(&target_id, Expect::Any)?;
    }
    save(&mut org)?;
    let owners = field("org_id").eq(&input.org_id).and(field("state").eq(MemberState::Member));
    let owners = owners.and(field("role").eq(Role::Owner));
    let summary = "The verification of an organisation has changed.";
    let facts = Facts { verified: Some(input.verified), ..Facts::default() };
    let data = Data::new(call, org.resource(), summary, facts).next(refusal::get(&input.org_id));
    for hit in MEMBERS.find(Query::new().filter(owners).limit(20))?.hits {
        org.publish(VERIFIED, Audience::Owner(hit.document.value.owner_id), &data)?;
    }
    Ok(())
}

/// Applies the result of a verification. It is ignored if the organisation is archived or has
/// another domain.
pub(crate) fn apply_verification(call: &Call, verification: Verification) -> Result<()> {
    let Some(org_id) = verification.org_id.clone() else { return Ok(()) };
    let is_active = |known: &Stored<Org>| known.value.state == OrgState::Active;
    let Some(mut org) = ORGS.get(&org_id)?.filter(is_active) else { return Ok(()) };
    let is_current = org.value.domain.as_ref() == Some(&verification.domain);
    let people = &mut org.value.verified_by;
    let has_changed = match verification.is_proved() && is_current {
        true => people.insert(verification.owner_id.clone()),
        false => people.remove(&verification.owner_id),
    };
    if has_changed {
        save(&mut org)?;
    }
    let (verified, domain) = (verification.anybody_verified, Some(verification.domain));
    set_verified(call, SetVerified { org_id: org_id.into(), verified, domain })
}

/// Checks a name, and returns it with its key.
fn check_name(name: &str) -> Result<(String, String)> {
    let mut faults = Faults::default();
    let name = public("/name", name, Lines::One, &mut faults);
    text::check_name("/name", &name, &mut faults);
    faults.check()?;
    let key = names::key(&name);
    Ok((name, key))
}

/// Adds `more` to the number of organisations that a person has created and not archived. Refuses
/// if that exceeds the limit.
fn count_founded(owner_id: &str, more: i64) -> Result<()> {
    let mut founder = FOUNDERS.get_or_default(owner_id)?;
    founder.value.founded = founder.value.founded.saturating_add_signed(more);
    if founder.value.founded > MOST_FOUNDED && more > 0 {
        let limit = Limit::reached("orgs_founded", MOST_FOUNDED);
        return Err(OrgError::OrgLimitReached { limit });
    }
    Ok(FOUNDERS.save(&mut founder)?)
}
