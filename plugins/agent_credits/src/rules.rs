//! Every number of the ledger: amounts, limits, prices.

use crate::types::PriceItem;
use portolan_sdk::prelude::*;

/// The credits that a person gets once, with their first agent.
pub(crate) const WELCOME: u64 = 20;
/// The balance that a top-up reaches. A top-up is due one day after the balance fell below this.
pub(crate) const TOP_UP_TO: u64 = 10;
/// The maximum balance of a person after a top-up, held credits included. It keeps refunds of
/// unanswered proposals from adding up.
pub(crate) const TOP_UP_CEILING: u64 = 30;
/// The time between the fall of the balance and the top-up. Because of it, a person gets at most
/// one top-up a day, and not everybody's is due at the same hour.
pub(crate) const TOP_UP_AFTER: u64 = DAY;
/// A person is notified when the balance falls below this.
pub(crate) const LOW: u64 = 3;

/// The maximum number of credits that one transaction moves.
pub(crate) const MOST: u64 = 1_000;
/// The longest time after which a hold expires.
pub(crate) const LONGEST_HOLD_S: u32 = 90 * 86_400;

/// The rate of codes that one person may try without being able to redeem them.
pub(crate) const WRONG_CODES: Window = Window { most: 5, within: HOUR };

const REFUNDED: &str = "Held when it is sent. Refunded when it is accepted, expires unanswered or is \
    withdrawn unseen; spent when it is declined, or withdrawn after it was seen.";

const PROPOSAL: PriceItem = PriceItem {
    capability: "pairings",
    action: "propose",
    category: None,
    cost: 1,
    why: "A proposal takes somebody's attention.",
    refund: REFUNDED,
};

const APPLICATION: PriceItem = PriceItem {
    capability: "applications",
    action: "apply",
    why: "An application takes somebody's attention.",
    refund: "Held when it is sent. Refunded when it is shortlisted, invited, offered or withdrawn, \
        or expires; spent when it is rejected.",
    ..PROPOSAL
};

const INTRO: PriceItem = PriceItem {
    capability: "intros",
    action: "request",
    why: "A request for an introduction takes the attention of two people.",
    refund: "Held when it is sent. Refunded if it leads to an introduction; otherwise spent when its \
        time is over, or it is withdrawn.",
    ..PROPOSAL
};

/// Every price. The general price of an action comes before those of categories.
pub(crate) const PRICES: [PriceItem; 5] = [
    PROPOSAL,
    PriceItem {
        category: Some("social.date"),
        cost: 2,
        why: "A proposal in this category takes more of somebody's attention.",
        ..PROPOSAL
    },
    APPLICATION,
    PriceItem { action: "enquire", why: "An enquiry takes somebody's attention.", ..APPLICATION },
    INTRO,
];

/// Returns the credits that a top-up would give now.
pub(crate) fn top_up(available: u64, held: u64) -> u64 {
    let lacking = TOP_UP_TO.saturating_sub(available);
    lacking.min(TOP_UP_CEILING.saturating_sub(available + held))
}

/// Returns whether the person counts as notified of a low balance, and whether to notify them now.
/// The next notification requires that the balance has risen above `LOW`.
pub(crate) fn low_balance(was_reported: bool, available: u64) -> (bool, bool) {
    match (was_reported, available) {
        (false, ..LOW) => (true, true),
        (true, ..=LOW) => (true, false),
        _ => (false, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_top_up_respects_the_ceiling() {
        let cases = [
            ((20, 0), 0),
            ((10, 10), 0),
            ((9, 11), 1),
            ((0, 0), 10),
            ((0, 20), 10),
            ((5, 22), 3),
            ((0, 30), 0),
            ((9, 200), 0),
        ];
        for ((available, held), expected) in cases {
            assert_eq!(top_up(available, held), expected, "{available} {held}");
        }
    }

    #[test]
    fn a_low_balance_is_reported_once_until_it_has_risen() {
        let mut was_reported = false;
        let mut news = Vec::new();
        for available in [20, 3, 2, 0, 3, 2, 4, 3, 2] {
            let (known, is_newly_low) = low_balance(was_reported, available);
            was_reported = known;
            if is_newly_low {
                news.push(available);
            }
        }
        assert_eq!(news, [2, 2]);
    }

    #[test]
    fn each_price_is_listed_once() {
        for (number, price) in PRICES.iter().enumerate() {
            let same = |other: &&PriceItem| {
                (other.capability, other.action, other.category)
                    == (price.capability, price.action, price.category)
            };
            assert_eq!(PRICES.iter().filter(same).count(), 1);
            let mut before = PRICES.iter().take(number);
            let is_general = |of: &PriceItem| of.category.is_none() && of.action == price.action;
            assert!(price.category.is_none() || before.any(is_general));
        }
    }
}
