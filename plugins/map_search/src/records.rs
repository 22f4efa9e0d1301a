//! The records of the feeds, as far as they are read here. The names are those of the feeds.

use crate::types::{Ask, Place};
use portolan_sdk::{
    documents::{Direction, Direction::Ascending, Direction::Descending},
    feeds::Feed,
    prelude::*,
};
use serde_json::Map;

/// A record of the feeds, whole.
pub(crate) type Record = Map<String, Value>;

pub(crate) const TARGETS: Feed<Target> = Feed::new("targets");
pub(crate) const TARGET_RECORDS: Feed<Record> = Feed::new("targets");
pub(crate) const QUESTIONS: Feed<Question> = Feed::new("questions");
const ROLES: Feed<Role> = Feed::new("roles");
const PEOPLE: Feed<Person> = Feed::new("people");
const SIGNALS: Feed<Signal> = Feed::new("signals");
const EVENTS: Feed<EventRecord> = Feed::new("events");
/// The feeds with records that a question can be about.
pub(crate) const FEEDS: [Feed<Record>; 6] = [
    TARGET_RECORDS,
    Feed::new("signals"),
    Feed::new("events"),
    Feed::new("roles"),
    Feed::new("people"),
    Feed::new("social"),
];

/// A type of records that a search finds.
#[choice(PartialOrd, Ord)]
pub(crate) enum RecordType {
    Organisation,
    /// An open job.
    Role,
    /// A founder or another person of an organisation's team.
    Person,
    /// A report of funding or hiring, with its maturity.
    Signal,
    /// News, a launch, a meetup or the like.
    Event,
}

#[choice]
pub(crate) enum Sort {
    /// The best match for `q` first; needs `q`. Records with some of the words follow those with all.
    Relevance,
    /// The nearest first; needs `near`. For organisations.
    Distance,
    /// For organisations and people.
    Name,
    /// The latest first: the last changed organisation or person, the last posted role, the last signal or event.
    Newest,
    /// The most open roles first. For organisations.
    OpenRoles,
    /// The earliest first. For events.
    EventDate,
}

/// How records of a type are searched.
pub(crate) struct Paths {
    /// The path of the organisation's id, or of the ids.
    pub(crate) target: &'static str,
    /// The path of the date.
    pub(crate) date: &'static str,
    /// Its sorts but the one by relevance, which every type has.
    sorts: &'static [(Sort, &'static str, Direction)],
}

const ORGANISATION: Paths = Paths {
    target: "id",
    date: "properties.updated_at",
    sorts: &[
        (Sort::Distance, "distance", Ascending),
        (Sort::Name, "properties.name", Ascending),
        (Sort::Newest, "properties.updated_at", Descending),
        (Sort::OpenRoles, "properties.open_roles_count", Descending),
    ],
};
const ROLE: Paths = Paths {
    target: "target_id",
    date: "date_posted",
    sorts: &[(Sort::Newest, "date_posted", Descending)],
};
const PERSON: Paths = Paths {
    target: "target_id",
    date: "updated_at",
    sorts: &[(Sort::Name, "full_name", Ascending), (Sort::Newest, "updated_at", Descending)],
};
const SIGNAL: Paths = Paths {
    target: "target_id",
    date: "occurred_at",
    sorts: &[(Sort::Newest, "occurred_at", Descending)],
};
const EVENT: Paths = Paths {
    target: "_map.target_ids[]",
    date: "date_published",
    sorts: &[
        (Sort::Newest, "date_published", Descending),
        (Sort::EventDate, "date_published", Ascending),
    ],
};

impl RecordType {
    /// All types, in the order in which records of the same rank are listed.
    pub(crate) const ALL: [Self; 5] =
        [Self::Organisation, Self::Role, Self::Person, Self::Signal, Self::Event];

    pub(crate) const fn paths(self) -> &'static Paths {
        match self {
            Self::Organisation => &ORGANISATION,
            Self::Role => &ROLE,
            Self::Person => &PERSON,
            Self::Signal => &SIGNAL,
            Self::Event => &EVENT,
        }
    }

    /// Returns the path and the direction of a sort; `None` if this type does not have the sort.
    pub(crate) fn order(self, sort: Sort) -> Option<(&'static str, Direction)> {
        if sort == Sort::Relevance {
            return Some(("relevance", Descending));
        }
        let (_, path, direction) = self.paths().sorts.iter().find(|(known, ..)| *known == sort)?;
        Some((path, *direction))
    }

    /// Returns one page of a query of this type's feed.
    pub(crate) fn find(self, query: Query) -> Result<Batch, HostError> {
        match self {
            Self::Organisation => Ok(Batch::of(TARGETS.find(query)?, Content::Organisation)),
            Self::Role => Ok(Batch::of(ROLES.find(query)?, Content::Role)),
            Self::Person => Ok(Batch::of(PEOPLE.find(query)?, Content::Person)),
            Self::Signal => Ok(Batch::of(SIGNALS.find(query)?, Content::Signal)),
            Self::Event => Ok(Batch::of(EVENTS.find(query)?, Content::Event)),
        }
    }
}

/// One page of a feed.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    /// The cursor of the feed's next page.
    pub(crate) next: Option<String>,
}

/// A record that was found.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) relevance: f64,
    pub(crate) distance_m: Option<f64>,
    pub(crate) content: Content,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Organisation(Target),
    Role(Role),
    Person(Person),
    Signal(Signal),
    Event(EventRecord),
}

impl Batch {
    fn of<T>(page: Page<T>, content: impl Fn(T) -> Content) -> Self {
        let entry = |Hit { document, relevance, distance_m }: Hit<T>| Entry {
            id: document.id,
            relevance: relevance.unwrap_or_default(),
            distance_m,
            content: content(document.value),
        };
        Self { entries: page.hits.into_iter().map(entry).collect(), next: page.next }
    }
}

impl Content {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Organisation(target) => &target.properties.name,
            Self::Role(role) => &role.title,
            Self::Person(person) => &person.full_name,
            Self::Signal(signal) => &signal.headline,
            Self::Event(event) => &event.title,
        }
    }

    /// Returns the date by which records of different types are sorted; empty if it is not known.
    pub(crate) fn date(&self) -> &str {
        match self {
            Self::Organisation(target) => &target.properties.updated_at,
            Self::Role(role) => role.date_posted.as_deref().unwrap_or_default(),
            Self::Person(person) => &person.updated_at,
            Self::Signal(signal) => &signal.occurred_at,
            Self::Event(event) => &event.date_published,
        }
    }

    /// Returns the ids of the organisations that the record names; none for an organisation.
    pub(crate) fn target_ids(&self) -> &[String] {
        match self {
            Self::Organisation(_) => &[],
            Self::Role(Role { target_id, .. })
            | Self::Person(Person { target_id, .. })
            | Self::Signal(Signal { target_id, .. }) => std::slice::from_ref(target_id),
            Self::Event(event) => &event.map.target_ids,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) properties: Properties,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Properties {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) ask: Vec<Ask>,
    pub(crate) tagline: String,
    pub(crate) industries: Vec<String>,
    pub(crate) stage: Option<String>,
    pub(crate) status: String,
    pub(crate) geo: Place,
    pub(crate) open_roles_count: u32,
    pub(crate) verified_owner: bool,
    pub(crate) handoff_ids: Vec<String>,
    pub(crate) updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Role {
    pub(crate) target_id: String,
    pub(crate) title: String,
    pub(crate) department: Option<String>,
    pub(crate) function: String,
    pub(crate) seniority: Option<String>,
    pub(crate) employment_type: String,
    pub(crate) workplace_type: String,
    pub(crate) locations: Vec<Location>,
    pub(crate) base_salary: Option<Pay>,
    pub(crate) date_posted: Option<String>,
    pub(crate) apply_url: String,
    pub(crate) maturity: String,
    #[serde(default)]
    pub(crate) handoff_ids: Vec<String>,
    pub(crate) updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Location {
    pub(crate) label: String,
}

/// The pay that the employer states.
#[input(Clone)]
pub(crate) struct Pay {
    /// ISO 4217.
    pub(crate) currency: String,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// The time that it is for, such as `YEAR` or `HOUR`.
    pub(crate) unit: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Person {
    pub(crate) target_id: String,
    pub(crate) full_name: String,
    pub(crate) title: String,
    pub(crate) role_kind: String,
    pub(crate) public_bio: String,
    pub(crate) expertise: Vec<String>,
    pub(crate) public_figure_basis: String,
    pub(crate) opt_out_url: String,
    #[serde(default)]
    pub(crate) handoff_ids: Vec<String>,
    pub(crate) updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Signal {
    pub(crate) target_id: String,
    pub(crate) kind: String,
    pub(crate) headline: String,
    pub(crate) summary: String,
    pub(crate) occurred_at: String,
    pub(crate) maturity: String,
    pub(crate) label: String,
    pub(crate) sources: Vec<Source>,
    pub(crate) handoff_ids: Vec<String>,
    pub(crate) updated_at: String,
}

/// Where something was read.
#[input(Clone)]
pub(crate) struct Source {
    pub(crate) publisher: String,
    pub(crate) url: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EventRecord {
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) date_published: String,
    #[serde(rename = "_map")]
    pub(crate) map: EventMap,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EventMap {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) target_ids: Vec<String>,
    pub(crate) maturity: String,
    pub(crate) sources: Vec<Source>,
    pub(crate) updated_at: String,
}

/// The part of a question that is read.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Question {
    pub(crate) role: String,
    pub(crate) question: String,
    pub(crate) why_it_matters: String,
    pub(crate) uses: Vec<Use>,
    pub(crate) steps: Vec<String>,
    pub(crate) output_schema: Value,
    pub(crate) answer_policy: Value,
    pub(crate) handoff_ids: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Use {
    pub(crate) feed: String,
    /// Which records, in words.
    pub(crate) filter: String,
    /// The same as a condition for programs, as far as one can express it.
    #[serde(rename = "where", default)]
    pub(crate) condition: Option<Record>,
}
