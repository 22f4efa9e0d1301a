//! The actions that are listed for the people who may change a listing: those that its state allows
//! and the call would not refuse.

use crate::{acting, age, documents::*, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// The facts that decide the actions on the listings of one owner and one organisation.
struct Standing {
    /// The person who answers for them; `None` if nobody does.
    responsible: Option<acting::Responsible>,
    /// Whether that person can publish another listing.
    has_room: bool,
}

/// The owner and the organisation of a listing.
type Owners = (String, Option<String>);

/// The actions on several listings; facts about several of them are read once.
#[derive(Default)]
pub(crate) struct Actions {
    known: RefCell<BTreeMap<Owners, Rc<Standing>>>,
}

/// Returns the actions on a listing that the caller, who may change it, may take now.
pub(crate) fn on(call: &Call, listing: &Listing) -> Result<Vec<&'static str>> {
    Actions::default().on(call, listing)
}

impl Actions {
    /// Returns the actions on a listing that the caller, who may change it, may take now.
    pub(crate) fn on(&self, call: &Call, listing: &Listing) -> Result<Vec<&'static str>> {
        let standing = self.standing(call, listing)?;
        let responsible = standing.responsible.as_ref();
        let person = responsible.and_then(|responsible| responsible.person.as_ref());
        let is_hidden = person.is_some_and(|person| !person.active);
        let is_published = State::PUBLISHED.contains(&listing.state);
        let has_room = is_published || standing.has_room;
        let may_publish = responsible.is_some()
            && !is_hidden
            && has_room
            && age::ensure_acceptable(call, listing, person, "").is_ok();
        let may_update = responsible.is_some() && age::is_old_enough(listing, person);
        let mut actions = LISTING.allowed(listing.state);
        actions.retain(|action| match *action {
            "publish" | "resume" => may_publish,
            "renew" => may_publish && is_in_time(call, listing, days_to_renew(listing.state)),
            "update" => may_update,
            _ => true,
        });
        Ok(actions)
    }

    fn standing(&self, call: &Call, listing: &Listing) -> Result<Rc<Standing>> {
        let key = (listing.owner_id.clone(), listing.org_id.clone());
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let standing = Rc::new(Standing::load(call, listing)?);
        self.known.borrow_mut().insert(key, Rc::clone(&standing));
        Ok(standing)
    }
}

impl Standing {
    fn load(call: &Call, listing: &Listing) -> Result<Self> {
        let responsible = acting::responsible(call, listing)?;
        let has_room = match &responsible {
            Some(person) => {
                let book = OWNER_LISTINGS.get(&person.owner_id)?;
                book.is_none_or(|book| book.value.published.len() < MOST_PUBLISHED)
            }
            None => false,
        };
        Ok(Self { responsible, has_room })
    }
}

/// Returns the days after its end in which a listing in this state can be renewed.
pub(crate) fn days_to_renew(state: State) -> u64 {
    if state == State::Filled { RENEW_FILLED_DAYS } else { RENEW_EXPIRED_DAYS }
}

/// Returns whether at most this number of days have passed since the listing ended.
pub(crate) fn is_in_time(call: &Call, listing: &Listing, days: u64) -> bool {
    let ended = listing.ended_at.unwrap_or(u64::MAX);
    call.now() <= ended.saturating_add(days * DAY)
}
