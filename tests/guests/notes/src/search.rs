//! Converts an agent's search to a query.

use crate::{
    NOTES,
    types::{Count, CountSearch, Item, Results, Search},
};
use portolan_sdk::{
    documents::{Filter, Hit},
    prelude::*,
};

pub(crate) fn find(search: Search) -> Result<Results, HostError> {
    let query = Query::new()
        .filter(search.filter.map(Filter::from))
        .text(search.text)
        .near(search.near)
        .within(search.within)
        .limit(search.limit)
        .cursor(search.cursor);
    let query = search
        .order
        .into_iter()
        .fold(query, |query, order| query.order_by(order.path, order.direction));
    let page = NOTES.find(query)?;
    let item = |hit: Hit<_>| Item {
        id: hit.document.id,
        revision: hit.document.revision,
        relevance: hit.relevance,
        distance_m: hit.distance_m,
    };
    Ok(Results { items: page.hits.into_iter().map(item).collect(), next: page.next })
}

pub(crate) fn count(search: CountSearch) -> Result<Count, HostError> {
    Ok(Count { count: NOTES.count(search.filter.map(Filter::from))? })
}
