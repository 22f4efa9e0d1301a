//! Compares the stances of two listings towards the topics of `topics.toml`.

use crate::{
    stances::{Found, STANCES},
    tables::{self, OfAttribute, Stance, TOPICS, Topic},
};
use people_kit::listings::Profile;
use serde_json::Value;

/// A topic that one listing needs or refuses, and the stance of the other listing.
pub(crate) struct TopicComparison {
    pub(crate) topic: &'static Topic,
    pub(crate) asked: Stance,
    pub(crate) found: Option<Stance>,
    /// Whether at least one of the two stances comes from a text.
    pub(crate) from_text: bool,
    /// Whether both sides state the compared values clearly, so that a contradiction excludes.
    pub(crate) is_clear: bool,
}

/// Returns the topics that the asker's listing needs or refuses, with the other listing's stance.
/// Topics about which only attributes say something are omitted, because the rules compare
/// attributes.
pub(crate) fn compare(asker: &Profile, other: &Profile) -> Vec<TopicComparison> {
    let kind = |profile: &Profile| tables::category(&profile.category).map(|known| known.kind);
    let (Some(from), Some(of)) = (kind(asker), kind(other)) else { return Vec::new() };
    let topics = TOPICS.iter().filter(|topic| topic.kinds.contains(&of));
    topics
        .filter_map(|topic| {
            let found = stance_of(other, of, topic);
            let asked = match stance_of(asker, from, topic) {
                Some(asked) => asked,
                // An assumed stance is no line if nothing contradicts it.
                None => {
                    let stance = assumed(from, topic)?;
                    let assumed =
                        Stated { found: Found { stance, is_clear: false }, in_text: true };
                    assumed.contradicts(found?, topic).then_some(assumed)?
                }
            };
            let from_text = asked.in_text || found.is_some_and(|found| found.in_text);
            let is_asked = matches!(asked.found.stance, Stance::Needs | Stance::Refuses);
            (is_asked && from_text).then_some(TopicComparison {
                topic,
                asked: asked.found.stance,
                found: found.map(|found| found.found.stance),
                from_text,
                is_clear: !topic.is_mild
                    && asked.found.is_clear
                    && found.is_none_or(|found| found.found.is_clear),
            })
        })
        .collect()
}

/// A stance of a listing, and whether its text says it.
#[derive(Clone, Copy)]
struct Stated {
    found: Found,
    in_text: bool,
}

impl Stated {
    fn contradicts(self, other: Self, topic: &Topic) -> bool {
        self.found.stance.contradicts(other.found.stance, topic)
    }
}

/// Returns the stance that people of a kind have without saying so.
fn assumed(kind: &str, topic: &Topic) -> Option<Stance> {
    topic.assumed.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(stance, _)| *stance)
}

/// Returns the stance of a listing towards a topic. A listing that refuses a topic also refuses its
/// parts.
fn stance_of(profile: &Profile, kind: &str, topic: &Topic) -> Option<Stated> {
    own_stance(profile, kind, topic).or_else(|| {
        let whole = TOPICS.iter().filter(|whole| whole.parts.contains(&topic.name));
        whole
            .filter_map(|whole| own_stance(profile, kind, whole))
            .find(|stated| stated.found.stance == Stance::Refuses)
    })
}

fn own_stance(profile: &Profile, kind: &str, topic: &Topic) -> Option<Stated> {
    let said = || {
        let written = profile.said.get(STANCES)?.get(topic.name)?.as_str()?;
        Found::read(written).map(|found| Stated { found, in_text: true })
    };
    let attribute = |values: &serde_json::Map<String, Value>, in_text: bool| {
        let stated = topic.attributes.iter().filter(|of| of.kinds.contains(&kind)).find(|of| {
            let texts = values.get(of.name).map(crate::compare::texts).unwrap_or_default();
            texts.iter().any(|text| text == of.value)
        });
        let found = |of: &OfAttribute| Found { stance: of.stance, is_clear: true };
        stated.map(|of| Stated { found: found(of), in_text })
    };
    attribute(&profile.attributes, false).or_else(said).or_else(|| attribute(&profile.said, true))
}
