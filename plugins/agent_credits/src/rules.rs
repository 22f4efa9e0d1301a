//! How much, how often, and for what: every number of the ledger.

use crate::types::PriceItem;
use portolan_sdk::prelude::*;

/// What a person gets once, with their first agent.
pub(crate) const WELCOME: u64 = 20;
/// What a person is lifted to, a day after they fell below it.
pub(crate) const TOP_UP_TO: u64 = 10;
/// No top-up lifts a person above this, held credits counted: what comes back from proposals that
/// nobody answered must not pile up.
pub(crate) const TOP_UP_CEILING: u64 = 30;
/// Between falling below and the top-up. So there is at most one in any day, and no hour at which
/// everybody's is due.
pub(crate) const TOP_UP_AFTER: u64 = DAY;
/// Below this, a person is told.
pub(crate) const LOW: u64 = 3;

/// The most that one transaction moves.
pub(crate) const MOST: u64 = 1_000;
/// The longest time after which a hold is released by itself.
pub(crate) const LONGEST_HOLD_S: u32 = 90 * 86_400;

/// Wrong codes of one person.
pub(crate) const WRONG_CODES: Window = Window { most: 5, within: HOUR };

const REFUNDED: &str = "Held when it is sent. Refunded when it is accepted, expires unanswered or is \
    withdrawn unseen; spent when it is declined, or withdrawn after it was seen.";

/// Everything that is not free, the general price of an action before those of categories.
pub(crate) const PRICES: [PriceItem; 2] = [
    PriceItem {
        capability: "pairings",
        action: "propose",
        category: None,
        cost: 1,
        why: "A proposal takes somebody's attention.",
        refund: REFUNDED,
    },
    PriceItem {
        capability: "pairings",
        action: "propose",
        category: Some("social.date"),
        cost: 2,
        why: "A proposal in this category takes more of somebody's attention.",
        refund: REFUNDED,
    },
];

/// What a top-up would give now.
pub(crate) fn top_up(available: u64, held: u64) -> u64 {
    let lacking = TOP_UP_TO.saturating_sub(available);
    lacking.min(TOP_UP_CEILING.saturating_sub(available + held))
}

/// Whether the person knows that little is left, and whether that is news.
pub(crate) fn low(told: bool, available: u64) -> (bool, bool) {
    match (told, available) {
        (false, ..LOW) => (true, true),
        (true, ..=LOW) => (true, false),
        _ => (false, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_top_up_fills_what_lacks_below_the_ceiling() {
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
    fn who_is_told_is_told_again_only_after_having_had_more() {
        let mut told = false;
        let mut news = Vec::new();
        for available in [20, 3, 2, 0, 3, 2, 4, 3, 2] {
            let (known, is_news) = low(told, available);
            told = known;
            if is_news {
                news.push(available);
            }
        }
        assert_eq!(news, [2, 2]);
    }

    #[test]
    fn each_price_stands_once() {
        for (number, price) in PRICES.iter().enumerate() {
            let same = |other: &&PriceItem| {
                (other.capability, other.action, other.category)
                    == (price.capability, price.action, price.category)
            };
            assert_eq!(PRICES.iter().filter(same).count(), 1);
            let mut before = PRICES.iter().take(number);
            let general =
                |other: &PriceItem| other.category.is_none() && other.action == price.action;
            assert!(price.category.is_none() || before.any(general));
        }
    }
}
