//! Tests the evaluation against a fixpoint over everything, and the model against its own rules.

use super::*;
use crate::model::{Askers, Kind, MODEL, kind};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Stated = BTreeSet<(String, String, String)>;

struct Graph<'a>(&'a Stated);

impl Tuples for Graph<'_> {
    type Error = LimitExceeded;

    fn holds(
        &mut self,
        object: &str,
        relation: &str,
        subject: &str,
    ) -> Result<bool, LimitExceeded> {
        Ok(self.0.contains(&(object.into(), relation.into(), subject.into())))
    }

    fn subjects(
        &mut self,
        object: &str,
        relation: &str,
        shape: Shape,
    ) -> Result<Vec<String>, LimitExceeded> {
        let of_it = self.0.iter().filter(|found| found.0 == object && found.1 == relation);
        let subjects = of_it.map(|tuple| tuple.2.clone());
        Ok(subjects.filter(|subject| Shape::of(subject) == shape).collect())
    }
}

/// Reads `object#relation@subject`.
fn tuple(text: &str) -> (String, String, String) {
    let (object, rest) = text.split_once('#').unwrap();
    let (relation, subject) = rest.split_once('@').unwrap();
    (object.into(), relation.into(), subject.into())
}

/// Reads tuples with spaces between them.
fn stated(tuples: &str) -> Stated {
    tuples.split_whitespace().map(tuple).collect()
}

/// Reads the names of a subject with commas between them; none is everybody.
fn principal(names: &str) -> Principal {
    let names: Vec<String> = names.split_terminator(',').map(str::to_owned).collect();
    let person = names.iter().find(|name| name.starts_with("owner:")).cloned();
    Principal { person: person.filter(|name| !name.contains('#')), names }
}

fn ask(
    model: Model,
    graph: &Stated,
    object: &str,
    relation: &str,
    who: &Principal,
) -> Option<Vec<Step>> {
    let object = Object::parse(model, object).unwrap();
    let relation = object.kind.relation(relation).unwrap();
    evaluate(model, &mut Graph(graph), &object, relation, who).unwrap()
}

fn holds(graph: &Stated, question: &str) -> bool {
    let (object, relation, names) = tuple(question);
    ask(MODEL, graph, &object, &relation, &principal(&names)).is_some()
}

/// Asserts that the relations in `yes` hold in a graph, and those in `no` do not.
fn assert_holds(graph: &str, yes: &str, no: &str) {
    for (questions, expected) in [(yes, true), (no, false)] {
        for question in questions.split_whitespace() {
            assert_eq!(holds(&stated(graph), question), expected, "{question} in {graph}");
        }
    }
}

/// Returns the faults of a model: unknown names, and excluded rules that depend on sets, which
/// could lead back to the rule they are excluded from.
fn faults(model: Model) -> Vec<String> {
    let mut faults = Vec::new();
    for kind in model {
        let named = kind.governed_by.into_iter().chain(kind.hidden_by);
        for name in named.filter(|name| kind.relation(name).is_none()) {
            faults.push(format!("{} has no {name}", kind.name));
        }
        for relation in kind.relations {
            check(model, kind, relation, &relation.rule, false, 0, &mut faults);
        }
    }
    faults
}

fn check(
    model: Model,
    kind: &'static Kind,
    relation: &'static Relation,
    rule: &'static Rule,
    taken: bool,
    depth: u32,
    faults: &mut Vec<String>,
) {
    let place = format!("{}.{}", kind.name, relation.name);
    if depth > 20 {
        faults.push(format!("{place} leads to itself"));
        return;
    }
    let follow =
        |kind: &'static Kind, name: &str, faults: &mut Vec<String>| match kind.relation(name) {
            Some(next) if taken => check(model, kind, next, &next.rule, true, depth + 1, faults),
            Some(_) => {}
            None => faults.push(format!("{place}: {} has no {name}", kind.name)),
        };
    let find = |name: &str| crate::model::kind(model, name).unwrap();
    match rule {
        Rule::Stated => {
            for who in relation.subjects() {
                match who {
                    SubjectKind::Set(..) if taken => {
                        faults.push(format!("{place}: excluded by a set"))
                    }
                    SubjectKind::Set(kind, name) => follow(find(kind), name, faults),
                    _ => {}
                }
            }
        }
        Rule::Everybody | Rule::Itself => {}
        Rule::Computed(name) | Rule::Reverse(name) => follow(kind, name, faults),
        Rule::SameId(other, name) => follow(find(other), name, faults),
        Rule::FromObject(link, name) => {
            let link = kind.relation(link).unwrap();
            for who in link.subjects() {
                match who {
                    SubjectKind::Person => follow(find("owner"), name, faults),
                    SubjectKind::Object(other) => follow(find(other), name, faults),
                    _ => faults.push(format!("{place}: leads to no object")),
                }
            }
        }
        Rule::Any(rules) | Rule::All(rules) => {
            for rule in *rules {
                check(model, kind, relation, rule, taken, depth, faults);
            }
        }
        Rule::Except(rule, minus) => {
            check(model, kind, relation, rule, taken, depth, faults);
            check(model, kind, relation, minus, true, depth, faults);
        }
    }
}

#[test]
fn the_model_is_valid() {
    assert_eq!(faults(MODEL), Vec::<String>::new());
    for (kind, relation) in
        MODEL.iter().flat_map(|kind| kind.relations.iter().map(move |found| (kind, found)))
    {
        // A relation that is stated for everybody holds for a blocked subject too. If the subject
        // could ask about it, the relations that the block excludes would disclose the block.
        let public = relation.subjects().any(|who| who == SubjectKind::All);
        assert!(!public || relation.askers != Askers::Subject, "{}.{}", kind.name, relation.name);
        let stores = relation.rule.grounds().iter().any(|rule| matches!(rule, Rule::Stated));
        assert_eq!(stores, relation.subjects().next().is_some(), "{}.{}", kind.name, relation.name);
    }
}

#[test]
fn a_block_wins_in_both_directions() {
    let granted = "owner:a#connected@owner:b owner:a#open_meeting@owner:b \
        owner:a#freebusy_viewer@owner:b owner:a#contact_viewer@owner:b listing:l#owner@owner:a \
        listing:l#viewer@* listing:l#editor@owner:b calendar:a#scheduler@owner:b";
    let asked = |names| {
        format!(
            "owner:a#can_message@{names} owner:a#can_see_freebusy@{names} \
             owner:a#can_see_contact@{names} listing:l#can_view@{names} \
             listing:l#editor@{names} calendar:a#scheduler@{names}"
        )
    };
    for names in ["owner:b", "agent:x,owner:b"] {
        assert_holds(granted, &asked(names), "");
        for block in ["owner:a#blocked@owner:b", "owner:b#blocked@owner:a"] {
            assert_holds(&format!("{granted} {block}"), "", &asked(names));
        }
    }
}

#[test]
fn contact_policies_narrow_who_may_write() {
    let by_b = "owner:a#can_message@owner:b";
    assert_holds("", "owner:a#can_message@owner:b owner:a#can_message@agent:x", "");
    assert_holds("", "owner:a#can_message@", "");
    assert_holds("owner:a#network_only@*", "", by_b);
    assert_holds("owner:a#network_only@* owner:a#connected@owner:b", by_b, "");
    assert_holds("owner:a#closed@* owner:a#connected@owner:b", "", by_b);
    assert_holds("owner:a#closed@*", "", "owner:a#can_message@");
}

#[test]
fn roles_hold_for_objects_of_the_organisation() {
    let graph = "org:o#owner@owner:a org:o#recruiter@owner:r org:o#member@owner:m \
        listing:l#owner@owner:x listing:l#org@org:o listing:s#owner@owner:x \
        listing:s#viewer@org:o#member";
    assert_holds(
        graph,
        "org:o#member@owner:a listing:l#editor@owner:r listing:l#manager@owner:a \
         listing:s#can_view@owner:a listing:s#can_view@org:o#recruiter",
        "org:o#admin@owner:r listing:l#editor@owner:m listing:l#manager@owner:r \
         listing:s#can_view@owner:z",
    );
    let why = ask(MODEL, &stated(graph), "listing:l", "can_view", &principal("owner:r")).unwrap();
    let why = why.into_iter().map(|Step { object, relation, subject }| {
        format!("{object}#{relation}@{}", subject.unwrap_or_default())
    });
    let why = why.collect::<Vec<_>>().join(" ");
    let expected = "listing:l#can_view@ listing:l#editor@ listing:l#org@org:o \
        org:o#recruiter@owner:r";
    assert_eq!(why, expected);
}

#[test]
fn a_calendar_is_its_persons_and_their_agents() {
    assert_holds(
        "owner:a#delegate@agent:x calendar:a#scheduler@agent:y",
        "calendar:a#owner@owner:a calendar:a#scheduler@agent:x \
         calendar:a#scheduler@agent:y,owner:b",
        "calendar:a#scheduler@agent:z,owner:b calendar:a#owner@agent:x",
    );
}

#[test]
fn a_frozen_thread_takes_nothing() {
    let (joined, send) = ("thread:t#participant@owner:a", "thread:t#can_send@owner:a");
    assert_holds(joined, send, "");
    for frozen in ["*", "owner:a"] {
        assert_holds(&format!("{joined} thread:t#frozen@{frozen}"), "", send);
    }
}

/// A model in which every relation can lead to every other.
const TANGLED: Model = &[Kind {
    name: "node",
    meaning: "",
    governed_by: None,
    hidden_by: None,
    relations: &[
        tangled("parent", &[SubjectKind::Object("node")], Rule::Stated),
        tangled("banned", &[SubjectKind::Person, SubjectKind::All], Rule::Stated),
        tangled(
            "a",
            &[SubjectKind::Person, SubjectKind::Set("node", "a"), SubjectKind::Set("node", "b")],
            Rule::Any(&[Rule::Stated, Rule::FromObject("parent", "b")]),
        ),
        tangled(
            "b",
            &[SubjectKind::Person, SubjectKind::All, SubjectKind::Set("node", "a")],
            Rule::Any(&[
                Rule::Except(&Rule::Stated, &Rule::Computed("banned")),
                Rule::All(&[Rule::Computed("a"), Rule::FromObject("parent", "a")]),
            ]),
        ),
    ],
}];

const fn tangled(name: &'static str, stated_of: &'static [SubjectKind], rule: Rule) -> Relation {
    Relation { name, meaning: "", stated_of, granted_to: &[], rule, askers: Askers::Subject }
}

/// Returns everything that holds for one person, by applying every rule until nothing new follows.
fn fixpoint(graph: &Stated, objects: &[&str], person: &str) -> BTreeSet<(String, String)> {
    fn follows(
        rule: &Rule,
        object: &str,
        relation: &str,
        graph: &Stated,
        person: &str,
        holds: &BTreeSet<(String, String)>,
    ) -> bool {
        let of_it = |name: &str| {
            let name = name.to_owned();
            let found = graph.iter().filter(move |found| found.0 == object && found.1 == name);
            found.map(|tuple| tuple.2.as_str())
        };
        let held = |object: &str, name: &str| holds.contains(&(object.to_owned(), name.to_owned()));
        let again = |rule: &Rule| follows(rule, object, relation, graph, person, holds);
        match rule {
            Rule::Stated => of_it(relation).any(|subject| {
                let set = subject.split_once('#');
                subject == person || subject == "*" || set.is_some_and(|(at, name)| held(at, name))
            }),
            Rule::Computed(name) => held(object, name),
            Rule::FromObject(link, name) => of_it(link).any(|other| held(other, name)),
            Rule::Any(rules) => rules.iter().any(again),
            Rule::All(rules) => rules.iter().all(again),
            Rule::Except(rule, taken) => {
                let is_them = |subject: &str| subject == person || subject == "*";
                let is_taken =
                    matches!(taken, Rule::Computed("banned")) && of_it("banned").any(is_them);
                again(rule) && !is_taken
            }
            _ => unreachable!("not in this model"),
        }
    }
    let mut holds = BTreeSet::new();
    loop {
        let before = holds.len();
        for object in objects {
            for relation in TANGLED[0].relations {
                if follows(&relation.rule, object, relation.name, graph, person, &holds) {
                    holds.insert(((*object).to_owned(), relation.name.to_owned()));
                }
            }
        }
        if holds.len() == before {
            return holds;
        }
    }
}

const NODES: [&str; 3] = ["node:1", "node:2", "node:3"];

fn any_tuple() -> impl Strategy<Value = (String, String, String)> {
    let subjects = [
        "owner:p", "owner:q", "*", "node:1", "node:2", "node:3", "node:1#a", "node:2#a",
        "node:3#a", "node:1#b", "node:2#b", "node:3#b",
    ];
    let relations = ["parent", "banned", "a", "b"];
    let drawn = (
        prop::sample::select(&NODES),
        prop::sample::select(relations.to_vec()),
        prop::sample::select(subjects.to_vec()),
    );
    drawn.prop_filter_map("the model takes it", |(object, relation, subject)| {
        let who = subject_kind(TANGLED, subject)?;
        let fits =
            kind(TANGLED, "node")?.relation(relation)?.subjects().any(|subject| subject == who);
        fits.then(|| (object.to_owned(), relation.to_owned(), subject.to_owned()))
    })
}

proptest! {
    #[test]
    fn evaluation_agrees_with_a_fixpoint(
        graph in prop::collection::btree_set(any_tuple(), 0..14),
    ) {
        for person in ["owner:p", "owner:q"] {
            let all = fixpoint(&graph, &NODES, person);
            for node in NODES {
                for relation in TANGLED[0].relations {
                    let evaluated = ask(TANGLED, &graph, node, relation.name, &principal(person));
                    let expected = all.contains(&(node.to_owned(), relation.name.to_owned()));
                    prop_assert_eq!(evaluated.is_some(), expected, "{}#{}@{}", node, relation.name, person);
                    for step in evaluated.into_iter().flatten() {
                        let Some(subject) = step.subject else { continue };
                        prop_assert!(graph.contains(&(step.object, step.relation.to_owned(), subject)));
                    }
                }
            }
        }
    }
}

#[test]
fn a_chain_that_is_too_long_is_not_followed() {
    let chain = |length: u32| {
        let mut graph = Stated::new();
        for number in 0..length {
            graph.insert((format!("node:{number}"), "a".into(), format!("node:{}#a", number + 1)));
        }
        graph.insert((format!("node:{length}"), "a".into(), "owner:p".into()));
        ask(TANGLED, &graph, "node:0", "a", &principal("owner:p")).is_some()
    };
    assert!(chain(MOST_HOPS));
    assert!(!chain(MOST_HOPS + 1));
}

#[test]
fn a_hostile_graph_is_given_up() {
    let mut graph = Stated::new();
    for (from, to) in (0..20).flat_map(|from| (0..20).map(move |to| (from, to))) {
        graph.insert((format!("node:{from}"), "a".into(), format!("node:{to}#a")));
    }
    let object = Object::parse(TANGLED, "node:0").unwrap();
    let relation = object.kind.relation("a").unwrap();
    let evaluated = evaluate(TANGLED, &mut Graph(&graph), &object, relation, &principal("owner:p"));
    assert_eq!(evaluated, Err(LimitExceeded));
}
