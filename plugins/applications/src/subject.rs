//! The subject of an application, from the map or from a listing.

use crate::{documents::*, refusals::*, types::*};
use people_kit::listings::{self, Profile as Listing, Visibility};
use people_kit::taxonomy::{Side, is_never_public, is_within};
use people_kit::{organisations, pairings, relations};
use portolan_sdk::{feeds::Feed, prelude::*};

/// The category of jobs, and that of people who look for one.
pub(crate) const JOB: &str = "work.job";
pub(crate) const CANDIDATE: &str = "work.candidate";

#[derive(Debug, Deserialize)]
struct RoleRecord {
    target_id: String,
    title: String,
    #[serde(default)]
    apply_url: Option<String>,
}

#[derive(Debug, Deserialize)]
struct TargetRecord {
    properties: Properties,
}

#[derive(Debug, Deserialize)]
struct Properties {
    name: String,
}

#[derive(Debug, Deserialize)]
struct PersonRecord {
    target_id: String,
}

#[derive(Debug, Deserialize)]
struct SignalRecord {
    #[serde(default)]
    funding: Option<Funding>,
}

#[derive(Debug, Default, Deserialize)]
struct Funding {
    #[serde(default)]
    investors: Vec<Investor>,
}

#[derive(Debug, Deserialize)]
struct Investor {
    #[serde(default)]
    target_id: Option<String>,
    #[serde(default)]
    lead: bool,
}

const ROLES: Feed<RoleRecord> = Feed::new("roles");
const TARGETS: Feed<TargetRecord> = Feed::new("targets");
const PEOPLE: Feed<PersonRecord> = Feed::new("people");
const SIGNALS: Feed<SignalRecord> = Feed::new("signals");

/// The subject of an application.
pub(crate) struct Subject {
    pub(crate) about: About,
    /// The owner of the listing, if it belongs to no organisation.
    pub(crate) to_owner_id: Option<String>,
    pub(crate) title: String,
    pub(crate) category: String,
    pub(crate) apply_url: Option<String>,
    /// The listing, if it is about one.
    listing: Option<Listing>,
}

impl Subject {
    fn new(about: About, title: String, category: &str) -> Self {
        let category = category.to_owned();
        Self { about, to_owner_id: None, title, category, apply_url: None, listing: None }
    }

    /// Returns the id of the role or listing.
    pub(crate) fn role_id(&self) -> &str {
        let id = self.about.role_id.as_deref().or(self.about.listing_id.as_deref());
        id.unwrap_or_default()
    }
}

/// Returns the role of the map or the job listing that the input names.
pub(crate) fn role(input: &RoleInput) -> Result<Subject> {
    match (&input.role_id, &input.listing_id) {
        (Some(role_id), None) => of_map(role_id),
        (None, Some(listing_id)) => of_listing(listing_id),
        _ => Err(Refusal::validation("/role_id", "one_of", "either a role or a listing").into()),
    }
}

fn of_map(role_id: &str) -> Result<Subject> {
    let role = ROLES.get(role_id)?.ok_or(ApplicationError::RoleNotFound)?.value;
    let about = About {
        role_id: Some(role_id.to_owned()),
        target_id: Some(role.target_id),
        ..About::default()
    };
    Ok(Subject { apply_url: role.apply_url, ..Subject::new(about, role.title, JOB) })
}

fn of_listing(listing_id: &str) -> Result<Subject> {
    let listing = listings::profile(listing_id)?.ok_or(ApplicationError::ListingNotFound)?;
    let about = About {
        listing_id: Some(listing_id.to_owned()),
        org_id: listing.org_id.clone(),
        ..About::default()
    };
    let owner_id = Some(listing.owner_id.clone()).filter(|_| listing.org_id.is_none());
    let subject = Subject::new(about, listing.title.clone(), &listing.category);
    Ok(Subject { to_owner_id: owner_id, listing: Some(listing), ..subject })
}

/// Refuses unless the person can see the role, and, for a listing, can apply to it.
pub(crate) fn ensure_open(me: &str, subject: &Subject) -> Result<()> {
    let Some(listing) = &subject.listing else { return Ok(()) };
    if listing.owner_id == me {
        return Err(ApplicationError::SelfApplication);
    }
    if !is_visible(me, listing)? || is_hidden(me, listing)? {
        return Err(ApplicationError::ListingNotFound);
    }
    if listing.side != Side::Offer || !is_within(&listing.category, JOB) {
        return Err(ApplicationError::ListingNotActive { listing_id: listing.listing_id.clone() });
    }
    Ok(())
}

/// Refuses if the person has contact with the listing's owner by a pairing.
pub(crate) fn ensure_no_pairing(me: &str, subject: &Subject) -> Result<()> {
    let Some(listing_id) = &subject.about.listing_id else { return Ok(()) };
    match pairings::contact(me, listing_id)? {
        Some(pairing_id) => Err(ApplicationError::PairingExists { pairing_id }),
        None => Ok(()),
    }
}

/// Returns whether a block hides a listing: one with its owner or, of an organisation, with all who could
/// answer.
fn is_hidden(me: &str, listing: &Listing) -> Result<bool> {
    if !relations::are_blocked(me, &listing.owner_id)? {
        return Ok(false);
    }
    let of = (listing.owner_id.as_str(), listing.org_id.as_deref());
    Ok(!organisations::is_answered_by_others(me, of)?)
}

fn is_visible(me: &str, listing: &Listing) -> Result<bool> {
    if !listing.is_active() || listing.is_withheld() {
        return Ok(false);
    }
    if listing.visibility != Visibility::Network {
        return Ok(true);
    }
    Ok(relations::has_relation(format!("listing:{}", listing.listing_id), "can_view", me)?)
}

/// Returns the company to which an enquiry goes.
pub(crate) fn of_enquiry(input: &Enquire) -> Result<Subject> {
    let (about, target_id) = match (&input.target_id, &input.person_id, &input.signal_id) {
        (Some(target_id), None, None) => (About::default(), target_id.to_string()),
        (None, Some(person_id), None) => {
            let person = PEOPLE.get(person_id)?.ok_or(ApplicationError::PersonNotFound)?.value;
            let person_id = Some(person_id.to_string());
            (About { person_id, ..About::default() }, person.target_id)
        }
        (None, None, Some(signal_id)) => {
            let signal = SIGNALS.get(signal_id)?.ok_or(ApplicationError::SignalNotFound)?.value;
            let target_id = investor(signal).ok_or(ApplicationError::InvestorUnknown)?;
            let signal_id = Some(signal_id.to_string());
            (About { signal_id, ..About::default() }, target_id)
        }
        _ => {
            let expected = "exactly one of target_id, person_id and signal_id";
            return Err(Refusal::validation("/target_id", "one_of", expected).into());
        }
    };
    let target = TARGETS.get(&target_id)?.ok_or(ApplicationError::TargetNotFound)?.value;
    let about = About { target_id: Some(target_id), ..about };
    Ok(Subject::new(about, target.properties.name, category(input.purpose)))
}

/// Returns the investor who is on the map; one who leads the round comes first.
fn investor(signal: SignalRecord) -> Option<String> {
    let investors = signal.funding.unwrap_or_default().investors;
    let (leading, others): (Vec<_>, Vec<_>) = investors.into_iter().partition(|found| found.lead);
    leading.into_iter().chain(others).find_map(|investor| investor.target_id)
}

fn category(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Contact => "lead.general",
        Purpose::Service => "pro.service",
        Purpose::Pitch => "venture.raise.seed",
        Purpose::Meeting => "venture.cofounder",
    }
}

/// Returns the person's own active listing, below a category, whose public part the recipients see.
pub(crate) fn own_listing(me: &str, listing_id: &str, below: Option<&str>) -> Result<Listing> {
    let is_own = |listing: &Listing| listing.owner_id == me;
    let listing = listings::profile(listing_id)?.filter(is_own);
    let listing = listing.ok_or(ApplicationError::ListingNotFound)?;
    let fits = below.is_none_or(|below| is_within(&listing.category, below));
    let may_be_shown = !is_never_public(&listing.category) && listing.min_age == 0;
    match listing.is_active() && fits && may_be_shown {
        true => Ok(listing),
        false => Err(ApplicationError::ListingNotActive { listing_id: listing_id.to_owned() }),
    }
}
