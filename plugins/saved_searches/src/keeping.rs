//! Saved searches, from `create` to `delete`.

use crate::{anchors, documents::*, following, notices, refusals::*, states::*, types::*};
use listing_search::{CARDS, Prepared, ensure_old_enough};
use people_kit::people;
use people_kit::text::{Faults, Lines, public};
use portolan_sdk::{matching::Index, prelude::*};
use record_search::Plan;

pub(crate) fn create(call: &Call, input: Create) -> Result<Answer<SearchView>> {
    let owner_id = call.require_owner()?.to_owned();
    let name = checked_name(&input.name)?;
    let sought = sought(call, &owner_id, (input.query, input.map_query))?;
    let id = call.new_id("sav");
    if OWNER_SEARCHES.enter(&owner_id, &id)? > MOST_SEARCHES {
        return Err(SavedSearchError::SavedSearchLimitReached);
    }
    let value = SavedSearch {
        owner_id,
        name,
        indexed: Indexed { anchors: anchors::of(&sought)? },
        sought,
        frequency: input.frequency,
        state: State::Active,
        changed_at: call.now(),
        since: call.now(),
        active_since: call.now(),
    };
    let search = SEARCHES.add(id, value, call.now())?;
    let next = Next::action(CAPABILITY, "preview").field("search_id", search.id.as_str());
    Ok(Answer::new(view(&search)?).next(next))
}

pub(crate) fn update(call: &Call, input: Update) -> Result<SearchView> {
    let mut search = load_for_change(call, &input.search_id, input.expected_version)?;
    search.step(&SEARCH, "update")?;
    let value = &mut search.value;
    if let Some(name) = input.name {
        value.name = checked_name(&name)?;
    }
    if input.query.is_some() || input.map_query.is_some() {
        ensure_same_kind(&value.sought, &input.query, &input.map_query)?;
        let sought = sought(call, &value.owner_id, (input.query, input.map_query))?;
        let conditions = |sought: &Sought| Some(sought.listings()?.conditions.clone());
        if conditions(&sought) != conditions(&value.sought) {
            value.active_since = call.now();
        }
        value.sought = sought;
    }
    if let Some(frequency) = input.frequency {
        value.frequency = frequency;
        notices::reschedule(call, &search)?;
    }
    save(call, search)
}

pub(crate) fn pause(call: &Call, input: &Step) -> Result<SearchView> {
    let mut search = load_for_change(call, &input.search_id, input.expected_version)?;
    search.step(&SEARCH, "pause")?;
    notices::drop_news(&search.id)?;
    save(call, search)
}

pub(crate) fn resume(call: &Call, input: &Step) -> Result<SearchView> {
    let mut search = load_for_change(call, &input.search_id, input.expected_version)?;
    search.step(&SEARCH, "resume")?;
    search.value.active_since = call.now();
    save(call, search)
}

pub(crate) fn delete(call: &Call, input: &Step) -> Result<SearchView> {
    let mut search = load_for_change(call, &input.search_id, input.expected_version)?;
    search.step(&SEARCH, "delete")?;
    notices::forget(&search.id)?;
    OWNER_SEARCHES.leave(&search.value.owner_id, &search.id)?;
    SEARCHES.delete(&search.id, Expect::Revision(search.revision))?;
    view(&search)
}

pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<SearchView>>> {
    Items::own(call, |owner_id| {
        let states = input.state.map(|states| field("state").one_of(states));
        let filter = field("owner_id").eq(owner_id).and(states);
        let page = SEARCHES.find(input.page.last_changed(filter))?;
        Items::try_of(page, |search| view(&search))
    })
}

pub(crate) fn view(search: &Stored<SavedSearch>) -> Result<SearchView> {
    let value = &search.value;
    let news = NEWS.get_or_default(&search.id)?.value;
    let is_waiting = news.count > 0;
    Ok(view!(value => SearchView {
        name, frequency, state;
        search_id: search.id.clone(),
        query: value.sought.listings().map(|prepared| prepared.conditions.clone()),
        map_query: value.sought.records().cloned(),
        version: search.revision,
        allowed_actions: SEARCH.allowed(value.state),
        waiting: news.count,
        next_event_at: is_waiting.then(|| rfc3339(news.due_at)),
        created_at: rfc3339(search.created_at),
    }))
}

/// Returns a saved search of the caller; refuses if it does not have the expected version.
fn load_for_change(
    call: &Call,
    search_id: &str,
    expected: Option<Version>,
) -> Result<Stored<SavedSearch>> {
    let search = SavedSearch::load_own(call, search_id)?;
    let current = || view(&search).ok();
    search.ensure_version(expected, current, read(search_id))?;
    Ok(search)
}

/// Saves a search with the keys by which it is found.
fn save(call: &Call, mut search: Stored<SavedSearch>) -> Result<SearchView> {
    let value = &mut search.value;
    value.changed_at = call.now();
    value.indexed.anchors = match value.state {
        State::Active => anchors::of(&value.sought)?,
        State::Paused | State::Deleted => Vec::new(),
    };
    search.save()?;
    view(&search)
}

/// Returns the conditions of a search, from the one of the two inputs that is given. A search of the map also
/// lets the changes of the feeds be followed.
fn sought(
    call: &Call,
    owner_id: &str,
    given: (Option<Conditions>, Option<Filters>),
) -> Result<Sought> {
    match given {
        (Some(conditions), None) => Ok(Sought::Listings(Box::new(prepare(owner_id, conditions)?))),
        (None, Some(filters)) => {
            Plan::new(&filters, None).map_err(|error| error.within("/map_query"))?;
            following::begin(call)?;
            Ok(Sought::Records(Box::new(filters)))
        }
        _ => {
            let expected = "exactly one of query and map_query";
            Err(Refusal::validation("/query", "required", expected).into())
        }
    }
}

/// Refuses conditions of the other kind: a search for listings stays one, and so does a search of the map.
fn ensure_same_kind(
    sought: &Sought,
    query: &Option<Conditions>,
    map_query: &Option<Filters>,
) -> Result<()> {
    let (is_other, pointer, expected) = match sought {
        Sought::Listings(_) => (map_query.is_some(), "/map_query", "query, as for listings"),
        Sought::Records(_) => (query.is_some(), "/query", "map_query, as for the map"),
    };
    match is_other {
        true => Err(Refusal::validation(pointer, "replaceable", expected).into()),
        false => Ok(()),
    }
}

/// Returns the conditions with the taxonomy's comparisons. Refuses conditions that `agent_listings`
/// `search` would refuse.
fn prepare(owner_id: &str, conditions: Conditions) -> Result<Prepared> {
    if conditions == Conditions::default() {
        return Err(invalid("minProperties", "at least one condition").into());
    }
    let prepared = Prepared::new(conditions).map_err(|error| error.within("/query"))?;
    if prepared.min_age() > 0 {
        let age = people::person(owner_id)?.and_then(|person| person.age_at_least);
        ensure_old_enough(prepared.min_age(), age, true)?;
    }
    let index = Index::of(&CARDS)?;
    let query = prepared.query(prepared.filter(None));
    if index.fits(query, &index.document(&json!({}))?).is_err() {
        let expected = "words in q, and a bbox whose south is not above its north";
        return Err(invalid("answerable", expected).into());
    }
    Ok(prepared)
}

fn invalid(rule: &str, expected: &str) -> Refusal {
    let next = Next::action("agent_listings", "search");
    Refusal::validation("/query", rule, expected).next(next)
}

fn checked_name(name: &str) -> Result<String> {
    let mut faults = Faults::default();
    let name = public("/name", name, Lines::One, &mut faults);
    faults.check()?;
    Ok(name)
}
