//! The claims of a reference, and which of them contradict each other.

use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// A claim about another person.
// `States` is derived for `Claim::ALL`.
#[choice(States, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// The person was there at the times that were agreed.
    KeptAppointments,
    /// The person was absent or late without a word.
    MissedAppointments,
    /// What the person offered or told was as described.
    AsDescribed,
    /// What the person offered or told was not as described.
    NotAsDescribed,
    /// The person answered, and was easy to understand.
    ClearCommunication,
    /// The person was hard to reach, or hard to understand.
    HardToReach,
    Respectful,
    Disrespectful,
    /// The person did what was agreed.
    Reliable,
    /// The person did not do what was agreed.
    Unreliable,
    /// The author would deal with the person again.
    Again,
    NotAgain,
}

use Claim::{
    Again, AsDescribed, ClearCommunication, Disrespectful, HardToReach, KeptAppointments,
    MissedAppointments, NotAgain, NotAsDescribed, Reliable, Respectful, Unreliable,
};

/// The claims of which one reference has at most one.
const OPPOSITES: [[Claim; 2]; 6] = [
    [KeptAppointments, MissedAppointments],
    [AsDescribed, NotAsDescribed],
    [ClearCommunication, HardToReach],
    [Respectful, Disrespectful],
    [Reliable, Unreliable],
    [Again, NotAgain],
];

/// Returns whether two of the claims contradict each other.
pub(crate) fn contradict(claims: &BTreeSet<Claim>) -> bool {
    OPPOSITES.iter().any(|pair| pair.iter().all(|claim| claims.contains(claim)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_claim_has_one_opposite() {
        for claim in Claim::ALL {
            assert_eq!(OPPOSITES.iter().flatten().filter(|other| *other == claim).count(), 1);
        }
        assert!(contradict(&BTreeSet::from([Reliable, Again, Unreliable])));
        assert!(!contradict(&OPPOSITES.iter().map(|[good, _]| *good).collect()));
    }
}
