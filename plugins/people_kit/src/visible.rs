//! Which people a person sees.

use crate::people::{self, Person};
use crate::relations;
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of people in one query.
const CHUNK: usize = 100;

/// Returns those of these people whom the viewer sees, by id: they exist, are active, and neither of the two has
/// blocked the other.
pub fn people<'a>(
    viewer_id: &str,
    owner_ids: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, Person>, Refusal> {
    let owner_ids: Vec<&str> = owner_ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let mut visible = BTreeMap::new();
    for chunk in owner_ids.chunks(CHUNK) {
        let hidden = relations::hidden(Some(viewer_id), chunk.iter().copied())?;
        let people = people::people(chunk.iter().copied())?.into_iter();
        visible.extend(people.filter(|(id, person)| person.active && !hidden.contains(id)));
    }
    Ok(visible)
}
