//! The recipients of an application: the people who act for the company or organisation, or the owner
//! of the listing.

use crate::{documents::*, refusals::*};
use people_kit::people::Person;
use people_kit::{organisations, people, relations};

/// The people to whom an application can be delivered.
pub(crate) struct Recipients {
    /// The people who act for the company, organisation or listing; empty if the target is not claimed.
    acting: Vec<String>,
    /// The part of `acting` without a block between them and the applicant.
    visible: Vec<String>,
    /// The part of `acting` who exist.
    existing: Vec<String>,
    /// The part of `visible` who are active.
    pub(crate) reachable: Vec<String>,
}

impl Recipients {
    pub(crate) fn of(application: &Application) -> Result<Self> {
        let acting = acting(&application.about, application.to_owner_id.as_deref())?;
        let owner_ids = || acting.iter().map(String::as_str);
        let hidden = relations::hidden(Some(application.owner_id.as_str()), owner_ids())?;
        let people = people::people(owner_ids())?;
        let is_visible = |owner_id: &&String| !hidden.contains(*owner_id);
        let visible: Vec<String> = acting.iter().filter(is_visible).cloned().collect();
        let existing = acting.iter().filter(|owner_id| people.contains_key(*owner_id));
        let existing = existing.cloned().collect();
        let is_active =
            |owner_id: &&String| people.get(*owner_id).is_some_and(|found| found.active);
        let reachable = visible.iter().filter(is_active).cloned().collect();
        Ok(Self { acting, visible, existing, reachable })
    }

    /// Returns whether nobody acts for the recipient.
    pub(crate) fn are_unclaimed(&self) -> bool {
        self.acting.is_empty()
    }

    /// Returns whether some act for the recipient, and the applicant can reach none of them.
    pub(crate) fn are_unreachable(&self) -> bool {
        !self.acting.is_empty() && self.reachable.is_empty()
    }

    /// Returns whether some acted for the recipient, and none of them exists any more.
    pub(crate) fn are_gone(&self) -> bool {
        !self.acting.is_empty() && self.existing.is_empty()
    }

    /// Returns whether a person exists, who may act for the recipient no more.
    pub(crate) fn is_known(&self, owner_id: Option<&str>) -> Result<bool> {
        match owner_id {
            Some(owner_id) if self.existing.iter().any(|known| known == owner_id) => Ok(true),
            Some(owner_id) => Ok(people::person(owner_id)?.is_some()),
            None => Ok(false),
        }
    }

    /// Returns whether this person acts for the recipient.
    pub(crate) fn include(&self, owner_id: &str) -> bool {
        self.existing.iter().any(|acting| acting == owner_id)
    }

    /// Returns whether this person acts for the recipient and may see the application.
    pub(crate) fn show(&self, owner_id: &str) -> bool {
        self.visible.iter().any(|visible| visible == owner_id)
    }
}

/// Returns the people who act for the recipient, at most 50.
pub(crate) fn acting(about: &About, to_owner_id: Option<&str>) -> Result<Vec<String>> {
    let mut acting = match (to_owner_id, &about.org_id, &about.target_id) {
        (Some(owner_id), _, _) => vec![owner_id.to_owned()],
        (None, Some(org_id), _) => organisations::acting_members(org_id)?,
        (None, None, Some(target_id)) => organisations::acting_for_target(target_id)?,
        (None, None, None) => Vec::new(),
    };
    acting.truncate(organisations::MOST_ACTING);
    Ok(acting)
}

/// Refuses if the owner of a listing does not accept applications of this person, as for a proposal.
pub(crate) fn ensure_accepting(application: &Application) -> Result<()> {
    let Some(owner_id) = &application.to_owner_id else { return Ok(()) };
    let applicant = application.owner_id.as_str();
    let can_message =
        relations::has_relation(format!("owner:{owner_id}"), "can_message", applicant)?;
    let declines = |person: Person| !person.active || person.declines(&application.category);
    match can_message && !people::person(owner_id)?.is_none_or(declines) {
        true => Ok(()),
        false => Err(ApplicationError::RecipientNotAccepting),
    }
}
