//! Connections of two listings without a proposal: calls of `pairings`.

use portolan_sdk::prelude::*;

/// The origin of a pairing.
#[choice]
pub enum Origin {
    /// One side proposed it to the other.
    Proposal,
    /// Each side was interested in the other.
    MutualInterest,
    /// A round matched the two people, and both confirmed.
    Round,
}

/// The input of `pairings open_mutual`. The order of the listings does not matter.
#[message]
pub struct Mutual {
    #[schemars(length(min = 1, max = 40))]
    pub from_listing_id: String,
    #[schemars(length(min = 1, max = 40))]
    pub to_listing_id: String,
    /// The origin: `mutual_interest` or `round`.
    pub origin: Origin,
}

/// The output of `pairings open_mutual`.
#[message]
pub struct Opened {
    pub pairing_id: String,
    pub thread_id: String,
}

/// The input of `pairings cooling`.
#[message]
pub struct CooldownQuery {
    #[schemars(length(min = 1, max = 40))]
    pub listing_id: String,
    #[schemars(length(max = 100), inner(length(min = 1, max = 40)))]
    pub other_listing_ids: Vec<String>,
}

/// The output of `pairings cooling`.
#[message]
pub struct Cooldowns {
    pub listing_ids: Vec<String>,
}

/// The input of `pairings contact`.
#[message]
pub struct ContactQuery {
    #[schemars(length(min = 1, max = 40))]
    pub owner_id: String,
    #[schemars(length(min = 1, max = 40))]
    pub listing_id: String,
}

/// The output of `pairings contact`.
#[message]
pub struct Contact {
    /// An open pairing of the person with the listing, or a proposal of theirs that was declined
    /// within the cooldown; null if there is none.
    pub pairing_id: Option<String>,
}

pub const OPEN_MUTUAL: Invocation<Mutual, Opened> = Invocation::new("pairings", "open_mutual");
pub const COOLING: Invocation<CooldownQuery, Cooldowns> = Invocation::new("pairings", "cooling");
pub const CONTACT: Invocation<ContactQuery, Contact> = Invocation::new("pairings", "contact");

/// Connects two listings whose people have both agreed. An open proposal between them becomes the
/// connection; if they are already connected, that pairing is returned.
pub fn open_mutual(mutual: &Mutual) -> Result<Opened, Refusal> {
    OPEN_MUTUAL.call(mutual)
}

/// Returns the ids of those of at most 100 other listings with which `listing_id` has an open
/// pairing or a recent decline.
pub fn cooling<'a>(
    listing_id: &str,
    others: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<String>, Refusal> {
    let other_listing_ids: Vec<_> = others.into_iter().map(str::to_owned).collect();
    if other_listing_ids.is_empty() {
        return Ok(Vec::new());
    }
    let query = CooldownQuery { listing_id: listing_id.to_owned(), other_listing_ids };
    Ok(COOLING.call(&query)?.listing_ids)
}

/// Returns the pairing that keeps a person from another contact with a listing.
pub fn contact(owner_id: &str, listing_id: &str) -> Result<Option<String>, Refusal> {
    let (owner_id, listing_id) = (owner_id.to_owned(), listing_id.to_owned());
    Ok(CONTACT.call(&ContactQuery { owner_id, listing_id })?.pairing_id)
}
