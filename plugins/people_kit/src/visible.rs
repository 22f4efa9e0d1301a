//! The people that a person sees.

use crate::people::{self, Person};
use crate::{UNTRUSTED, relations};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of people in one query.
const CHUNK: usize = 100;

/// A person as another person sees them.
#[output]
pub struct PersonView {
    owner_id: String,
    display_name: Option<String>,
    /// Always `untrusted_user_content`: the name was written by the person.
    trust: &'static str,
}

impl PersonView {
    /// Returns the person with this id, with their name if they are among these people.
    pub fn of(owner_id: &str, people: &BTreeMap<String, Person>) -> Self {
        Self {
            owner_id: owner_id.to_owned(),
            display_name: people.get(owner_id).and_then(|person| person.display_name.clone()),
            trust: UNTRUSTED,
        }
    }
}

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
