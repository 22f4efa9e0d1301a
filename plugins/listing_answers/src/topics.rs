//! Compares the stances of two listings towards the topics of `topics.toml`.

use crate::{
    stances::STANCES,
    tables::{self, Stance, TOPICS, Topic},
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
            let (asked, in_text) = stance_of(asker, from, topic)?;
            let found = stance_of(other, of, topic);
            let from_text = in_text || found.is_some_and(|(_, in_text)| in_text);
            let is_relevant = matches!(asked, Stance::Needs | Stance::Refuses) && from_text;
            let found = found.map(|(stance, _)| stance);
            is_relevant.then_some(TopicComparison { topic, asked, found, from_text })
        })
        .collect()
}

/// Returns the stance of a listing towards a topic, and whether a text says it. A listing that
/// refuses a topic also refuses its parts.
fn stance_of(profile: &Profile, kind: &str, topic: &Topic) -> Option<(Stance, bool)> {
    own_stance(profile, kind, topic).or_else(|| {
        let whole = TOPICS.iter().filter(|whole| whole.parts.contains(&topic.name));
        whole
            .filter_map(|whole| own_stance(profile, kind, whole))
            .find(|(stance, _)| *stance == Stance::Refuses)
    })
}

fn own_stance(profile: &Profile, kind: &str, topic: &Topic) -> Option<(Stance, bool)> {
    let said = || {
        let named = profile.said.get(STANCES)?.get(topic.name)?.as_str()?;
        Stance::from_name(named).map(|stance| (stance, true))
    };
    let attribute = |values: &serde_json::Map<String, Value>, in_text: bool| {
        let stated = topic.attributes.iter().filter(|of| of.kinds.contains(&kind)).find(|of| {
            let texts = values.get(of.name).map(crate::compare::texts).unwrap_or_default();
            texts.iter().any(|text| text == of.value)
        });
        stated.map(|of| (of.stance, in_text))
    };
    attribute(&profile.attributes, false).or_else(said).or_else(|| attribute(&profile.said, true))
}
