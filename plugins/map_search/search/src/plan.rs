//! The plan of a search: what it reads, and in which order.

use crate::{filters, inputs::*, organisations::Organisations, records::*, refusals::*, travel};
use portolan_sdk::{
    documents::{NoWords, ensure_words},
    prelude::*,
};

/// The maximum number of values of one comparison.
const VALUES: usize = 200;

/// A search that can be made.
#[derive(Debug)]
pub struct Plan<'f> {
    filters: &'f Filters,
    /// In the order of [`RecordType::ALL`].
    pub types: Vec<RecordType>,
    pub sort: Sort,
    /// The organisations to which the records must belong; `None` if no filter is about organisations or only
    /// organisations are searched.
    pub organisations: Option<Organisations>,
}

impl<'f> Plan<'f> {
    /// Checks a search, and loads the organisations to which its records must belong.
    pub fn new(filters: &'f Filters, sort: Option<Sort>) -> Result<Self> {
        ensure_words(filters.q.as_deref()).map_err(|NoWords| SearchError::QueryEmpty)?;
        ensure_sortable(filters, sort)?;
        let types = types(filters, sort)?;
        let sort = sort.unwrap_or_else(|| default_sort(filters, &types));
        let is_joined = types.iter().any(|kind| *kind != RecordType::Organisation);
        let organisations = if is_joined { Organisations::load(filters)? } else { None };
        Ok(Self { filters, types, sort, organisations })
    }

    /// Returns the query of a type's feed.
    pub fn query(&self, kind: RecordType) -> Result<Query> {
        self.query_of(kind, None)
    }

    /// Returns the records of a type with these ids that the search finds; they have all words.
    pub fn among(&self, kind: RecordType, ids: &[&str]) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for ids in ids.chunks(VALUES) {
            let query = self.query_of(kind, Some(field("id").one_of(ids)))?;
            // By relevance, records with some of the words would be found, too.
            let mut query = query.last(kind.paths().date).limit(VALUES as u32);
            loop {
                let batch = kind.find(query.clone())?;
                entries.extend(batch.entries);
                let Some(next) = batch.next else { break };
                query = query.cursor(next);
            }
        }
        Ok(entries)
    }

    fn query_of(&self, kind: RecordType, among: Option<Filter>) -> Result<Query> {
        let filters = self.filters;
        let condition = filters::condition(kind, filters, self.organisations.as_ref())?;
        let condition = condition.and(among);
        let query = Query::new().filter(condition).text(filters.q.clone().map(Into::into));
        match kind {
            RecordType::Organisation => {
                Ok(query.near(travel::circle(filters)?).within(filters.bbox))
            }
            _ => Ok(query),
        }
    }
}

/// Refuses a sort without the value that it sorts by.
fn ensure_sortable(filters: &Filters, sort: Option<Sort>) -> Result<()> {
    match sort {
        Some(Sort::Relevance) if filters.q.is_none() => Err(missing_q()),
        Some(Sort::Distance) if filters.near.is_none() => {
            Err(missing_near("a point whose distance to sort by"))
        }
        _ => Ok(()),
    }
}

/// Returns the types that a search finds, in the order of [`RecordType::ALL`]. Refuses filters of other types than
/// those that are chosen.
pub fn searched_types(filters: &Filters) -> Result<Vec<RecordType>> {
    types(filters, None)
}

/// Returns the types to search, in the order of [`RecordType::ALL`].
fn types(filters: &Filters, sort: Option<Sort>) -> Result<Vec<RecordType>> {
    let has_sort = |kind: &RecordType| sort.is_none_or(|sort| kind.order(sort).is_some());
    let in_order = |chosen: &[RecordType]| -> Vec<RecordType> {
        RecordType::ALL.into_iter().filter(|kind| chosen.contains(kind)).collect()
    };
    let filtered = filtered_types(filters);
    if let Some(chosen) = &filters.types {
        if let Some((_, name)) = filtered.iter().find(|(kind, _)| !chosen.contains(kind)) {
            return Err(fault(
                "/types",
                "contains",
                &format!("the type of the filter `{name}` too"),
            ));
        }
        if let Some(kind) = chosen.iter().find(|kind| !has_sort(kind)) {
            let kind = to_value(kind);
            let expected = format!("a sort that {kind} has, or `types` without {kind}");
            return Err(fault("/sort", "enum", &expected));
        }
        return Ok(in_order(chosen));
    }
    let by_default = match (filtered.as_slice(), &filters.q) {
        ([], Some(_)) => RecordType::ALL.to_vec(),
        ([], None) => vec![RecordType::Organisation],
        (filtered, _) => filtered.iter().map(|(kind, _)| *kind).collect(),
    };
    let sorted: Vec<_> = in_order(&by_default).into_iter().filter(has_sort).collect();
    match (sorted.is_empty(), filtered.is_empty()) {
        (false, _) => Ok(sorted),
        (true, true) => Ok(RecordType::ALL.into_iter().filter(has_sort).collect()),
        (true, false) => Err(fault("/sort", "enum", "a sort that the filtered types have")),
    }
}

/// Returns the types that have filters of their own, with the names of these.
fn filtered_types(filters: &Filters) -> Vec<(RecordType, &'static str)> {
    let filtered = [
        (filters.role.is_some(), RecordType::Role, "role"),
        (filters.person.is_some(), RecordType::Person, "person"),
        (filters.signal.is_some(), RecordType::Signal, "signal"),
        (filters.event.is_some(), RecordType::Event, "event"),
    ];
    filtered
        .into_iter()
        .filter(|(is_set, ..)| *is_set)
        .map(|(_, kind, name)| (kind, name))
        .collect()
}

fn default_sort(filters: &Filters, types: &[RecordType]) -> Sort {
    let is_alone = types == [RecordType::Organisation];
    match (&filters.q, &filters.near) {
        (Some(_), _) => Sort::Relevance,
        (None, Some(_)) if is_alone => Sort::Distance,
        (None, None) if is_alone => Sort::Name,
        _ => Sort::Newest,
    }
}

fn to_value(kind: &RecordType) -> String {
    format!("`{}`", portolan_sdk::to_value(kind).as_str().unwrap_or_default())
}
