//! Joins what was read from all sources into records that refer to each other.

mod events;
mod evidence;
mod hearing;
mod people;
mod quarantine;
mod roles;
mod signals;
mod suppressed;
mod targets;
mod town;
mod whereabouts;
mod work;

pub use evidence::{Evidence, EvidenceKind, Knowledge};
pub use quarantine::Reasons;
pub use roles::postings;
pub use whereabouts::LeftOut;

use crate::{
    handoffs::{from_records, handoffs},
    objections::Suppression,
    questions::{Example, questions},
    record::{Event, Feature, Handoff, Person, Question, Roads, Role, Signal, SocialItem, Source},
    sources::Sources,
    state::{Quarantined, State},
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
    /// The roles on boards that are not for the city.
    pub left_out: LeftOut,
    /// Claims that looked like signals and are none, with the reason.
    pub doubts: Vec<Quarantined>,
}

/// Joins what was read from all sources with the former signals, but for what somebody objects to.
pub fn join(
    sources: &Sources,
    state: &State,
    former: Vec<Signal>,
    suppression: &Suppression,
    roads: &Roads,
    now: Timestamp,
) -> Result<Joined, toml::de::Error> {
    let (town, knowledge) = (Town::new(state, suppression), &state.knowledge);
    // Capabilities read the records of the first city only, so no handoff could begin at another one's.
    let handoffs = if roads.city().is_none() { handoffs(roads, now)? } else { Vec::new() };
    let mut open = roles::roles(sources, state, &town, (&from_records(&handoffs, &["role"]), now));
    open.roles.retain(|role| !suppression.covers(&role.id));
    let opt_out_url = sources.opt_out_url.clone();
    let opt_out_url =
        opt_out_url.unwrap_or_else(|| format!("{}{}", roads.feeds, roads.objection()));
    let from_people = from_records(&handoffs, &["person"]);
    let of_people = (&*from_people, &*opt_out_url, now);
    let mut founders = people::people(sources, state, &town, of_people);
    founders.people.retain(|person| !suppression.covers_person(person));
    let heard = hearing::heard(sources, state, &town, now);
    let context = signals::Context {
        town: &town,
        open: &open,
        knowledge,
        handoff_ids: &from_records(&handoffs, &["signal"]),
        funding_handoff_ids: &from_records(&handoffs, &["signal", "funding_signal"]),
        now,
    };
    let mut signals = signals::signals(former, &heard, &context);
    signals.retain(|signal| !suppression.covers(&signal.id));
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
        doubts: hearing::doubts(&heard),
        questions: Vec::new(),
        roles: open.roles,
        left_out: open.left_out,
        people: founders.people,
        signals,
        handoffs,
    };
    joined.suppress(suppression);
    joined.ask(sources, now)?;
    Ok(joined)
}

impl Joined {
    /// Makes the questions, whose example answers cite the first record of each feed.
    pub fn ask(&mut self, sources: &Sources, now: Timestamp) -> Result<(), toml::de::Error> {
        self.questions = questions(sources.next_refresh_s, now, |feed| self.example(feed))?;
        for question in &mut self.questions {
            question.handoff_ids.retain(|id| self.handoffs.iter().any(|known| known.id == *id));
        }
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

    /// Returns the ids of the records that have pages.
    pub fn ids_of_pages(&self) -> impl Iterator<Item = &String> {
        (self.targets.iter().map(|record| &record.id))
            .chain(self.roles.iter().map(|record| &record.id))
            .chain(self.people.iter().map(|record| &record.id))
            .chain(self.events.iter().map(|record| &record.id))
            .chain(self.signals.iter().map(|record| &record.id))
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
