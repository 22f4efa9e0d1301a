//! The messages to numbers with one prefix, and how many of their codes were verified, against people who
//! earn with messages to rented numbers: many messages of which few are verified stop further ones.
//!
//! Only numbers that nobody has proved yet are counted and refused.

use crate::{
    phone::Phone,
    types::{BLOCKS, Block, Result, Slot},
};
use portolan_sdk::prelude::*;

/// The window, in slots.
const SLOT: u64 = 5 * MINUTE;
const WINDOW: u64 = HOUR;
/// Fewer verified messages than this, of a hundred, are suspicious.
const LEAST_PERCENT: u64 = 20;

/// A length of prefix.
struct Rule {
    /// Fewer messages than this within an hour are not suspicious.
    from: u64,
    /// The most messages within an hour, whether they are verified or not.
    most: u64,
}

/// The country code and four digits: ten thousand to a million numbers.
const BLOCK: Rule = Rule { from: 20, most: 100 };
/// The country code.
const COUNTRY: Rule = Rule { from: 200, most: u64::MAX };

/// The prefixes of a number, with their traffic.
pub(crate) struct Prefixes([(Rule, Stored<Block>); 2]);

impl Prefixes {
    pub(crate) fn of(phone: &Phone) -> Result<Self> {
        let block = BLOCKS.get_or_default(&phone.prefix)?;
        let country = BLOCKS.get_or_default(&phone.country_code)?;
        Ok(Self([(BLOCK, block), (COUNTRY, country)]))
    }

    /// Returns the time until another message to such a number may be sent; `None` if one may be now.
    pub(crate) fn wait(&self, now: u64) -> Option<u64> {
        self.0.iter().filter_map(|(rule, block)| block.value.wait(rule, now)).max()
    }

    pub(crate) fn count_sent(self, now: u64) -> Result<()> {
        self.count(now, |slot| slot.sent += 1)
    }

    pub(crate) fn count_verified(self, now: u64) -> Result<()> {
        self.count(now, |slot| slot.verified += 1)
    }

    fn count(self, now: u64, count: impl Fn(&mut Slot)) -> Result<()> {
        for (_, mut block) in self.0 {
            block.value.count(now, &count);
            BLOCKS.save(&mut block)?;
        }
        Ok(())
    }
}

impl Block {
    fn wait(&self, rule: &Rule, now: u64) -> Option<u64> {
        let recent = || self.slots.iter().filter(|slot| slot.from + WINDOW > now);
        let sent: u64 = recent().map(|slot| slot.sent).sum();
        let verified: u64 = recent().map(|slot| slot.verified).sum();
        let is_suspicious = sent >= rule.from && verified * 100 < sent * LEAST_PERCENT;
        let oldest = recent().map(|slot| slot.from + WINDOW - now).min();
        oldest.filter(|_| is_suspicious || sent >= rule.most)
    }

    /// Counts in the slot of this time, and forgets slots that are too old to count.
    fn count(&mut self, now: u64, count: impl Fn(&mut Slot)) {
        let from = now - now % SLOT;
        self.slots.retain(|slot| slot.from + WINDOW > now);
        match self.slots.iter_mut().find(|slot| slot.from == from) {
            Some(slot) => count(slot),
            None => {
                let mut slot = Slot { from, ..Slot::default() };
                count(&mut slot);
                self.slots.push(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_messages_of_which_few_are_verified_stop_for_a_while() {
        let mut block = Block::default();
        for _ in 0..19 {
            block.count(DAY, |slot| slot.sent += 1);
        }
        let now = DAY + MINUTE;
        assert_eq!(block.wait(&BLOCK, now), None);
        block.count(now, |slot| slot.sent += 1);
        assert_eq!(block.wait(&BLOCK, now), Some(59 * MINUTE));
        assert_eq!(block.wait(&COUNTRY, now), None);
        // One in five is enough.
        block.count(now, |slot| slot.verified += 4);
        assert_eq!(block.wait(&BLOCK, now), None);
        block.count(now, |slot| slot.verified -= 1);
        assert!(block.wait(&BLOCK, now).is_some());
        assert_eq!(block.wait(&BLOCK, DAY + HOUR), None);
    }

    #[test]
    fn traffic_is_bounded_however_long_it_lasts() {
        let mut block = Block::default();
        for at in (DAY..2 * DAY).step_by(60_000) {
            block.count(at, |slot| (slot.sent, slot.verified) = (slot.sent + 2, slot.verified + 2));
        }
        assert!(block.slots.len() <= 13, "{}", block.slots.len());
        // A hundred an hour are the most, even if all are verified.
        assert!(block.wait(&BLOCK, 2 * DAY).is_some());
    }
}
