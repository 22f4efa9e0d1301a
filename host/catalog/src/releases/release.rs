//! A release of a snapshot, and which callers it gives the canary.

use super::counts::ReleaseCounts;
use crate::capability::Capability;
use portolan_store::ReleaseSide;
use portolan_vocabulary::{AgentCaller, CallResult, Digest, Timestamp};
use std::{sync::Arc, time::Duration};

/// The number of parts of all callers of a capability.
const PARTS: u64 = 10_000;
const PARTS_OF_A_PERCENT: u64 = PARTS / 100;

/// A version that a share of callers gets in place of the served one.
#[derive(Debug)]
pub struct Release {
    pub id: i64,
    /// The share of callers in percent.
    pub share: u64,
    /// The version, with the collections of the served one.
    pub capability: Arc<Capability>,
    /// The version that the other callers get.
    pub served: Digest,
    /// When it is promoted by itself, if that was asked for.
    pub promotes_at: Option<Timestamp>,
    pub counts: Arc<ReleaseCounts>,
}

impl Release {
    /// Returns whether a caller gets the canary. A person with all of their agents, or an agent that nobody has
    /// claimed, stays on one version while the share does not change, and keeps the canary when it is raised.
    pub(crate) fn gives_to(&self, agent: &AgentCaller) -> bool {
        let person = agent.owner_id.as_ref().unwrap_or(&agent.agent_id);
        !self.counts.is_stopped()
            && part(self.id, &self.capability.id, person) < self.share * PARTS_OF_A_PERCENT
    }

    /// Counts a call of one of the two versions; one of another version is not counted.
    pub fn count(&self, ran: &Capability, result: CallResult, time: Duration, now: Timestamp) {
        let side = match ran.digest {
            digest if digest == self.capability.digest => ReleaseSide::Canary,
            digest if digest == self.served => ReleaseSide::Served,
            _ => return,
        };
        self.counts.count(side, result, time, now);
    }
}

/// Returns the part of the callers of a release to which a person belongs, below [`PARTS`].
fn part(release: i64, capability: &str, person: &str) -> u64 {
    let digest = Digest::of(format!("{release} {capability} {person}").as_bytes()).hex();
    let start = digest.get(..15).and_then(|start| u64::from_str_radix(start, 16).ok());
    start.unwrap_or_default() % PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_spread_evenly_and_differently_in_each_release() {
        let within = |release: i64, percent: u64| -> Vec<u32> {
            let is_within = |number: &u32| {
                part(release, "notes", &format!("own_{number}")) < percent * PARTS_OF_A_PERCENT
            };
            (0..10_000).filter(is_within).collect()
        };
        for percent in [1, 5, 25, 50] {
            let (found, expected) = (within(1, percent).len() as u64, percent * 100);
            assert!(found.abs_diff(expected) < 40 + expected / 10, "{percent} %: {found}");
        }
        // A raised share keeps those who have the canary already.
        let (five, more) = (within(1, 5), within(1, 25));
        assert!(five.iter().all(|person| more.contains(person)));
        assert_ne!(five, within(2, 5));
    }
}
