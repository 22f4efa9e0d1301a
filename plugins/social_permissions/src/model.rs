//! The model: which relations objects of each type have, who can have them, and which follow from
//! which. Everything else reads this table: judging, listing, granting, and the action `model`.

use Rule::{All, Any, But, Everybody, Itself, Of, Reverse, Stated, Through, Twin};
use Told::{Governor, Named, Subject};
use Who::{Agent, All as Public, Object, Person, Set};

pub(crate) type Model = &'static [Kind];

/// A type of objects.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// Who has this relation may read all that is stated of the object, and grant what can be granted.
    pub(crate) governed_by: Option<&'static str>,
    /// Whom the object's person must not see, and the other way round.
    pub(crate) apart: Option<&'static str>,
    pub(crate) relations: &'static [Relation],
}

#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// Whom other capabilities may state it of.
    pub(crate) stated_of: &'static [Who],
    /// Whom people may grant it to.
    pub(crate) granted_to: &'static [Who],
    pub(crate) rule: Rule,
    pub(crate) told: Told,
}

/// A sort of subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// `owner:…`
    Person,
    /// `agent:…`
    Agent,
    /// `*`
    All,
    /// An object of this type, to go on from.
    Object(&'static str),
    /// Everybody who has this relation to an object of this type.
    Set(&'static str, &'static str),
}

/// When a relation holds.
#[derive(Debug)]
pub(crate) enum Rule {
    /// It is stated: of the subject, of everybody, or of a set that the subject is in.
    Stated,
    Everybody,
    /// The subject is the object.
    Itself,
    /// Another relation of the object holds.
    Of(&'static str),
    /// A relation holds to an object that the first relation leads to.
    Through(&'static str, &'static str),
    /// A relation holds to the object of another type with the same id.
    Twin(&'static str, &'static str),
    /// The subject has stated the relation of the object's person.
    Reverse(&'static str),
    Any(&'static [Rule]),
    All(&'static [Rule]),
    /// The first holds and the second does not.
    But(&'static Rule, &'static Rule),
}

/// Who may learn whether it holds, besides those who govern the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Subject,
    /// The subject, unless one of the two has blocked the other.
    Named,
    /// Nobody else.
    Governor,
}

/// The relation that only who states it ever reads.
pub(crate) const BLOCKED: &str = "blocked";
/// The relation that follows from who has claimed an agent.
pub(crate) const DELEGATE: &str = "delegate";

const MEMBERS: Who = Set("org", "member");
const RECRUITERS: Who = Set("org", "recruiter");
const ADMINS: Who = Set("org", "admin");

const fn stored(
    name: &'static str,
    meaning: &'static str,
    stated_of: &'static [Who],
    told: Told,
) -> Relation {
    Relation { name, meaning, stated_of, granted_to: &[], rule: Stated, told }
}

const fn computed(name: &'static str, meaning: &'static str, rule: Rule, told: Told) -> Relation {
    Relation { name, meaning, stated_of: &[], granted_to: &[], rule, told }
}

/// A role that whoever has a higher one has too.
const fn role(name: &'static str, meaning: &'static str, rule: Rule) -> Relation {
    Relation { name, meaning, stated_of: &[Person], granted_to: &[], rule, told: Subject }
}

pub(crate) const MODEL: Model = &[
    Kind {
        name: "owner",
        meaning: "A person.",
        governed_by: Some("self"),
        apart: Some("apart"),
        relations: &[
            computed("self", "Is this person, or an agent of theirs.", Itself, Subject),
            stored(DELEGATE, "Is an agent that this person has claimed.", &[Agent], Subject),
            stored("connected", "Is connected with this person.", &[Person], Subject),
            stored(BLOCKED, "Was blocked by this person.", &[Person], Governor),
            stored("network_only", "Only connected people may write.", &[Public], Governor),
            stored("closed", "Nobody may write for now.", &[Public], Governor),
            stored(
                "open_meeting",
                "Has a meeting with this person to agree on.",
                &[Person],
                Governor,
            ),
            Relation {
                name: "freebusy_viewer",
                meaning: "Was granted to see when this person is busy.",
                stated_of: &[Person],
                granted_to: &[Person, Agent],
                rule: Stated,
                told: Named,
            },
            stored("contact_viewer", "Was disclosed this person's contact data.", &[Person], Named),
            computed(
                "apart",
                "Was blocked by this person, or has blocked them.",
                Any(&[Of(BLOCKED), Reverse(BLOCKED)]),
                Governor,
            ),
            computed(
                "can_message",
                "May write to this person.",
                But(
                    &Any(&[But(&Everybody, &Of("network_only")), Of("connected")]),
                    &Any(&[Of("closed"), Of("apart")]),
                ),
                Subject,
            ),
            computed(
                "can_see_freebusy",
                "May see when this person is busy.",
                Any(&[
                    Of("self"),
                    But(
                        &Any(&[Of("freebusy_viewer"), All(&[Of("connected"), Of("open_meeting")])]),
                        &Of("apart"),
                    ),
                ]),
                Subject,
            ),
            computed(
                "can_see_contact",
                "May see this person's contact data.",
                Any(&[Of("self"), But(&Of("contact_viewer"), &Of("apart"))]),
                Subject,
            ),
        ],
    },
    Kind {
        name: "org",
        meaning: "An organisation.",
        governed_by: Some("admin"),
        apart: None,
        relations: &[
            role("owner", "Owns the organisation.", Stated),
            role("admin", "Decides on its members.", Any(&[Stated, Of("owner")])),
            role("recruiter", "Edits its listings.", Any(&[Stated, Of("admin")])),
            role("member", "Belongs to it.", Any(&[Stated, Of("recruiter")])),
        ],
    },
    Kind {
        name: "listing",
        meaning: "A listing.",
        governed_by: Some("manager"),
        apart: Some("apart"),
        relations: &[
            stored("owner", "Is the person whose listing it is.", &[Person], Subject),
            stored("org", "Is the organisation that it stands for.", &[Object("org")], Governor),
            Relation {
                name: "editor",
                meaning: "May change it. A block takes a grant away, but no role in its organisation.",
                stated_of: &[],
                granted_to: &[Person, Agent, MEMBERS, RECRUITERS, ADMINS],
                rule: Any(&[Of("owner"), Through("org", "recruiter"), But(&Stated, &Of("apart"))]),
                told: Subject,
            },
            Relation {
                name: "viewer",
                meaning: "Is among those it is shown to.",
                stated_of: &[
                    Person,
                    Public,
                    Set("owner", "connected"),
                    MEMBERS,
                    RECRUITERS,
                    ADMINS,
                ],
                granted_to: &[Person, MEMBERS, RECRUITERS, ADMINS],
                rule: Stated,
                told: Named,
            },
            computed(
                "can_view",
                "May see it.",
                Any(&[Of("editor"), But(&Of("viewer"), &Of("apart"))]),
                Subject,
            ),
            computed(
                "manager",
                "Decides who else may change it or see it.",
                Any(&[Of("owner"), Through("org", "admin")]),
                Subject,
            ),
            computed(
                "apart",
                "Its owner and the subject are apart.",
                Through("owner", "apart"),
                Governor,
            ),
        ],
    },
    Kind {
        name: "thread",
        meaning: "A conversation.",
        governed_by: None,
        apart: None,
        relations: &[
            stored("participant", "Takes part in it.", &[Person], Subject),
            stored("frozen", "Must not write in it for now.", &[Person, Public], Governor),
            computed(
                "can_send",
                "May write in it.",
                But(&Of("participant"), &Of("frozen")),
                Subject,
            ),
        ],
    },
    Kind {
        name: "calendar",
        meaning: "A person's calendar; its id is the person's.",
        governed_by: Some("owner"),
        apart: Some("apart"),
        relations: &[
            Relation {
                name: "owner",
                meaning: "Is the person whose calendar it is.",
                stated_of: &[Person],
                granted_to: &[],
                rule: Any(&[Twin("owner", "self"), Stated]),
                told: Subject,
            },
            Relation {
                name: "scheduler",
                meaning: "May make appointments in it.",
                stated_of: &[Person, Agent],
                granted_to: &[Person, Agent],
                rule: Any(&[Of("owner"), Twin("owner", DELEGATE), But(&Stated, &Of("apart"))]),
                told: Subject,
            },
            computed(
                "apart",
                "Its owner and the subject are apart.",
                Twin("owner", "apart"),
                Governor,
            ),
        ],
    },
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
    /// Whom it can be stored of, by whomever.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = Who> {
        self.stated_of.iter().chain(self.granted_to).copied()
    }
}

impl Who {
    /// As OpenFGA writes it.
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
    /// In the manner of OpenFGA's language.
    pub(crate) fn text(&self, relation: &Relation) -> String {
        let part = |rule: &Rule| match rule {
            Any(_) | All(_) | But(..) => format!("({})", rule.text(relation)),
            _ => rule.text(relation),
        };
        let joined =
            |rules: &[Rule], word: &str| rules.iter().map(part).collect::<Vec<_>>().join(word);
        match self {
            Stated => {
                let mut subjects = Vec::new();
                for subject in relation.subjects().map(Who::text) {
                    if !subjects.contains(&subject) {
                        subjects.push(subject);
                    }
                }
                format!("[{}]", subjects.join(", "))
            }
            Everybody => "everybody".into(),
            Itself => "itself".into(),
            Of(name) => (*name).into(),
            Through(way, name) => format!("{name} from {way}"),
            Twin(kind, name) => format!("{name} from {kind} of the same id"),
            Reverse(name) => format!("has stated {name} of it"),
            Any(rules) => joined(rules, " or "),
            All(rules) => joined(rules, " and "),
            But(rule, taken) => format!("{} but not {}", part(rule), part(taken)),
        }
    }

    /// The rules in it that can make it hold, down to those without parts.
    pub(crate) fn grounds(&self) -> Vec<&Rule> {
        match self {
            Any(rules) | All(rules) => rules.iter().flat_map(Rule::grounds).collect(),
            But(rule, _) => rule.grounds(),
            rule => vec![rule],
        }
    }
}
