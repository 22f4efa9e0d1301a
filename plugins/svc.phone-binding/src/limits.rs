//! The limits of sending and checking codes: by agent, by number, by block of numbers.

use crate::types::{Agent, BindError, Block, Number, Purpose, Result};
use portolan_sdk::{prelude::*, time::seconds};

/// The shortest time between two codes for one agent.
pub(crate) const RESEND_INTERVAL: u64 = 30 * SECOND;
/// The time after which a code expires (OWASP ASVS 6.5.5).
pub(crate) const LIFETIME: u64 = 10 * MINUTE;
/// The number of wrong codes that locks an attempt.
pub(crate) const CHECKS: u32 = 5;
/// The retention of an attempt after its last code.
pub(crate) const FORGET_AFTER: u64 = DAY;
/// The time in which the holder of the old number can object to a new one.
pub(crate) const HOLD: u64 = DAY;

/// The time after which another message may be sent for an address that has reached its limit.
pub(crate) const ADDRESS_PAUSE: u64 = 2 * MINUTE;

const AGENT_SENDS: Window = Window { most: 5, within: 10 * MINUTE };
const AGENT_NUMBERS: Window = Window { most: 5, within: DAY };
const NUMBER_SENDS: Window = Window { most: 10, within: DAY };
/// The limit of a block of numbers, against people who earn with messages to rented numbers.
const BLOCK_SENDS: Window = Window { most: 100, within: HOUR };
/// The limit of wrong codes of a number (NIST SP 800-63B, 3.2.2).
const NUMBER_FAILURES: Window = Window { most: 100, within: 30 * DAY };

/// Counts a code that is about to be sent, or refuses it.
pub(crate) fn count_send(
    agent: &mut Agent,
    number: &mut Number,
    block: &mut Block,
    (number_id, purpose): (&str, Purpose),
    now: u64,
) -> Result<()> {
    if let Some(last) = agent.sends.last().filter(|last| *last + RESEND_INTERVAL > now) {
        return Err(BindError::ResendTooSoon { wait_s: seconds(last + RESEND_INTERVAL - now) });
    }
    let waits = [
        AGENT_SENDS.wait(&mut agent.sends, now),
        NUMBER_SENDS.wait(&mut number.sends, now),
        BLOCK_SENDS.wait(&mut block.sends, now),
    ];
    if let Some(wait) = waits.into_iter().flatten().max() {
        return Err(BindError::SmsRateLimited { wait_s: seconds(wait) });
    }
    agent.numbers.retain(|(_, at)| at + AGENT_NUMBERS.within > now);
    if !agent.numbers.iter().any(|(id, _)| id == number_id) {
        let mut times: Vec<u64> = agent.numbers.iter().map(|(_, at)| *at).collect();
        if let Some(wait) = AGENT_NUMBERS.wait(&mut times, now) {
            return Err(BindError::SmsRateLimited { wait_s: seconds(wait) });
        }
        agent.numbers.push((number_id.to_owned(), now));
    }
    check_failures(number, purpose, now)?;
    for sends in [&mut agent.sends, &mut number.sends, &mut block.sends] {
        sends.push(now);
    }
    Ok(())
}

/// Refuses to check codes of a number that had too many wrong ones.
pub(crate) fn check_failures(number: &mut Number, purpose: Purpose, now: u64) -> Result<()> {
    match NUMBER_FAILURES.wait(&mut number.failures, now) {
        Some(wait) => Err(BindError::TooManyAttempts { purpose, wait_s: seconds(wait) }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_spaced_and_counted() {
        let (mut agent, mut number, mut block) = Default::default();
        let target = ("n", Purpose::Claim);
        let mut send = |now| count_send(&mut agent, &mut number, &mut block, target, now);
        for code in 0..5 {
            assert!(send(DAY + code * RESEND_INTERVAL).is_ok());
        }
        let soon = send(DAY + 4 * RESEND_INTERVAL + SECOND);
        assert!(matches!(soon, Err(BindError::ResendTooSoon { wait_s: 29 })));
        let sixth = send(DAY + 5 * RESEND_INTERVAL);
        assert!(matches!(sixth, Err(BindError::SmsRateLimited { wait_s: 450 })));
        assert!(send(DAY + 10 * MINUTE).is_ok());
    }
}
