//! What a search reads, and in which order.

use crate::{filters, inputs::*, organisations::Organisations, records::*, travel, types::*};
use portolan_sdk::{
    documents::{NoWords, ensure_words},
    prelude::*,
};

/// A search that can be made.
pub(crate) struct Plan<'f> {
    filters: &'f Filters,
    /// In the order of [`RecordType::ALL`].
    pub(crate) types: Vec<RecordType>,
    pub(crate) sort: Sort,
    /// The organisations to which the records must belong; `None` if no filter is about organisations or only
    /// organisations are searched.
    pub(crate) organisations: Option<Organisations>,
}

impl<'f> Plan<'f> {
    /// Checks a search, and loads the organisations to which its records must belong.
    pub(crate) fn new(filters: &'f Filters, sort: Option<Sort>) -> Result<Self> {
        ensure_words(filters.q.as_deref()).map_err(|NoWords| MapError::QueryEmpty)?;
        ensure_sortable(filters, sort)?;
        let types = types(filters, sort)?;
        let sort = sort.unwrap_or_else(|| default_sort(filters, &types));
        let is_joined = types.iter().any(|kind| *kind != RecordType::Organisation);
        let organisations = if is_joined { Organisations::load(filters)? } else { None };
        Ok(Self { filters, types, sort, organisations })
    }

    /// Returns the query of a type's feed.
    pub(crate) fn query(&self, kind: RecordType) -> Result<Query> {
        let filters = self.filters;
        let condition = filters::condition(kind, filters, self.organisations.as_ref())?;
        let query = Query::new().filter(condition).text(filters.q.clone().map(Into::into));
        match kind {
            RecordType::Organisation => {
                Ok(query.near(travel::circle(filters)?).within(filters.bbox))
            }
            _ => Ok(query),
        }
    }
}

/// Refuses a sort without what it sorts by.
fn ensure_sortable(filters: &Filters, sort: Option<Sort>) -> Result<()> {
    match sort {
        Some(Sort::Relevance) if filters.q.is_none() => Err(missing_q()),
        Some(Sort::Distance) if filters.near.is_none() => {
            Err(missing_near("a point whose distance to sort by"))
        }
        _ => Ok(()),
    }
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
