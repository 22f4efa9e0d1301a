//! The people of the demonstration, the same for the same seed.

use crate::cli::demo::story::{Choices, Draw, Story, fill};
use anyhow::Context as _;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Chooses pairs of people whose listings fit each other. A person is a map of the values to which
/// the story's steps can refer, with at least `name` and `listing`.
pub(super) fn draw_pairs(
    story: &Story,
    seed: u64,
    count: usize,
) -> anyhow::Result<Vec<[Map<String, Value>; 2]>> {
    let random = &mut StdRng::seed_from_u64(seed);
    let pairs = story.pairs.iter().cycle().take(count);
    pairs
        .map(|pair| {
            let shared = draw(random, &pair.draw, story)?;
            let [first, second] = &pair.listings;
            Ok([person(random, story, first, &shared)?, person(random, story, second, &shared)?])
        })
        .collect()
}

fn person(
    random: &mut StdRng,
    story: &Story,
    listing: &Value,
    shared: &Map<String, Value>,
) -> anyhow::Result<Map<String, Value>> {
    let mut values = draw(random, &story.person.draw, story)?;
    let name = fill(&json!(story.person.name), &values)?;
    values.insert("name".to_owned(), name);
    values.insert("listing".to_owned(), fill(listing, shared)?);
    Ok(values)
}

fn draw(
    random: &mut StdRng,
    draws: &BTreeMap<String, Draw>,
    story: &Story,
) -> anyhow::Result<Map<String, Value>> {
    let mut draw_value = |draw: &Draw| {
        let choices = match draw {
            Draw::Range { from, to } => return Ok(json!(random.random_range(*from..=*to))),
            Draw::OneOf { one_of: Choices::These(values) } => values,
            Draw::OneOf { one_of: Choices::Listed(name) } => {
                story.lists.get(name).with_context(|| format!("the story has no list {name}"))?
            }
        };
        choices.choose(random).cloned().context("the story has an empty list")
    };
    draws.iter().map(|(name, draw)| Ok((name.clone(), draw_value(draw)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_people() {
        let story = Story::read().unwrap();
        let people = |seed| draw_pairs(&story, seed, 6).unwrap();
        assert_eq!(people(7), people(7));
        assert_ne!(people(7), people(8));
        assert_eq!(people(7).len(), 6);
    }
}
