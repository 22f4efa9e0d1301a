//! Work on all pairings that an event concerns: a page of them in each call.

use crate::{
    access, changes, counterparts, documents::*, limits::*, notices::BOTH, refusals::*, states::*,
};
use people_kit::{listings, people::Person};
use portolan_sdk::prelude::*;

/// The change of which the other sides are notified.
#[choice]
pub(crate) enum Work {
    /// The agents or the state of a person have changed.
    PersonChanged,
    /// A listing has changed.
    ListingChanged,
    /// A listing has ended.
    ListingEnded,
}

/// The work for a person or a listing, and the page to continue with.
#[input]
pub(crate) struct Round {
    pub(crate) work: Work,
    /// The id of the person or the listing.
    pub(crate) id: String,
    pub(crate) cursor: Option<String>,
}

impl Round {
    pub(crate) fn new(work: Work, id: &str) -> Self {
        Self { work, id: id.to_owned(), cursor: None }
    }
}

/// Works on one page; a timer continues with the others.
pub(crate) fn run(call: &Call, round: Round) -> Result<()> {
    let Round { work, id, cursor } = round;
    let query = Query::new().filter(concerned(work, &id)).limit(AT_ONCE).cursor(cursor);
    let page = PAIRINGS.find(query)?;
    if page.next.is_some() {
        let timer =
            format!("round/{}/{id}", portolan_sdk::to_value(&work).as_str().unwrap_or_default());
        let next = Round { work, id: id.clone(), cursor: page.next.clone() };
        timers::set(&timer, call.now(), "go_on", &next)?;
    }
    let mut pairings: Vec<_> = page.into_documents().collect();
    if pairings.is_empty() {
        return Ok(());
    }
    match work {
        Work::PersonChanged => {
            for pairing in &mut pairings {
                let is_theirs = |role: &&Role| pairing.value.side(**role).owner_id == id;
                if let Some(role) = BOTH.iter().find(is_theirs) {
                    let people = access::existing(&pairing.value, *role)?;
                    if pairing.value.side(*role).org_id.is_some() {
                        counterparts::pass_on(call, pairing, *role, &people)?;
                    }
                    let is_reachable = people.iter().any(Person::is_reachable);
                    counterparts::update(call, pairing, *role, is_reachable)?;
                }
            }
        }
        Work::ListingChanged => {
            let listing = listings::profile(&id)?.filter(listings::Profile::is_active);
            let Some(listing) = listing else { return Ok(()) };
            let now = changes::material(&listing);
            for pairing in &mut pairings {
                changes::update(call, pairing, &now)?;
            }
        }
        Work::ListingEnded => {
            let state = listings::profile(&id)?.map(|listing| listing.state).unwrap_or_default();
            for pairing in &mut pairings {
                counterparts::listing_ended(call, pairing, &id, &state)?;
            }
        }
    }
    Ok(())
}

fn concerned(work: Work, id: &str) -> Filter {
    let either = |paths: [&str; 2]| any_of(paths.map(|path| field(path).eq(id)));
    match work {
        Work::PersonChanged => {
            either(["from.owner_id", "to.owner_id"]).and(field("state").eq(State::Connected))
        }
        Work::ListingChanged => field("to.listing_id").eq(id).and(field("state").one_of(WAITING)),
        Work::ListingEnded => {
            either(["from.listing_id", "to.listing_id"]).and(field("state").eq(State::Connected))
        }
    }
}
