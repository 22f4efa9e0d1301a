//! The records of the feeds, as far as they are read here. The names are those of the feeds.

use portolan_sdk::{
    documents::{Direction, Direction::Ascending, Direction::Descending},
    feeds::Feed,
    prelude::*,
};

pub const TARGETS: Feed<Target> = Feed::new("targets");
const ROLES: Feed<Role> = Feed::new("roles");
const PEOPLE: Feed<Person> = Feed::new("people");
const SIGNALS: Feed<Signal> = Feed::new("signals");
const EVENTS: Feed<EventRecord> = Feed::new("events");

/// A type of records that a search finds.
#[choice(PartialOrd, Ord)]
pub enum RecordType {
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
pub enum Sort {
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

/// The paths by which records of a type are searched.
#[derive(Debug)]
pub struct Paths {
    /// The feed of the records.
    feed: &'static str,
    /// The path of the organisation's id, or of the ids.
    pub target: &'static str,
    /// The path of the date.
    pub date: &'static str,
    /// Its sorts but the one by relevance, which every type has.
    sorts: &'static [(Sort, &'static str, Direction)],
}

const ORGANISATION: Paths = Paths {
    feed: "targets",
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
    feed: "roles",
    target: "target_id",
    date: "date_posted",
    sorts: &[(Sort::Newest, "date_posted", Descending)],
};
const PERSON: Paths = Paths {
    feed: "people",
    target: "target_id",
    date: "updated_at",
    sorts: &[(Sort::Name, "full_name", Ascending), (Sort::Newest, "updated_at", Descending)],
};
const SIGNAL: Paths = Paths {
    feed: "signals",
    target: "target_id",
    date: "occurred_at",
    sorts: &[(Sort::Newest, "occurred_at", Descending)],
};
const EVENT: Paths = Paths {
    feed: "events",
    target: "_map.target_ids[]",
    date: "date_published",
    sorts: &[
        (Sort::Newest, "date_published", Descending),
        (Sort::EventDate, "date_published", Ascending),
    ],
};

impl RecordType {
    /// All types, in the order in which records of the same rank are listed.
    pub const ALL: [Self; 5] =
        [Self::Organisation, Self::Role, Self::Person, Self::Signal, Self::Event];

    /// Returns the type of the records of a feed; `None` for a feed that is not searched.
    pub fn of_feed(feed: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.paths().feed == feed)
    }

    /// Returns the id of the feed of these records.
    pub const fn feed(self) -> &'static str {
        self.paths().feed
    }

    pub const fn paths(self) -> &'static Paths {
        match self {
            Self::Organisation => &ORGANISATION,
            Self::Role => &ROLE,
            Self::Person => &PERSON,
            Self::Signal => &SIGNAL,
            Self::Event => &EVENT,
        }
    }

    /// Returns the path and the direction of a sort; `None` if this type does not have the sort.
    pub fn order(self, sort: Sort) -> Option<(&'static str, Direction)> {
        if sort == Sort::Relevance {
            return Some(("relevance", Descending));
        }
        let (_, path, direction) = self.paths().sorts.iter().find(|(known, ..)| *known == sort)?;
        Some((path, *direction))
    }

    /// Returns one page of a query of this type's feed.
    pub fn find(self, query: Query) -> Result<Batch, HostError> {
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
pub struct Batch {
    pub entries: Vec<Entry>,
    /// The cursor of the feed's next page.
    pub next: Option<String>,
}

/// A record that was found.
#[derive(Debug, Clone)]
pub struct Entry {
    pub id: String,
    pub relevance: f64,
    pub distance_m: Option<f64>,
    pub content: Content,
}

#[derive(Debug, Clone)]
pub enum Content {
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

impl Entry {
    /// Returns the path of the record's page on the host; that of a signal is part of its organisation's page.
    pub fn page(&self) -> String {
        let id = &self.id;
        match &self.content {
            Content::Organisation(_) => format!("/map/companies/{id}"),
            Content::Role(_) => format!("/map/roles/{id}"),
            Content::Person(_) => format!("/map/people/{id}"),
            Content::Signal(signal) => format!("/map/companies/{}#{id}", signal.target_id),
            Content::Event(_) => format!("/map/events/{id}"),
        }
    }
}

impl Content {
    pub fn name(&self) -> &str {
        match self {
            Self::Organisation(target) => &target.properties.name,
            Self::Role(role) => &role.title,
            Self::Person(person) => &person.full_name,
            Self::Signal(signal) => &signal.headline,
            Self::Event(event) => &event.title,
        }
    }

    /// Returns the date by which records of different types are sorted; empty if it is not known.
    pub fn date(&self) -> &str {
        match self {
            Self::Organisation(target) => &target.properties.updated_at,
            Self::Role(role) => role.date_posted.as_deref().unwrap_or_default(),
            Self::Person(person) => &person.updated_at,
            Self::Signal(signal) => &signal.occurred_at,
            Self::Event(event) => &event.date_published,
        }
    }

    /// Returns the ids of the organisations that the record names; none for an organisation.
    pub fn target_ids(&self) -> &[String] {
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
pub struct Target {
    pub properties: Properties,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Properties {
    pub name: String,
    pub kind: String,
    pub ask: Vec<Ask>,
    pub tagline: String,
    pub industries: Vec<String>,
    pub stage: Option<String>,
    pub status: String,
    pub geo: Place,
    pub open_roles_count: u32,
    pub verified_owner: bool,
    pub handoff_ids: Vec<String>,
    pub updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Role {
    pub target_id: String,
    pub title: String,
    pub department: Option<String>,
    pub function: String,
    pub seniority: Option<String>,
    pub employment_type: String,
    pub workplace_type: String,
    pub locations: Vec<Location>,
    pub base_salary: Option<Pay>,
    pub date_posted: Option<String>,
    pub apply_url: String,
    pub maturity: String,
    #[serde(default)]
    pub handoff_ids: Vec<String>,
    pub updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Location {
    pub label: String,
}

/// Something that an organisation asks for.
#[input(Clone)]
pub struct Ask {
    /// The type, such as `hiring`, `raising`, `cofounder` or `space`.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    /// Since when (RFC 3339).
    pub since: String,
    /// How well it is supported. A `lead` is not a fact: say `lead`.
    pub maturity: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub lat: f64,
    pub lng: f64,
    /// The precision of the point, such as `street` or `neighbourhood`.
    pub precision: String,
    pub neighbourhood: Option<String>,
}

/// The pay that the employer states.
#[input(Clone)]
pub struct Pay {
    /// ISO 4217.
    pub currency: String,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// The time that it is for, such as `YEAR` or `HOUR`.
    pub unit: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Person {
    pub target_id: String,
    pub full_name: String,
    pub title: String,
    pub role_kind: String,
    pub public_bio: String,
    pub expertise: Vec<String>,
    pub public_figure_basis: String,
    pub opt_out_url: String,
    #[serde(default)]
    pub handoff_ids: Vec<String>,
    pub updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Signal {
    pub target_id: String,
    pub kind: String,
    pub headline: String,
    pub summary: String,
    pub occurred_at: String,
    pub maturity: String,
    pub label: String,
    pub sources: Vec<Source>,
    pub handoff_ids: Vec<String>,
    pub updated_at: String,
}

/// Where something was read.
#[input(Clone)]
pub struct Source {
    pub publisher: String,
    pub url: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct EventRecord {
    pub title: String,
    pub summary: String,
    pub date_published: String,
    #[serde(rename = "_map")]
    pub map: EventMap,
}

#[derive(Debug, Clone, Deserialize)]
pub struct EventMap {
    #[serde(rename = "type")]
    pub kind: String,
    pub target_ids: Vec<String>,
    pub maturity: String,
    pub sources: Vec<Source>,
    pub updated_at: String,
}
