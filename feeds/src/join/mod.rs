//! From what each source told to records that name each other.

mod events;
mod evidence;
mod hearing;
mod money;
mod people;
mod roles;
mod signals;
mod targets;
mod town;
mod work;

pub use evidence::{Evidence, EvidenceKind, Knowledge};

use crate::{
    handoffs::{from_records, handoffs},
    questions::{Example, questions},
    record::{Event, Feature, Handoff, Person, Question, Roads, Role, Signal, SocialItem, Source},
    sources::Sources,
    state::State,
    timestamp::Timestamp,
};
use targets::Around;
use town::Town;

/// Everything that the feeds hold.
#[derive(Debug)]
pub struct Joined {
    pub targets: Vec<Feature>,
    pub signals: Vec<Signal>,
    pub questions: Vec<Question>,
    pub events: Vec<Event>,
    pub roles: Vec<Role>,
    pub people: Vec<Person>,
    pub posts: Vec<SocialItem>,
    pub handoffs: Vec<Handoff>,
}

/// Joins what is known about all sources with the signals there were.
pub fn join(
    sources: &Sources,
    state: &State,
    former: Vec<Signal>,
    roads: &Roads,
    now: Timestamp,
) -> Result<Joined, toml::de::Error> {
    let (town, knowledge) = (Town::new(state), &state.knowledge);
    let handoffs = handoffs(roads, now)?;
    let open = roles::roles(sources, state, &town, now);
    let founders = people::people(sources, state, &town, now);
    let heard = hearing::heard(sources, state, &town, now);
    let ground = signals::Ground {
        town: &town,
        open: &open,
        knowledge,
        handoff_ids: &from_records(&handoffs, &["signal"]),
        funding_handoff_ids: &from_records(&handoffs, &["signal", "funding_signal"]),
        now,
    };
    let signals = signals::signals(former, &heard, &ground);
    let around = Around {
        signals: &signals,
        roles: &open.roles,
        founders: &founders,
        verified_owners: &knowledge.verified_owners,
        handoff_ids: &from_records(&handoffs, &["target"]),
        now,
    };
    let mut joined = Joined {
        targets: targets::targets(sources, state, &town, &around),
        events: events::events(&heard, &signals, &founders.people, &town, now),
        posts: events::posts(&heard, &signals, now),
        questions: Vec::new(),
        roles: open.roles,
        people: founders.people,
        signals,
        handoffs,
    };
    joined.questions = questions(sources.next_refresh_s, now, |feed| joined.example(feed))?;
    Ok(joined)
}

impl Joined {
    pub fn len(&self) -> usize {
        self.targets.len()
            + self.signals.len()
            + self.questions.len()
            + self.events.len()
            + self.roles.len()
            + self.people.len()
            + self.posts.len()
            + self.handoffs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A feed's first record, as an example speaks of it.
    fn example(&self, feed: &str) -> Option<Example> {
        let cited = |id: &str, label: &str, maturity: Option<String>, sources: &[Source]| Example {
            id: id.to_owned(),
            label: label.to_owned(),
            maturity,
            source_ids: sources.iter().map(|source| source.id.clone()).collect(),
        };
        match feed {
            "targets" => self
                .targets
                .first()
                .map(|it| cited(&it.id, &it.properties.name, None, &it.properties.sources)),
            "signals" => self
                .signals
                .first()
                .map(|it| cited(&it.id, &it.headline, Some(it.label.clone()), &it.sources)),
            "events" => {
                self.events.first().map(|it| cited(&it.id, &it.title, None, &it.map.sources))
            }
            "roles" => self.roles.first().map(|it| cited(&it.id, &it.title, None, &it.sources)),
            "people" => {
                self.people.first().map(|it| cited(&it.id, &it.full_name, None, &it.sources))
            }
            "social" => self.posts.first().map(|it| cited(&it.id, &it.excerpt, None, &it.sources)),
            _ => None,
        }
    }
}
