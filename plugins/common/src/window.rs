//! So many of something within a time.

use crate::{
    limit::{Limit, quota},
    time::DAY,
};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// So many within so many milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub most: usize,
    pub within: u64,
}

impl Window {
    /// Forgets what is too old; if there are as many left as may be, the milliseconds until there are not.
    pub fn wait(&self, times: &mut Vec<u64>, now: u64) -> Option<u64> {
        times.retain(|at| at + self.within > now);
        let first = times.iter().rev().nth(self.most - 1)?;
        Some(first + self.within - now)
    }

    /// Counts one more, unless there are as many as may be: then the milliseconds until there are not.
    pub fn one_more(&self, times: &mut Vec<u64>, now: u64) -> Result<(), u64> {
        match self.wait(times, now) {
            Some(wait) => Err(wait),
            None => {
                times.push(now);
                Ok(())
            }
        }
    }
}

/// How often one person may do something in 24 hours.
#[derive(Debug, Clone, Copy)]
pub struct ADay {
    pub action: &'static str,
    /// The limit's.
    pub name: &'static str,
    pub most: usize,
}

/// What a person has done in the last 24 hours, kept by their id.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Day {
    /// When each action was done.
    done: BTreeMap<String, Vec<u64>>,
}

impl ADay {
    /// Counts one more of a person's, or refuses it with the call that helps.
    pub fn count(
        &self,
        call: &Call,
        days: Collection<Day>,
        owner_id: &str,
        next: Next,
    ) -> Result<(), Refusal> {
        let window = Window { most: self.most, within: DAY };
        let before = days.get(owner_id)?;
        let expect = before.as_ref().map_or(Expect::Absent, |day| Expect::Revision(day.revision));
        let mut day = before.map(|day| day.value).unwrap_or_default();
        let done = day.done.entry(self.action.to_owned()).or_default();
        window.one_more(done, call.now()).map_err(|wait| {
            let message = "There was as much of this as one may do in a day.";
            quota(message, &Limit::within(self.name, &window, wait), next)
        })?;
        days.put(owner_id, &day, expect)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_frees_itself() {
        let window = Window { most: 2, within: 10 };
        let mut times = Vec::new();
        for (now, counted) in
            [(1, Ok(())), (5, Ok(())), (6, Err(5)), (11, Ok(())), (11, Err(4)), (15, Ok(()))]
        {
            assert_eq!(window.one_more(&mut times, now), counted, "{now}");
        }
        assert_eq!(times, [11, 15]);
        assert_eq!(window.wait(&mut times, 15), Some(6));
        assert_eq!(window.wait(&mut times, 21), None);
        assert_eq!(times, [15]);
    }

    #[test]
    fn where_there_are_more_than_may_be_the_last_ones_count() {
        let mut times = vec![1, 2, 3, 4, 5];
        assert_eq!(Window { most: 2, within: 10 }.wait(&mut times, 6), Some(8));
    }
}
