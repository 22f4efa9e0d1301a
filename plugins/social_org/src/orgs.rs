//! Organisations: created, changed, verified, archived.

use crate::{
    access::{Standing, end_roles, enter, member_id, own, save, state_role},
    life::*,
    map, names, refusal,
    refusal::{OrgError, Result, another_domain},
    types::*,
    view::{self, OrgView},
};
use people_kit::text::{Faults, Lines, public};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn search(call: &Call, input: Search) -> Result<Items<OrgView>> {
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
    let items = both.map(|(org, own)| view::org(org, own.map(|own| own.value).as_ref())).collect();
    Ok(Items { items, next_cursor: page.next })
}

pub(crate) fn get(call: &Call, org_id: &str) -> Result<OrgView> {
    Ok(view::org(&Org::load(org_id)?, own(call, org_id)?.as_ref()))
}

pub(crate) fn list_mine(me: &str, input: ListMine) -> Result<Items<OrgView>> {
    let states = match input.state.is_empty() {
        true => vec![MemberState::Member, MemberState::Invited],
        false => input.state,
    };
    let mine = field("owner_id").eq(me).and(field("state").one_of(states));
    let page = MEMBERS.find(Query::new().filter(mine).page(input.page))?;
    let orgs = ORGS.get_many(page.documents().map(|own| own.value.org_id.as_str()))?;
    let both = orgs.into_iter().zip(page.documents());
    let items = both.filter_map(|(org, own)| Some(view::org(&org?, Some(&own.value))));
    Ok(Items { items: items.collect(), next_cursor: page.next })
}

pub(crate) fn create(call: &Call, input: Create) -> Result<OrgView> {
    let (me, org_id) = (call.require_owner()?.to_owned(), call.new_id("org"));
    let (name, name_key) = named(&input.name)?;
    found(&me, 1)?;
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
    state_role(&org_id, &me, None, Some(Role::Owner))?;
    Ok(view::org(&org, Some(&member)))
}

pub(crate) fn update(call: &Call, input: Update) -> Result<OrgView> {
    let mut standing = enter(call, &input.org_id, "update", input.expected_version)?;
    let mut org = standing.org.value.clone();
    if let Some(name) = &input.name {
        (org.name, org.name_key) = named(name)?;
    }
    org.kind = input.kind.unwrap_or(org.kind);
    org.domain = input.domain.unwrap_or(org.domain);
    let before = &standing.org.value;
    // A verification is only about the domain that was proved.
    let is_elsewhere = org.domain != before.domain;
    if is_elsewhere || (&org.name, org.kind) != (&before.name, before.kind) {
        org.verified &= !is_elsewhere;
        standing.org.value = org;
        if is_elsewhere {
            unlink(&mut standing)?;
        }
        standing.save()?;
    }
    standing.view()
}

pub(crate) fn link_target(call: &Call, input: LinkTarget) -> Result<OrgView> {
    let mut standing = enter(call, &input.org_id, "link_target", input.expected_version)?;
    if standing.org.value.target_id == input.target_id {
        return standing.view();
    }
    if input.target_id.is_some() && !standing.org.value.verified {
        return Err(OrgError::VerificationRequired { org_id: input.org_id.into() });
    }
    if let Some(target_id) = &input.target_id
        && !map::has_domain(target_id, standing.org.value.domain.as_deref())?
    {
        return Err(another_domain(target_id).into());
    }
    unlink(&mut standing)?;
    if let Some(target_id) = input.target_id {
        // The organisation that is linked to it may have been erased with its only member.
        if let Some(taken) = TARGETS.get(&target_id)?
            && ORGS.get(&taken.value.org_id)?.is_some()
        {
            return Err(OrgError::TargetTaken { existing_id: taken.value.org_id });
        }
        TARGETS.put(&target_id, &Target { org_id: input.org_id.into() }, Expect::Any)?;
        standing.org.value.target_id = Some(target_id);
    }
    standing.save()?;
    standing.view()
}

fn unlink(standing: &mut Standing) -> Result<()> {
    if let Some(target_id) = standing.org.value.target_id.take() {
        TARGETS.delete(&target_id, Expect::Any)?;
    }
    Ok(())
}

pub(crate) fn archive(call: &Call, input: Whole) -> Result<OrgView> {
    let mut standing = enter(call, &input.org_id, "archive", input.expected_version)?;
    unlink(&mut standing)?;
    found(&standing.org.value.founder.clone(), -1)?;
    standing.org.value.name_key.clone_from(&standing.org.id);
    let member = field("org_id").eq(&input.org_id).and(field("state").eq(MemberState::Member));
    let mut roles = Vec::new();
    for hit in MEMBERS.all(Query::new().filter(member)) {
        let member = hit?.document.value;
        roles.push((member.owner_id, member.role));
    }
    end_roles(&input.org_id, &roles)?;
    standing.save()?;
    let facts = Facts { org_id: Some(input.org_id.into()), ..Facts::default() };
    let summary = "An organisation was archived.";
    let data = Data::new(call, standing.org.resource(), summary, facts);
    standing.org.publish(ARCHIVED, Audience::Capabilities, &data)?;
    standing.view()
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
pub(crate) fn follow(call: &Call, verification: Verification) -> Result<()> {
    let Some(org_id) = verification.org_id else { return Ok(()) };
    if ORGS.get(&org_id)?.is_none_or(|known| known.value.state != OrgState::Active) {
        return Ok(());
    }
    let (verified, domain) = (verification.anybody_verified, Some(verification.domain));
    set_verified(call, SetVerified { org_id: org_id.into(), verified, domain })
}

/// Checks a name, and returns it with its key.
fn named(name: &str) -> Result<(String, String)> {
    let mut faults = Faults::default();
    let name = public("/name", name, Lines::One, &mut faults);
    let key = names::key(&name);
    if key.is_empty() && !name.is_empty() {
        faults.add("/name", "letters", "a name with letters or digits");
    }
    faults.check()?;
    Ok((name, key))
}

/// Adds `more` to the number of organisations that a person has created and not archived. Refuses
/// if that exceeds the limit.
fn found(owner_id: &str, more: i64) -> Result<()> {
    let mut founder = FOUNDERS.get_or_default(owner_id)?;
    founder.value.founded = founder.value.founded.saturating_add_signed(more);
    if founder.value.founded > MOST_FOUNDED && more > 0 {
        let limit = Limit::reached("orgs_founded", MOST_FOUNDED);
        return Err(OrgError::OrgLimitReached { limit });
    }
    Ok(FOUNDERS.save(&mut founder)?)
}
