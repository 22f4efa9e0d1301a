//! The model: the relations of each type of object, their possible subjects, and which relations
//! follow from which. Evaluating, listing, granting and the action `model` all read this table.

use Askers::{Governor, Subject, Unblocked};
use Rule::{All, Any, Computed, Everybody, Except, FromObject, Itself, Reverse, SameId, Stated};
use SubjectKind::{Agent, All as Public, Object, Person, Set};

pub(crate) type Model = &'static [Kind];

/// A type of object.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// The relation whose subjects may read all tuples of the object, and grant the relations that
    /// can be granted.
    pub(crate) governed_by: Option<&'static str>,
    /// The relation of the subjects that the object's person has blocked, or that have blocked
    /// them.
    pub(crate) hidden_by: Option<&'static str>,
    pub(crate) relations: &'static [Relation],
}

#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// The kinds of subjects for which other capabilities may state it.
    pub(crate) stated_of: &'static [SubjectKind],
    /// The kinds of subjects to which people may grant it.
    pub(crate) granted_to: &'static [SubjectKind],
    pub(crate) rule: Rule,
    pub(crate) askers: Askers,
}

/// A kind of subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubjectKind {
    /// `owner:…`
    Person,
    /// `agent:…`
    Agent,
    /// `*`
    All,
    /// An object of this type, from which other relations follow.
    Object(&'static str),
    /// All subjects with this relation to an object of this type.
    Set(&'static str, &'static str),
}

/// A rule: when a relation holds.
#[derive(Debug)]
pub(crate) enum Rule {
    /// It is stated for the subject, for everybody, or for a set that contains the subject.
    Stated,
    Everybody,
    /// The subject is the object.
    Itself,
    /// Another relation to the object holds.
    Computed(&'static str),
    /// A relation holds to an object to which the first relation leads.
    FromObject(&'static str, &'static str),
    /// A relation holds to the object of another type with the same id.
    SameId(&'static str, &'static str),
    /// The relation is stated with the roles exchanged: the object has it to the subject's person.
    Reverse(&'static str),
    Any(&'static [Rule]),
    All(&'static [Rule]),
    /// The first rule holds and the second does not.
    Except(&'static Rule, &'static Rule),
}

/// The principals that may query a relation, in addition to the governors of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Askers {
    Subject,
    /// The subject, unless one of the two has blocked the other.
    Unblocked,
    /// Only the governors.
    Governor,
}

/// The relation that only the person who states it can read.
pub(crate) const BLOCKED: &str = "blocked";
/// The relation that follows from the claim of an agent.
pub(crate) const DELEGATE: &str = "delegate";

const MEMBERS: SubjectKind = Set("org", "member");
const RECRUITERS: SubjectKind = Set("org", "recruiter");
const ADMINS: SubjectKind = Set("org", "admin");

const fn stored(
    name: &'static str,
    meaning: &'static str,
    stated_of: &'static [SubjectKind],
    askers: Askers,
) -> Relation {
    Relation { name, meaning, stated_of, granted_to: &[], rule: Stated, askers }
}

const fn computed(
    name: &'static str,
    meaning: &'static str,
    rule: Rule,
    askers: Askers,
) -> Relation {
    Relation { name, meaning, stated_of: &[], granted_to: &[], rule, askers }
}

/// Makes a role of a person, which can follow from others.
const fn role(name: &'static str, meaning: &'static str, rule: Rule) -> Relation {
    Relation { rule, ..stored(name, meaning, &[Person], Subject) }
}

/// Makes the relation `apart` to an object: its owner has blocked the subject, or the subject the
/// owner.
const fn blocked_either_way(rule: Rule) -> Relation {
    computed("apart", "Was blocked by its owner, or has blocked them.", rule, Governor)
}

const CAN_MESSAGE: Rule = Except(
    &Any(&[Except(&Everybody, &Computed("network_only")), Computed("connected")]),
    &Any(&[Computed("closed"), Computed("apart")]),
);
const CAN_SEE_FREEBUSY: Rule = Any(&[
    Computed("self"),
    Except(
        &Any(&[
            Computed("freebusy_viewer"),
            All(&[Computed("connected"), Computed("open_meeting")]),
        ]),
        &Computed("apart"),
    ),
]);
const CAN_SEE_CONTACT: Rule =
    Any(&[Computed("self"), Except(&Computed("contact_viewer"), &Computed("apart"))]);
const BLOCKED_EITHER_WAY: Rule = Any(&[Computed(BLOCKED), Reverse(BLOCKED)]);

const OWNER: &[Relation] = &[
    computed("self", "Is this person, or an agent of theirs.", Itself, Subject),
    stored(DELEGATE, "Is an agent that this person has claimed.", &[Agent], Subject),
    stored("connected", "Is connected with this person.", &[Person], Subject),
    stored(BLOCKED, "Was blocked by this person.", &[Person], Governor),
    stored("network_only", "Only connected people may write.", &[Public], Governor),
    stored("closed", "Nobody may write for now.", &[Public], Governor),
    stored("open_meeting", "Has a meeting with this person to agree on.", &[Person], Governor),
    Relation {
        granted_to: &[Person, Agent],
        ..stored(
            "freebusy_viewer",
            "Was granted to see when this person is busy.",
            &[Person],
            Unblocked,
        )
    },
    stored("contact_viewer", "Was disclosed this person's contact data.", &[Person], Unblocked),
    computed(
        "apart",
        "Was blocked by this person, or has blocked them.",
        BLOCKED_EITHER_WAY,
        Governor,
    ),
    computed("can_message", "May write to this person.", CAN_MESSAGE, Subject),
    computed("can_see_freebusy", "May see when this person is busy.", CAN_SEE_FREEBUSY, Subject),
    computed("can_see_contact", "May see this person's contact data.", CAN_SEE_CONTACT, Subject),
];

const ORG: &[Relation] = &[
    role("owner", "Owns the organisation.", Stated),
    role("admin", "Manages its members.", Any(&[Stated, Computed("owner")])),
    role("recruiter", "Edits its listings.", Any(&[Stated, Computed("admin")])),
    role("member", "Belongs to it.", Any(&[Stated, Computed("recruiter")])),
];

const CAN_VIEW: Rule = Any(&[Computed("editor"), Except(&Computed("viewer"), &Computed("apart"))]);
const MANAGER: Rule = Any(&[Computed("owner"), FromObject("org", "admin")]);

const LISTING: &[Relation] = &[
    stored("owner", "Owns the listing.", &[Person], Subject),
    stored("org", "Is the organisation of the listing.", &[Object("org")], Governor),
    Relation {
        name: "editor",
        meaning: "May change it. A block ends a grant, but not a role in its organisation.",
        stated_of: &[],
        granted_to: &[Person, Agent, MEMBERS, RECRUITERS, ADMINS],
        rule: Any(&[
            Computed("owner"),
            FromObject("org", "recruiter"),
            Except(&Stated, &Computed("apart")),
        ]),
        askers: Subject,
    },
    Relation {
        name: "viewer",
        meaning: "Was given permission to see it.",
        stated_of: &[Person, Public, Set("owner", "connected"), MEMBERS, RECRUITERS, ADMINS],
        granted_to: &[Person, MEMBERS, RECRUITERS, ADMINS],
        rule: Stated,
        askers: Unblocked,
    },
    computed("can_view", "May see it.", CAN_VIEW, Subject),
    computed("manager", "Decides who else may change it or see it.", MANAGER, Subject),
    blocked_either_way(FromObject("owner", "apart")),
];

const CAN_SEND: Rule = Except(&Computed("participant"), &Computed("frozen"));

const THREAD: &[Relation] = &[
    stored("participant", "Takes part in it.", &[Person], Subject),
    stored("frozen", "Must not write in it for now.", &[Person, Public], Governor),
    computed("can_send", "May write in it.", CAN_SEND, Subject),
];

const CALENDAR: &[Relation] = &[
    role("owner", "Owns the calendar.", Any(&[SameId("owner", "self"), Stated])),
    Relation {
        name: "scheduler",
        meaning: "May see when the person is busy, and set time aside in it.",
        stated_of: &[Person, Agent],
        granted_to: &[Person, Agent],
        rule: Any(&[
            Computed("owner"),
            SameId("owner", DELEGATE),
            Except(&Stated, &Computed("apart")),
        ]),
        askers: Subject,
    },
    blocked_either_way(SameId("owner", "apart")),
];

const fn kind_of(
    name: &'static str,
    meaning: &'static str,
    governed_by: Option<&'static str>,
    hidden_by: Option<&'static str>,
    relations: &'static [Relation],
) -> Kind {
    Kind { name, meaning, governed_by, hidden_by, relations }
}

const CALENDARS: &str = "A person's calendar; its id is the person's.";

pub(crate) const MODEL: Model = &[
    kind_of("owner", "A person.", Some("self"), Some("apart"), OWNER),
    kind_of("org", "An organisation.", Some("admin"), None, ORG),
    kind_of("listing", "A listing.", Some("manager"), Some("apart"), LISTING),
    kind_of("thread", "A conversation.", None, None, THREAD),
    kind_of("calendar", CALENDARS, Some("owner"), Some("apart"), CALENDAR),
];

impl Kind {
    pub(crate) fn relation(&self, name: &str) -> Option<&'static Relation> {
        self.relations.iter().find(|relation| relation.name == name)
    }
}

pub(crate) fn kind(model: Model, name: &str) -> Option<&'static Kind> {
    model.iter().find(|kind| kind.name == name)
}

impl Relation {
    /// Returns the kinds of subjects for which it can be stored.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = SubjectKind> {
        self.stated_of.iter().chain(self.granted_to).copied()
    }
}

impl SubjectKind {
    /// Formats the kind of subject in the language of OpenFGA.
    pub(crate) fn text(self) -> String {
        match self {
            Person => "owner".into(),
            Agent => "agent".into(),
            Public => "*".into(),
            Object(kind) => kind.into(),
            Set(kind, relation) => format!("{kind}#{relation}"),
        }
    }
}

impl Rule {
    /// Formats the rule in the manner of OpenFGA's language.
    pub(crate) fn text(&self, relation: &Relation) -> String {
        let part = |rule: &Rule| match rule {
            Any(_) | All(_) | Except(..) => format!("({})", rule.text(relation)),
            _ => rule.text(relation),
        };
        let joined =
            |rules: &[Rule], word: &str| rules.iter().map(part).collect::<Vec<_>>().join(word);
        match self {
            Stated => {
                let granted = relation.granted_to.iter();
                let granted = granted.filter(|who| !relation.stated_of.contains(who));
                let subjects = relation.stated_of.iter().chain(granted).map(|who| who.text());
                format!("[{}]", subjects.collect::<Vec<_>>().join(", "))
            }
            Everybody => "everybody".into(),
            Itself => "itself".into(),
            Computed(name) => (*name).into(),
            FromObject(link, name) => format!("{name} from {link}"),
            SameId(kind, name) => format!("{name} from {kind} of the same id"),
            Reverse(name) => format!("has stated {name} of it"),
            Any(rules) => joined(rules, " or "),
            All(rules) => joined(rules, " and "),
            Except(rule, excluded) => format!("{} but not {}", part(rule), part(excluded)),
        }
    }

    /// Returns the parts of this rule that have no parts themselves, without those that are
    /// excluded.
    pub(crate) fn grounds(&self) -> Vec<&Rule> {
        match self {
            Any(rules) | All(rules) => rules.iter().flat_map(Rule::grounds).collect(),
            Except(rule, _) => rule.grounds(),
            rule => vec![rule],
        }
    }
}
