//! Which publishers' capabilities may call which, as a matrix.
//!
//! It is no drawing: with dozens of capabilities, the arrows are a knot, while an operator looks first for what crosses
//! from one publisher to another. In a matrix, that is each cell beside the diagonal, and a cell opens to its calls.

use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of publishers in the matrix.
const MAX_PUBLISHERS: usize = 12;
/// The column of capabilities that do not serve on this node.
const NOT_LOADED: &str = "not loaded";

/// A capability that serves, with the actions that it may call, each as the id of a capability, a dot and a name.
pub(super) struct Caller<'a> {
    pub(super) id: &'a str,
    pub(super) publisher: &'a str,
    pub(super) invokes: &'a [String],
}

/// The calls between publishers: a row for those of each, and a column for those to each.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<ReachRow>,
    /// The number of publishers that the matrix does not have.
    pub(super) left_out: usize,
}

#[derive(Debug)]
pub(super) struct ReachRow {
    pub(super) publisher: String,
    pub(super) cells: Vec<Cell>,
}

/// What capabilities of one publisher may call of another.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) to: String,
    /// Whether the call leads to another publisher.
    pub(super) is_other: bool,
    /// The pairs of capabilities, for people.
    pub(super) calls: Vec<String>,
}

impl Reach {
    pub(super) fn of(callers: &[Caller<'_>]) -> Self {
        let publishers: BTreeMap<&str, &str> =
            callers.iter().map(|caller| (caller.id, caller.publisher)).collect();
        let mut calls: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for caller in callers {
            for (id, _) in caller.invokes.iter().filter_map(|invoked| invoked.rsplit_once('.')) {
                let to = publishers.get(id).copied().unwrap_or(NOT_LOADED);
                let pair = format!("{} → {id}", caller.id);
                calls.entry((caller.publisher, to)).or_default().insert(pair);
            }
        }
        let named: BTreeSet<&str> = publishers.into_values().collect();
        let left_out = named.len().saturating_sub(MAX_PUBLISHERS);
        let named: Vec<&str> = named.into_iter().take(MAX_PUBLISHERS).collect();
        let is_missing = calls.keys().any(|(_, to)| *to == NOT_LOADED);
        let columns: Vec<&str> =
            named.iter().copied().chain(is_missing.then_some(NOT_LOADED)).collect();
        let cell = |from: &str, to: &str| Cell {
            to: to.to_owned(),
            is_other: from != to && to != NOT_LOADED,
            calls: calls.get(&(from, to)).into_iter().flatten().cloned().collect(),
        };
        let row = |from: &&str| ReachRow {
            publisher: (*from).to_owned(),
            cells: columns.iter().map(|to| cell(from, to)).collect(),
        };
        Self {
            rows: named.iter().map(row).collect(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            left_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_calls_from_one_publisher_to_another() {
        let invokes = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let (a, b, none) = (invokes(&["b.get", "b.put", "c.get"]), invokes(&["gone.get"]), vec![]);
        let callers = [("a", "host", &a), ("b", "host", &b), ("c", "key:other", &none)]
            .map(|(id, publisher, invokes)| Caller { id, publisher, invokes });
        let reach = Reach::of(&callers);
        assert_eq!(reach.columns, ["host", "key:other", NOT_LOADED]);
        let [own, other] = &reach.rows[..] else { panic!("{reach:?}") };
        assert_eq!((own.publisher.as_str(), other.publisher.as_str()), ("host", "key:other"));
        let calls: Vec<_> = own.cells.iter().map(|cell| cell.calls.join(", ")).collect();
        assert_eq!(calls, ["a → b", "a → c", "b → gone"]);
        let crosses: Vec<bool> = own.cells.iter().map(|cell| cell.is_other).collect();
        assert_eq!(crosses, [false, true, false]);
        assert!(other.cells.iter().all(|cell| cell.calls.is_empty()));
        assert_eq!(reach.left_out, 0);
    }

    #[test]
    fn many_publishers_are_bounded() {
        let names: Vec<String> = (0..20).map(|number| format!("p{number}")).collect();
        let callers: Vec<_> =
            names.iter().map(|name| Caller { id: name, publisher: name, invokes: &[] }).collect();
        let reach = Reach::of(&callers);
        assert_eq!((reach.rows.len(), reach.columns.len()), (MAX_PUBLISHERS, MAX_PUBLISHERS));
        assert_eq!(reach.left_out, 20 - MAX_PUBLISHERS);
    }
}
