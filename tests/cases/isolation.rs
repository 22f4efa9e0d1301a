//! Isolation: histories of concurrent units, searched for anomalies, which no serial order of the
//! units can explain.
//!
//! The method is Adya's: revisions give the order of each document's versions, and the versions
//! give three kinds of dependencies between units. A history is serializable if the dependencies
//! have no cycle, and strictly serializable if they have none together with the order in time (a
//! unit that ended before another one began).

use crate::{cases::store::Opened, on_both};
use portolan_store::{
    Attachments, Collection, Expectation, Unit, Verdict,
    query::{Query, Request},
};
use portolan_vocabulary::{self as vocabulary, Index, Timestamp};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

const TASKS: u64 = 16;
const UNITS: u64 = 250;
const DOCUMENTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

on_both! {
    concurrent_units_are_serializable
    documents_that_a_query_does_not_find_are_not_protected
    a_unique_value_protects_against_phantoms
    a_document_of_a_known_id_protects_against_phantoms
}

/// A document at a revision.
type Version = (&'static str, u64);

/// The reads and writes of a committed unit.
#[derive(Debug, Clone, Default)]
struct CommittedUnit {
    begun: u64,
    ended: u64,
    reads: Vec<Version>,
    /// The written versions; each has the revision after the one that the unit read.
    writes: Vec<Version>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// The second unit overwrote a version that the first one wrote.
    Overwritten,
    /// The second unit read a version that the first one wrote.
    Read,
    /// The second unit overwrote a version that the first one read.
    Outdated,
    /// The first unit ended before the second one began.
    Earlier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anomaly {
    /// Two units wrote the same version, or nobody wrote a version that was read or overwritten.
    Torn,
    DirtyWrite,
    CircularInformation,
    LostUpdate,
    ReadSkew,
    WriteSkew,
    /// The units are serializable, but not in their order in time.
    Stale,
}

/// Returns an anomaly of the history and the units of its cycle; `None` if the history is strictly
/// serializable.
fn find_anomaly(history: &[CommittedUnit]) -> Option<(Anomaly, Vec<CommittedUnit>)> {
    let mut writers: BTreeMap<Version, usize> = BTreeMap::new();
    for (at, unit) in history.iter().enumerate() {
        for version in &unit.writes {
            if let Some(other) = writers.insert(*version, at) {
                return Some((Anomaly::Torn, vec![history[other].clone(), unit.clone()]));
            }
        }
    }
    let gap = |(document, revision): &Version| {
        *revision > 1 && !writers.contains_key(&(*document, revision - 1))
    };
    if let Some((_, at)) = writers.iter().find(|(version, _)| gap(version)) {
        return Some((Anomaly::Torn, vec![history[*at].clone()]));
    }
    let mut edges = vec![Vec::new(); history.len()];
    for (at, unit) in history.iter().enumerate() {
        for (document, revision) in &unit.writes {
            if let Some(next) = writers.get(&(*document, revision + 1)) {
                edges[at].push((*next, Edge::Overwritten));
            }
        }
        for (document, revision) in &unit.reads {
            match writers.get(&(*document, *revision)) {
                Some(writer) => edges[*writer].push((at, Edge::Read)),
                None => return Some((Anomaly::Torn, vec![unit.clone()])),
            }
            if let Some(next) = writers.get(&(*document, revision + 1)) {
                edges[at].push((*next, Edge::Outdated));
            }
        }
    }
    for (at, edges) in edges.iter_mut().enumerate() {
        edges.retain(|(to, _)| *to != at);
    }
    let found = shortest_cycle(&edges).or_else(|| {
        for (at, unit) in history.iter().enumerate() {
            let later = history.iter().enumerate().filter(|(_, other)| unit.ended < other.begun);
            edges[at].extend(later.map(|(other, _)| (other, Edge::Earlier)));
        }
        shortest_cycle(&edges)
    })?;
    let units = found.iter().map(|(at, _)| history[*at].clone()).collect();
    let kinds: Vec<_> = found.iter().map(|(_, edge)| *edge).collect();
    Some((classify(&kinds, &found, history), units))
}

fn classify(kinds: &[Edge], cycle: &[(usize, Edge)], history: &[CommittedUnit]) -> Anomaly {
    let count = |kind| kinds.iter().filter(|edge| **edge == kind).count();
    if count(Edge::Earlier) > 0 {
        return Anomaly::Stale;
    }
    match (count(Edge::Outdated), count(Edge::Read)) {
        (0, 0) => Anomaly::DirtyWrite,
        (0, _) => Anomaly::CircularInformation,
        (1, _) => {
            // A lost update is a unit that overwrote a document without knowing a version after the
            // one it read.
            let over = cycle.iter().find(|(_, edge)| *edge == Edge::Outdated).is_some_and(|step| {
                let unit = &history[step.0];
                let next = |(document, revision): &Version| {
                    unit.writes
                        .iter()
                        .any(|(written, later)| written == document && *later > revision + 1)
                };
                unit.reads.iter().any(next)
            });
            if over { Anomaly::LostUpdate } else { Anomaly::ReadSkew }
        }
        _ => Anomaly::WriteSkew,
    }
}

/// Returns a shortest cycle, as its units, each with the edge to the next one; `None`
/// if there is no cycle.
fn shortest_cycle(edges: &[Vec<(usize, Edge)>]) -> Option<Vec<(usize, Edge)>> {
    // A unit without an incoming edge is on no cycle. It is removed with its edges,
    // until each unit has one.
    let mut leading = vec![0_usize; edges.len()];
    edges.iter().flatten().for_each(|(to, _)| leading[*to] += 1);
    let mut removable: Vec<_> = (0..edges.len()).filter(|at| leading[*at] == 0).collect();
    while let Some(at) = removable.pop() {
        for (to, _) in &edges[at] {
            leading[*to] -= 1;
            if leading[*to] == 0 {
                removable.push(*to);
            }
        }
    }
    let cycles = (0..edges.len()).filter(|at| leading[*at] > 0);
    cycles.filter_map(|start| shortest_cycle_through(edges, start)).min_by_key(Vec::len)
}

fn shortest_cycle_through(
    edges: &[Vec<(usize, Edge)>],
    start: usize,
) -> Option<Vec<(usize, Edge)>> {
    let mut predecessors: BTreeMap<usize, (usize, Edge)> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for (to, edge) in &edges[at] {
            if predecessors.contains_key(to) {
                continue;
            }
            predecessors.insert(*to, (at, *edge));
            queue.push_back(*to);
        }
        if predecessors.contains_key(&start) {
            let mut found = vec![predecessors[&start]];
            while found[found.len() - 1].0 != start {
                found.push(predecessors[&found[found.len() - 1].0]);
            }
            found.reverse();
            return Some(found);
        }
    }
    None
}

#[test]
fn the_search_for_anomalies_finds_each_kind() {
    let unit = |times: (u64, u64), reads: &[Version], writes: &[Version]| CommittedUnit {
        begun: times.0,
        ended: times.1,
        reads: reads.to_vec(),
        writes: writes.to_vec(),
    };
    let first = unit((0, 1), &[], &[("x", 1), ("y", 1)]);
    let found = |others: &[CommittedUnit]| {
        let history: Vec<_> = std::iter::once(&first).chain(others).cloned().collect();
        find_anomaly(&history).map(|(anomaly, units)| (anomaly, units.len()))
    };
    let at_once = (2, 9);
    let writes_x = unit(at_once, &[("x", 1)], &[("x", 2)]);
    let after_it = unit((3, 8), &[("x", 2), ("y", 1)], &[("x", 3), ("y", 2)]);
    assert_eq!(found(&[writes_x.clone(), after_it.clone()]), None);
    assert_eq!(found(&[writes_x.clone(), writes_x.clone()]), Some((Anomaly::Torn, 2)));
    assert_eq!(found(&[after_it]), Some((Anomaly::Torn, 1)));
    assert_eq!(found(&[unit(at_once, &[("x", 7)], &[])]), Some((Anomaly::Torn, 1)));
    let lost = [writes_x.clone(), unit(at_once, &[("x", 1)], &[("x", 3)])];
    assert_eq!(found(&lost), Some((Anomaly::LostUpdate, 2)));
    let both = [("x", 1), ("y", 1)];
    let skewed = [unit(at_once, &both, &[("x", 2)]), unit(at_once, &both, &[("y", 2)])];
    assert_eq!(found(&skewed), Some((Anomaly::WriteSkew, 2)));
    // Two writers are serializable without the third unit, which only reads, and not with it.
    let batch = [
        unit(at_once, &[("x", 1)], &[("y", 2)]),
        unit(at_once, &[("x", 1)], &[("x", 2)]),
        unit(at_once, &[("x", 2), ("y", 1)], &[]),
    ];
    assert_eq!(found(&batch[..2]), None);
    assert_eq!(found(&batch), Some((Anomaly::WriteSkew, 3)));
    let half =
        [unit(at_once, &both, &[("x", 2), ("y", 2)]), unit(at_once, &[("x", 1), ("y", 2)], &[])];
    assert_eq!(found(&half), Some((Anomaly::ReadSkew, 2)));
    let dirty =
        [unit(at_once, &[], &[("x", 2), ("y", 3)]), unit(at_once, &[], &[("x", 3), ("y", 2)])];
    assert_eq!(found(&dirty), Some((Anomaly::DirtyWrite, 2)));
    let circular =
        [unit(at_once, &[("y", 2)], &[("x", 2)]), unit(at_once, &[("x", 2)], &[("y", 2)])];
    assert_eq!(found(&circular), Some((Anomaly::CircularInformation, 2)));
    let stale = [unit((2, 3), &[("x", 1)], &[("x", 2)]), unit((4, 5), &[("x", 1)], &[])];
    assert_eq!(found(&stale), Some((Anomaly::Stale, 2)));
    assert_eq!(found(&[stale[0].clone(), unit((3, 5), &[("x", 1)], &[])]), None);
}

async fn collection(opened: &Opened, unique: bool) -> Collection {
    let declaration = vocabulary::Collection {
        name: "things".to_owned(),
        indexes: vec![Index { name: "name".to_owned(), paths: vec!["name".to_owned()], unique }],
        text: Vec::new(),
        geo: None,
        version: 1,
        people: None,
    };
    opened.store.declare("things", &[declaration]).await.unwrap().remove("things").unwrap()
}

fn unit(opened: &Opened) -> Unit {
    Unit::new(opened.store.clone(), Timestamp::from_millis(1_700_000_000_000))
}

async fn commit(unit: Unit) -> Verdict {
    unit.commit(Attachments::default()).await.unwrap()
}

/// The state that the tasks share.
struct Shared {
    opened: Opened,
    things: Collection,
    /// The logical time, which is raised at every beginning and end of a unit.
    clock: AtomicU64,
    /// The next value that is written.
    value: AtomicU64,
}

impl Shared {
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// Runs one unit: reads some documents, one by one or all at once, and writes some of them or
    /// none. Returns its reads and writes and the values of these versions; `None` if the commit
    /// was a conflict.
    async fn run(&self, random: &mut StdRng) -> Option<(CommittedUnit, BTreeMap<Version, u64>)> {
        let count = random.random_range(1..=3);
        let documents: Vec<_> = DOCUMENTS.sample(random, count).copied().collect();
        let mut done = CommittedUnit { begun: self.tick(), ..CommittedUnit::default() };
        let mut values = BTreeMap::new();
        let mut unit = unit(&self.opened);
        let found = if random.random_bool(0.5) {
            unit.get_many(&self.things, &documents).await.unwrap()
        } else {
            let mut found = Vec::new();
            for document in &documents {
                found.push(unit.get(&self.things, document).await.unwrap());
                tokio::task::yield_now().await;
            }
            found
        };
        for (document, found) in documents.iter().zip(found) {
            let found = found.unwrap();
            let body: Value = serde_json::from_str(&found.body).unwrap();
            done.reads.push((*document, found.revision));
            values.insert((*document, found.revision), body["value"].as_u64().unwrap());
        }
        for document in documents.iter().take(random.random_range(0..=2)) {
            let value = self.value.fetch_add(1, Ordering::Relaxed);
            let body = json!({ "value": value }).to_string();
            let revision = unit.put(&self.things, document, body, Expectation::Any).await.unwrap();
            done.writes.push((*document, revision));
            values.insert((*document, revision), value);
        }
        // As in the pipeline, a unit that wrote nothing and read with one statement
        // needs no validation.
        if !unit.has_no_writes() || unit.needs_validation() {
            let verdict = commit(unit).await;
            if verdict != Verdict::Committed {
                return None;
            }
        }
        done.ended = self.tick();
        Some((done, values))
    }
}

async fn concurrent_units_are_serializable(opened: Opened) {
    let things = collection(&opened, false).await;
    let clock = AtomicU64::new(2);
    let shared = Arc::new(Shared { opened, things, clock, value: AtomicU64::new(1) });
    let mut first = unit(&shared.opened);
    for document in DOCUMENTS {
        let body = json!({ "value": 0 }).to_string();
        first.put(&shared.things, document, body, Expectation::Absent).await.unwrap();
    }
    assert_eq!(commit(first).await, Verdict::Committed);
    let made = DOCUMENTS.map(|document| (document, 1)).to_vec();
    let mut history = vec![CommittedUnit { begun: 0, ended: 1, reads: Vec::new(), writes: made }];

    let mut tasks = Vec::new();
    for task in 0..TASKS {
        let shared = Arc::clone(&shared);
        tasks.push(tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(task);
            let mut all = Vec::new();
            for _ in 0..UNITS {
                all.extend(shared.run(&mut random).await);
            }
            all
        }));
    }
    let mut values: BTreeMap<Version, u64> = BTreeMap::new();
    for task in tasks {
        for (done, own) in task.await.unwrap() {
            for (version, value) in own {
                let known = *values.entry(version).or_insert(value);
                assert_eq!(known, value, "{version:?} has two contents: {done:?}");
            }
            history.push(done);
        }
    }
    let (writing, reading): (Vec<_>, Vec<_>) =
        history.iter().partition(|unit| !unit.writes.is_empty());
    assert!(writing.len() > 100 && reading.len() > 100, "{} {}", writing.len(), reading.len());
    if let Some((anomaly, units)) = find_anomaly(&history) {
        panic!("{anomaly:?}: {units:#?}");
    }
}

/// Runs two concurrent units that each query for a name, find no document, and add one; returns
/// both verdicts.
async fn two_that_add(opened: &Opened, things: &Collection, ids: [&str; 2]) -> [Verdict; 2] {
    let (mut one, mut other) = (unit(opened), unit(opened));
    for (unit, id) in [(&mut one, ids[0]), (&mut other, ids[1])] {
        let request = Request {
            filter: Some(r#"{"name":{"eq":"the only one"}}"#),
            text: None,
            near: None,
            within: None,
            order: &[],
            limit: 1,
            unchecked: false,
        };
        let query = Query::new(things.shape(), request).unwrap();
        assert!(unit.find(things, &query, None).await.unwrap().hits.is_empty());
        let body = json!({ "name": "the only one" }).to_string();
        unit.put(things, id, body, Expectation::Absent).await.unwrap();
    }
    [commit(one).await, commit(other).await]
}

async fn documents_that_a_query_does_not_find_are_not_protected(opened: Opened) {
    let things = collection(&opened, false).await;
    let verdicts = two_that_add(&opened, &things, ["a", "b"]).await;
    assert_eq!(verdicts, [Verdict::Committed, Verdict::Committed]);
}

async fn a_unique_value_protects_against_phantoms(opened: Opened) {
    let things = collection(&opened, true).await;
    let verdicts = two_that_add(&opened, &things, ["a", "b"]).await;
    assert!(matches!(verdicts, [Verdict::Committed, Verdict::Conflict(_)]), "{verdicts:?}");
}

async fn a_document_of_a_known_id_protects_against_phantoms(opened: Opened) {
    let things = collection(&opened, false).await;
    let verdicts = two_that_add(&opened, &things, ["the only one", "the only one"]).await;
    assert!(matches!(verdicts, [Verdict::Committed, Verdict::Conflict(_)]), "{verdicts:?}");
}
