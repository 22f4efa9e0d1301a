//! The matching of a round.
//!
//! If there are two sides, it is deferred acceptance (Gale and Shapley 1962) with incomplete lists:
//! nobody gets a partner who is not on their list, no two participants both prefer each other to
//! their partners, and each of the proposing side has the best partner of any such matching. Each
//! of the other side may accept several (hospitals and residents). If all are of one side, such a
//! matching need not exist (stable roommates); then pairs are made greedily by score, and the pairs
//! who would have preferred each other are counted.

use std::collections::{BTreeMap, VecDeque};

/// For each participant the acceptable partners, the most preferred first.
pub(crate) type Preferences = Vec<Vec<usize>>;

/// Returns for each receiver the partners they got, the most preferred first: at most as many as
/// they have seats.
pub(crate) fn deferred_acceptance(
    proposers: &Preferences,
    receivers: &Preferences,
    seats: &[usize],
) -> Vec<Vec<usize>> {
    let ranks: Vec<BTreeMap<usize, usize>> = receivers.iter().map(|list| ranks(list)).collect();
    let mut next = vec![0; proposers.len()];
    let mut assigned: Vec<Vec<usize>> = vec![Vec::new(); receivers.len()];
    let mut free: VecDeque<usize> = (0..proposers.len()).collect();
    while let Some(proposer) = free.pop_front() {
        let Some(position) = next.get_mut(proposer) else { continue };
        let Some(&receiver) = proposers.get(proposer).and_then(|list| list.get(*position)) else {
            continue;
        };
        *position += 1;
        let (Some(ranks), Some(assigned)) = (ranks.get(receiver), assigned.get_mut(receiver))
        else {
            continue;
        };
        if !ranks.contains_key(&proposer) {
            free.push_back(proposer);
            continue;
        }
        assigned.push(proposer);
        assigned.sort_by_key(|proposer| ranks.get(proposer).copied());
        if assigned.len() > seats.get(receiver).copied().unwrap_or(1) {
            free.extend(assigned.pop());
        }
    }
    assigned
}

/// Returns the same matching from the other side.
pub(crate) fn inverse(assigned: &[Vec<usize>], others: usize) -> Vec<Vec<usize>> {
    let mut inverse = vec![Vec::new(); others];
    for (one, assigned) in assigned.iter().enumerate() {
        for other in assigned {
            if let Some(inverse) = inverse.get_mut(*other) {
                inverse.push(one);
            }
        }
    }
    inverse
}

/// Pairs participants of one side, the highest score first; each at most once.
pub(crate) fn greedy(mut pairs: Vec<(f64, usize, usize)>, people: usize) -> Vec<Vec<usize>> {
    pairs.sort_by(|one, other| {
        other.0.total_cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2)))
    });
    let mut assigned: Vec<Vec<usize>> = vec![Vec::new(); people];
    for (_, one, other) in pairs {
        let is_free = |who: usize| assigned.get(who).is_some_and(Vec::is_empty);
        if is_free(one) && is_free(other) && one != other {
            for (who, whom) in [(one, other), (other, one)] {
                if let Some(assigned) = assigned.get_mut(who) {
                    assigned.push(whom);
                }
            }
        }
    }
    assigned
}

/// One side of a matching.
pub(crate) struct Side<'a> {
    pub(crate) lists: &'a Preferences,
    pub(crate) assigned: &'a [Vec<usize>],
    /// The maximum number of partners of each participant; it is one for a participant without an
    /// entry.
    pub(crate) seats: &'a [usize],
}

impl Side<'_> {
    /// Whether a participant prefers this one to one of their partners, or to a free seat.
    fn prefers(&self, who: usize, whom: usize) -> bool {
        let (Some(list), Some(assigned)) = (self.lists.get(who), self.assigned.get(who)) else {
            return false;
        };
        let position = |whom: usize| list.iter().position(|listed| *listed == whom);
        let is_free = assigned.len() < self.seats.get(who).copied().unwrap_or(1);
        let worst = assigned.iter().filter_map(|has| position(*has)).max();
        let position = position(whom).filter(|_| !assigned.contains(&whom));
        position.is_some_and(|position| is_free || worst.is_some_and(|worst| position < worst))
    }
}

/// Counts the pairs who both prefer each other to their partners. If there is only one side, it is
/// given twice, and each pair is found twice.
pub(crate) fn blocking_pairs(ones: &Side<'_>, others: &Side<'_>) -> usize {
    let rivals = |(one, list): (usize, &Vec<usize>)| {
        let both = |other: usize| ones.prefers(one, other) && others.prefers(other, one);
        list.iter().filter(|other| both(**other)).count()
    };
    ones.lists.iter().enumerate().map(rivals).sum()
}

fn ranks(list: &[usize]) -> BTreeMap<usize, usize> {
    let mut ranks = BTreeMap::new();
    for (rank, who) in list.iter().enumerate() {
        ranks.entry(*who).or_insert(rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates lists of some of the others in any order.
    fn lists(people: usize, others: usize) -> impl Strategy<Value = Preferences> {
        let all: Vec<usize> = (0..others).collect();
        let list = (Just(all).prop_shuffle(), 0..=others)
            .prop_map(|(list, length)| list.into_iter().take(length).collect());
        prop::collection::vec(list, people)
    }

    /// Generates the lists of both sides, and the seats of the receivers.
    fn rooms(
        people: std::ops::Range<usize>,
    ) -> impl Strategy<Value = (Preferences, Preferences, Vec<usize>)> {
        (people.clone(), people).prop_flat_map(|(ones, others)| {
            (lists(ones, others), lists(others, ones), prop::collection::vec(1..4usize, others))
        })
    }

    fn blocking(
        ones: &Preferences,
        others: &Preferences,
        seats: &[usize],
        assigned: &[Vec<usize>],
    ) -> usize {
        let one_each = vec![1; ones.len()];
        let ones_assigned = inverse(assigned, ones.len());
        blocking_pairs(
            &Side { lists: ones, assigned: &ones_assigned, seats: &one_each },
            &Side { lists: others, assigned, seats },
        )
    }

    /// Returns every stable matching of these lists.
    fn stable(ones: &Preferences, others: &Preferences, seats: &[usize]) -> Vec<Vec<Vec<usize>>> {
        let mut all = vec![vec![Vec::new(); others.len()]];
        for (one, list) in ones.iter().enumerate() {
            let with = |assigned: &Vec<Vec<usize>>| {
                let is_acceptable = |other: &&usize| {
                    others[**other].contains(&one) && assigned[**other].len() < seats[**other]
                };
                let mut all = vec![assigned.clone()];
                for other in list.iter().filter(is_acceptable) {
                    let mut assigned = assigned.clone();
                    assigned[*other].push(one);
                    all.push(assigned);
                }
                all
            };
            all = all.iter().flat_map(with).collect();
        }
        all.retain(|assigned| blocking(ones, others, seats, assigned) == 0);
        all
    }

    proptest! {
        #[test]
        fn deferred_acceptance_is_stable_and_optimal_for_proposers(
            (ones, others, seats) in rooms(1..5)
        ) {
            let assigned = deferred_acceptance(&ones, &others, &seats);
            prop_assert_eq!(blocking(&ones, &others, &seats, &assigned), 0);
            for (other, assigned) in assigned.iter().enumerate() {
                prop_assert!(assigned.len() <= seats[other]);
                for one in assigned {
                    prop_assert!(ones[*one].contains(&other) && others[other].contains(one));
                }
            }
            let mine = inverse(&assigned, ones.len());
            prop_assert!(mine.iter().all(|assigned| assigned.len() <= 1));
            let position = |one: usize, assigned: &[usize]| assigned.first()
                .map_or(usize::MAX, |other| ones[one].iter().position(|listed| listed == other).unwrap());
            let all = stable(&ones, &others, &seats);
            prop_assert!(!all.is_empty());
            for matching in all {
                for (one, other) in inverse(&matching, ones.len()).iter().enumerate() {
                    prop_assert!(position(one, &mine[one]) <= position(one, other));
                }
            }
        }

        #[test]
        fn large_rounds_have_no_blocking_pair((ones, others, seats) in rooms(20..40)) {
            let assigned = deferred_acceptance(&ones, &others, &seats);
            prop_assert_eq!(blocking(&ones, &others, &seats, &assigned), 0);
        }
    }

    #[test]
    fn pairs_are_made_by_their_score() {
        let pairs = vec![(0.9, 0, 1), (0.8, 1, 2), (0.7, 2, 3), (0.1, 0, 3)];
        assert_eq!(greedy(pairs, 5), [vec![1], vec![0], vec![3], vec![2], vec![]]);
    }

    #[test]
    fn blocking_pairs_are_counted() {
        // Roommates without a stable matching: the person who is paired with the last one is the
        // first choice of another one.
        let lists = vec![vec![1, 2, 3], vec![2, 0, 3], vec![0, 1, 3], vec![0, 1, 2]];
        let assigned = [vec![1], vec![0], vec![3], vec![2]];
        let all = Side { lists: &lists, assigned: &assigned, seats: &[1; 4] };
        assert_eq!(blocking_pairs(&all, &all), 2);
    }
}
