//! Who is brought together with whom in a round.
//!
//! Where two sides meet, deferred acceptance (Gale and Shapley 1962) with incomplete lists: nobody
//! gets who is not on their list, no two would both rather have each other, and each of the
//! proposing side has the best partner that any such matching gives them. Where all are of one
//! side, that need not exist (stable roommates); then pairs are made greedily by score, and it is
//! counted who would rather have had each other.

use std::collections::{BTreeMap, VecDeque};

/// For each one whom they would have, the dearest first.
pub(crate) type Preferences = Vec<Vec<usize>>;

/// For each proposer who they got.
pub(crate) fn deferred_acceptance(
    proposers: &Preferences,
    receivers: &Preferences,
) -> Vec<Option<usize>> {
    let ranks: Vec<BTreeMap<usize, usize>> = receivers.iter().map(|list| ranks(list)).collect();
    let mut next = vec![0; proposers.len()];
    let mut holds: Vec<Option<usize>> = vec![None; receivers.len()];
    let mut free: VecDeque<usize> = (0..proposers.len()).collect();
    while let Some(proposer) = free.pop_front() {
        let Some(place) = next.get_mut(proposer) else { continue };
        let Some(&receiver) = proposers.get(proposer).and_then(|list| list.get(*place)) else {
            continue;
        };
        *place += 1;
        let rank = |proposer: usize| ranks.get(receiver)?.get(&proposer).copied();
        let Some(held) = holds.get_mut(receiver) else { continue };
        let wanted = rank(proposer);
        let better = wanted.is_some() && held.is_none_or(|held| wanted < rank(held));
        let refused = if better { held.replace(proposer) } else { Some(proposer) };
        free.extend(refused);
    }
    let mut got = vec![None; proposers.len()];
    for (receiver, proposer) in holds.into_iter().enumerate() {
        if let Some(got) = proposer.and_then(|proposer| got.get_mut(proposer)) {
            *got = Some(receiver);
        }
    }
    got
}

/// Pairs of one side, the highest score first; each one at most once.
pub(crate) fn greedy(mut pairs: Vec<(f64, usize, usize)>, people: usize) -> Vec<Option<usize>> {
    pairs.sort_by(|one, other| {
        other.0.total_cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2)))
    });
    let mut got = vec![None; people];
    for (_, one, other) in pairs {
        if got.get(one) == Some(&None) && got.get(other) == Some(&None) && one != other {
            for (who, whom) in [(one, other), (other, one)] {
                if let Some(got) = got.get_mut(who) {
                    *got = Some(whom);
                }
            }
        }
    }
    got
}

/// Pairs who would both rather have each other than what they got. `got_by` is for either list of
/// preferences; of one side both are the same.
pub(crate) fn blocking_pairs(
    (ones, ones_got): (&Preferences, &[Option<usize>]),
    (others, others_got): (&Preferences, &[Option<usize>]),
) -> usize {
    let prefers = |lists: &Preferences, got: &[Option<usize>], who: usize, whom: usize| {
        let Some(list) = lists.get(who) else { return false };
        let place = |whom: usize| list.iter().position(|listed| *listed == whom);
        let has = got.get(who).copied().flatten().and_then(place);
        place(whom).is_some_and(|wanted| has.is_none_or(|has| wanted < has))
    };
    let mut found = 0;
    for (one, list) in ones.iter().enumerate() {
        for &other in list {
            let both =
                prefers(ones, ones_got, one, other) && prefers(others, others_got, other, one);
            found += usize::from(both);
        }
    }
    found
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

    fn inverse(got: &[Option<usize>], receivers: usize) -> Vec<Option<usize>> {
        let mut holds = vec![None; receivers];
        for (proposer, receiver) in got.iter().enumerate() {
            if let Some(receiver) = receiver {
                assert_eq!(holds[*receiver], None, "two have the same");
                holds[*receiver] = Some(proposer);
            }
        }
        holds
    }

    /// Lists of some of the others in any order.
    fn lists(people: usize, others: usize) -> impl Strategy<Value = Preferences> {
        let all: Vec<usize> = (0..others).collect();
        let list = (Just(all).prop_shuffle(), 0..=others)
            .prop_map(|(list, length)| list.into_iter().take(length).collect());
        prop::collection::vec(list, people)
    }

    /// Every matching of these lists in which nobody would rather have somebody else who agrees.
    fn stable(ones: &Preferences, others: &Preferences) -> Vec<Vec<Option<usize>>> {
        fn go(
            ones: &Preferences,
            others: &Preferences,
            got: &mut Vec<Option<usize>>,
            all: &mut Vec<Vec<Option<usize>>>,
        ) {
            let one = got.len();
            if one == ones.len() {
                let holds = inverse(got, others.len());
                if blocking_pairs((ones, got), (others, &holds)) == 0 {
                    all.push(got.clone());
                }
                return;
            }
            let listed = |other: &usize| others[*other].contains(&one);
            let free = |other: &usize| !got.contains(&Some(*other));
            let may: Vec<usize> = ones[one].iter().copied().filter(listed).filter(free).collect();
            for choice in [None].into_iter().chain(may.into_iter().map(Some)) {
                got.push(choice);
                go(ones, others, got, all);
                got.pop();
            }
        }
        let mut all = Vec::new();
        go(ones, others, &mut Vec::new(), &mut all);
        all
    }

    proptest! {
        #[test]
        fn it_is_stable_and_the_best_for_those_who_propose(
            (ones, others) in (1..5usize, 1..5usize)
                .prop_flat_map(|(ones, others)| (lists(ones, others), lists(others, ones)))
        ) {
            let got = deferred_acceptance(&ones, &others);
            let holds = inverse(&got, others.len());
            prop_assert_eq!(blocking_pairs((&ones, &got), (&others, &holds)), 0);
            for (one, other) in got.iter().enumerate() {
                if let Some(other) = other {
                    prop_assert!(ones[one].contains(other) && others[*other].contains(&one));
                }
            }
            let place = |one: usize, other: Option<usize>| other
                .map_or(usize::MAX, |it| ones[one].iter().position(|listed| *listed == it).unwrap());
            for matching in stable(&ones, &others) {
                for (one, other) in matching.into_iter().enumerate() {
                    prop_assert!(place(one, got[one]) <= place(one, other));
                }
            }
        }

        #[test]
        fn large_rounds_have_no_blocking_pair(
            (ones, others) in (20..40usize, 20..40usize)
                .prop_flat_map(|(ones, others)| (lists(ones, others), lists(others, ones)))
        ) {
            let got = deferred_acceptance(&ones, &others);
            let holds = inverse(&got, others.len());
            prop_assert_eq!(blocking_pairs((&ones, &got), (&others, &holds)), 0);
        }
    }

    #[test]
    fn pairs_are_made_by_their_score() {
        let pairs = vec![(0.9, 0, 1), (0.8, 1, 2), (0.7, 2, 3), (0.1, 0, 3)];
        assert_eq!(greedy(pairs, 5), [Some(1), Some(0), Some(3), Some(2), None]);
    }

    #[test]
    fn who_would_rather_have_each_other_is_counted() {
        // Roommates without a stable matching: whoever is left out is somebody's first choice.
        let lists = vec![vec![1, 2, 3], vec![2, 0, 3], vec![0, 1, 3], vec![0, 1, 2]];
        let got = [Some(1), Some(0), Some(3), Some(2)];
        assert!(blocking_pairs((&lists, &got), (&lists, &got)) > 0);
    }
}
