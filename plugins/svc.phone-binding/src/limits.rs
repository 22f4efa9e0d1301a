//! The limits of sending and checking codes: by agent and by number. `traffic` has those by prefix.

use crate::types::{Agent, BindError, Number, Result};
use portolan_sdk::{prelude::*, time::seconds};

/// The shortest time between two codes for one agent.
pub(crate) const RESEND_INTERVAL: u64 = 30 * SECOND;
/// The time after which a code expires (OWASP ASVS 6.5.5), and a link unless it is renewed.
pub(crate) const LIFETIME: u64 = 10 * MINUTE;
/// The number of wrong codes that locks an attempt.
pub(crate) const CHECKS: u32 = 5;
/// The retention of an attempt after its last code, and the longest life of a link.
pub(crate) const FORGET_AFTER: u64 = DAY;
/// The time in which the holder of the old number can object to a new one.
pub(crate) const HOLD: u64 = DAY;

const AGENT_SENDS: Window = Window { most: 5, within: 10 * MINUTE };
const AGENT_NUMBERS: Window = Window { most: 5, within: DAY };
/// The messages of a number: at most 13 in any 24 hours.
pub(crate) const NUMBER_SENDS: Pace = Pace { burst: 5, every: 3 * HOUR };
/// The wrong codes of a number: at most 22 in any 24 hours, so that all guesses of a day together hit with a
/// probability below 1 in 45,000.
const NUMBER_GUESSES: Pace = Pace { burst: 10, every: 2 * HOUR };
/// The wrong codes of a number over a longer time (NIST SP 800-63B, 3.2.2). Its links still work.
const NUMBER_FAILURES: Window = Window { most: 100, within: 30 * DAY };

/// A limit that refills evenly, one every so many milliseconds, up to a burst. Its state is the time at
/// which the whole burst is available again.
pub(crate) struct Pace {
    burst: u64,
    every: u64,
}

impl Pace {
    /// Returns how long the caller must wait for the next permitted attempt; `None` if one is permitted now.
    pub(crate) fn wait(&self, full_at: u64, now: u64) -> Option<u64> {
        let open_at = full_at.saturating_sub((self.burst - 1) * self.every);
        open_at.checked_sub(now).filter(|wait| *wait > 0)
    }

    pub(crate) fn take(&self, full_at: &mut u64, now: u64) {
        *full_at = now.max(*full_at) + self.every;
    }

    pub(crate) fn give_back(&self, full_at: &mut u64) {
        *full_at = full_at.saturating_sub(self.every);
    }
}

/// Counts a request of an agent for a code, or refuses it.
pub(crate) fn count_request(agent: &mut Agent, number_id: &str, now: u64) -> Result<()> {
    if let Some(last) = agent.sends.last().filter(|last| *last + RESEND_INTERVAL > now) {
        return Err(BindError::ResendTooSoon { wait_s: seconds(last + RESEND_INTERVAL - now) });
    }
    if let Some(wait) = AGENT_SENDS.wait(&mut agent.sends, now) {
        return Err(rate_limited(wait));
    }
    agent.numbers.retain(|(_, at)| at + AGENT_NUMBERS.within > now);
    if !agent.numbers.iter().any(|(id, _)| id == number_id) {
        let mut times: Vec<u64> = agent.numbers.iter().map(|(_, at)| *at).collect();
        if let Some(wait) = AGENT_NUMBERS.wait(&mut times, now) {
            return Err(rate_limited(wait));
        }
        agent.numbers.push((number_id.to_owned(), now));
    }
    agent.sends.push(now);
    Ok(())
}

pub(crate) fn rate_limited(wait: u64) -> BindError {
    BindError::SmsRateLimited { wait_s: seconds(wait) }
}

/// Returns the time until a code of this number may be checked again; `None` if one may be now.
pub(crate) fn guess_wait(number: &mut Number, now: u64) -> Option<u64> {
    let of_days = NUMBER_GUESSES.wait(number.guesses_full_at, now);
    of_days.max(NUMBER_FAILURES.wait(&mut number.failures, now))
}

/// Counts a wrong code.
pub(crate) fn count_guess(number: &mut Number, now: u64) {
    NUMBER_GUESSES.take(&mut number.guesses_full_at, now);
    number.failures.push(now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_spaced_and_counted() {
        let mut agent = Agent::default();
        let mut request = |now| count_request(&mut agent, "n", now);
        for code in 0..5 {
            assert!(request(DAY + code * RESEND_INTERVAL).is_ok());
        }
        let soon = request(DAY + 4 * RESEND_INTERVAL + SECOND);
        assert!(matches!(soon, Err(BindError::ResendTooSoon { wait_s: 29 })));
        let sixth = request(DAY + 5 * RESEND_INTERVAL);
        assert!(matches!(sixth, Err(BindError::SmsRateLimited { wait_s: 450 })));
        assert!(request(DAY + 10 * MINUTE).is_ok());
    }

    /// Takes as much as possible at each step of a day that begins with full buckets, and returns the total.
    fn most_in_a_day(mut take: impl FnMut(u64) -> bool) -> usize {
        (0..DAY).step_by(60_000).flat_map(|at| [at; 20]).filter(|at| take(DAY + at)).count()
    }

    #[test]
    fn the_guesses_of_a_day_hit_with_a_chance_below_one_in_ten_thousand() {
        let mut number = Number::default();
        let guesses = most_in_a_day(|now| {
            let is_open = guess_wait(&mut number, now).is_none();
            is_open.then(|| count_guess(&mut number, now)).is_some()
        });
        // 10 at once, and one every two hours: 21 within the day, 22 with its last instant.
        assert_eq!(guesses, 21);
        assert!((guesses + 1) as f64 / 1e6 < 1.0 / 45_000.0);
        // After the attack, one code can be checked within two hours, and five within ten.
        assert!(guess_wait(&mut number, 2 * DAY).is_none());
        assert!(NUMBER_GUESSES.wait(number.guesses_full_at, 2 * DAY).is_none());
    }

    #[test]
    fn the_messages_of_a_number_are_bounded_and_one_comes_back_with_each_proof() {
        let mut full_at = 0;
        let sent = most_in_a_day(|now| {
            let is_open = NUMBER_SENDS.wait(full_at, now).is_none();
            is_open.then(|| NUMBER_SENDS.take(&mut full_at, now)).is_some()
        });
        assert_eq!(sent, 12);
        let now = 2 * DAY - MINUTE;
        assert_eq!(NUMBER_SENDS.wait(full_at, now), Some(MINUTE));
        NUMBER_SENDS.give_back(&mut full_at);
        assert_eq!(NUMBER_SENDS.wait(full_at, now), None);
    }
}
