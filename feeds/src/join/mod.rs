//! Joins what was read from all sources into records that refer to each other.

mod events;
mod evidence;
mod hearing;
mod money;
mod people;
mod quarantine;
mod roles;
mod signals;
mod targets;
mod town;
mod work;

pub use evidence::{Evidence, EvidenceKind, Knowledge};
pub use quarantine::Reasons;

use crate::{
    handoffs::{from_records, handoffs},
    questions::{Example, questions},
    record::{Event, Feature, Handoff, Person, Question, Roads, Role, Signal, SocialItem, Source},
    sources::Sources,
    state::State,
    timestamp::Timestamp,
};
use targets::Related;
use town::Town;

/// The records of all feeds.
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

/// Joins what was read from all sources with the former signals.
pub fn join(
    sources: &Sources,
    state: &State,
    former: Vec<Signal>,
    roads: &Roads,
    now: Timestamp,
) -> Result<Joined, toml::de::Error> {
    let (town, knowledge) = (Town::new(state), &state.knowledge);
    let handoffs = handoffs(roads, now)?;
    let open = roles::roles(sources, state, &town, (&from_records(&handoffs, &["role"]), now));
    let founders =
        people::people(sources, state, &town, (&from_records(&handoffs, &["person"]), now));
    let heard = hearing::heard(sources, state, &town, now);
    let context = signals::Context {
        town: &town,
        open: &open,
        knowledge,
        handoff_ids: &from_records(&handoffs, &["signal"]),
        funding_handoff_ids: &from_records(&handoffs, &["signal", "funding_signal"]),
        now,
    };
    let signals = signals::signals(former, &heard, &context);
    let related = Related {
        signals: &signals,
        roles: &open.roles,
        founders: &founders,
        verified_owners: &knowledge.verified_owners,
        handoff_ids: &from_records(&handoffs, &["target"]),
        now,
    };
    let mut joined = Joined {
        targets: targets::targets(sources, state, &town, &related),
        events: events::events(&heard, &signals, &founders.people, &town, now),
        posts: events::posts(&heard, &signals, now),
        questions: Vec::new(),
        roles: open.roles,
        people: founders.people,
        signals,
        handoffs,
    };
    joined.ask(sources, now)?;
    Ok(joined)
}

impl Joined {
    /// Makes the questions, whose example answers cite the first record of each feed.
    pub fn ask(&mut self, sources: &Sources, now: Timestamp) -> Result<(), toml::de::Error> {
        self.questions = questions(sources.next_refresh_s, now, |feed| self.example(feed))?;
        Ok(())
    }

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

    /// Returns a feed's first record, as an example answer cites it.
    fn example(&self, feed: &str) -> Option<Example> {
        let cited = |id: &str, label: &str, maturity: Option<String>, sources: &[Source]| Example {
            id: id.to_owned(),
            label: label.to_owned(),
            maturity,
            source_ids: sources.iter().map(|source| source.id.clone()).collect(),
        };
        match feed {
            "targets" => self.targets.first().map(|target| {
                cited(&target.id, &target.properties.name, None, &target.properties.sources)
            }),
            "signals" => self.signals.first().map(|signal| {
                cited(&signal.id, &signal.headline, Some(signal.label.clone()), &signal.sources)
            }),
            "events" => self
                .events
                .first()
                .map(|event| cited(&event.id, &event.title, None, &event.map.sources)),
            "roles" => {
                self.roles.first().map(|role| cited(&role.id, &role.title, None, &role.sources))
            }
            "people" => self
                .people
                .first()
                .map(|person| cited(&person.id, &person.full_name, None, &person.sources)),
            "social" => {
                self.posts.first().map(|post| cited(&post.id, &post.excerpt, None, &post.sources))
            }
            _ => None,
        }
    }
}
