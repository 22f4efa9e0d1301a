//! Booking links: a person lets those who have the link book them, or the people of a group.

use crate::{
    asking, bookings,
    cells::{self, *},
    documents::*,
    find, groups,
    limits::*,
    refusals,
    refusals::*,
    search::{Sought, Who},
    states::*,
    types::*,
    views::*,
};
use people_kit::{
    people, relations,
    text::{Faults, Lines, public},
    zones::Zone,
};
use portolan_sdk::prelude::*;

pub(crate) fn create(call: &Call, input: CreateLink) -> Result<Answer<LinkView>> {
    let me = call.require_owner()?;
    people::ensure_visible(me)?;
    let mut faults = Faults::default();
    let title = public("/title", &input.title, Lines::One, &mut faults);
    faults.check()?;
    let mut terms = input.terms;
    sought(&terms, 1)?;
    zone(&terms)?.name().clone_into(&mut terms.time_zone);
    let group_id = match input.group_id {
        Some(group_id) => {
            let group = groups::load_for_action(call, &group_id, "book")?;
            if !group.value.may_book {
                return Err(FinderError::BookingNotAgreed { group_id: group.id });
            }
            Some(group.id)
        }
        None if terms.mode == Mode::RoundRobin => {
            let expected = "`collective`, or a `group_id` with the people to book in turn";
            return Err(FinderError::invalid("/mode", "group_id", expected));
        }
        None => None,
    };
    LINKS_CREATED.count(call, DAYS, me, Next::action(CAPABILITY, "list_links"))?;
    let link = Link {
        owner_id: me.to_owned(),
        title,
        terms,
        group_id,
        turns: Vec::new(),
        booked: 0,
        state: State::Open,
        changed_at: call.now(),
    };
    let link = LINKS.add(call.new_id("lnk"), link, call.now())?;
    if OWN_LINKS.enter(me, &link.id)? > MOST_LINKS {
        let limit = MOST_LINKS as u64;
        return Err(FinderError::OpenLimitReached { name: "open_links", limit });
    }
    Ok(Answer::new(crate::views::link(Some(me), &link)).next(get_link(&link.id)))
}

pub(crate) fn close(call: &Call, input: &LinkStep) -> Result<LinkView> {
    let me = call.require_owner()?;
    let mut link = Link::load_own(call, &input.link_id)?;
    let view = || crate::views::link(Some(me), &link);
    link.ensure_version(input.expected_version, view, get_link(&link.id))?;
    link.step(&LINK, "close_link")?;
    OWN_LINKS.leave(me, &link.id)?;
    link.value.changed_at = call.now();
    link.save()?;
    let closed = LinkInput { link_id: link.id.as_str().into() };
    let timer = format!("link/{}", link.id);
    timers::set(&timer, call.now() + KEPT_FOR, "expire_link", &closed)?;
    Ok(crate::views::link(Some(me), &link))
}

/// Deletes a link that was closed a month ago.
pub(crate) fn expire(link_id: &str) -> Result<()> {
    if LINKS.get(link_id)?.is_some_and(|link| link.value.state == State::Closed) {
        LINKS.delete(link_id, Expect::Any)?;
    }
    Ok(())
}

pub(crate) fn list_own(me: &str, input: List) -> Result<Items<LinkView>> {
    let mine = field("owner_id").eq(me).and(input.state.map(groups::in_state));
    let links = LINKS.find(input.page.last_changed(mine))?;
    Ok(Items::of(links, |link| crate::views::link(Some(me), &link)))
}

pub(crate) fn read(call: &Call, link_id: &str) -> Result<LinkView> {
    Ok(crate::views::link(call.owner_id(), &load(call, link_id)?))
}

/// Returns a link that the caller may see: not one of a person whom they must not see.
fn load(call: &Call, link_id: &str) -> Result<Stored<Link>> {
    let link = Link::load(link_id)?;
    let owner_id = link.value.owner_id.as_str();
    match relations::hidden(call.owner_id(), [owner_id])?.is_empty() {
        true => Ok(link),
        false => Err(FinderError::LinkNotFound),
    }
}

/// A link that is open for guests.
struct Offer {
    link: Stored<Link>,
    /// The group whose people are booked.
    group: Option<Stored<Group>>,
    /// The people who are booked by it.
    hosts: Vec<String>,
}

impl Offer {
    /// Reads the offer of a link. Nobody can be booked if one of the hosts must not see the guest, if the group has
    /// closed, or if too few of its people agree.
    fn load(call: &Call, link_id: &str, action: &str) -> Result<Self> {
        let guest = call.require_owner()?;
        let link = load(call, link_id)?;
        LINK.step(&link.id, link.value.state, action)?;
        let (group, hosts) = match &link.value.group_id {
            None => (None, vec![link.value.owner_id.clone()]),
            Some(group_id) => {
                let group = GROUPS.get(group_id)?.filter(|group| group.value.state == State::Open);
                let group = group.ok_or(FinderError::LinkNotFound)?;
                let people = asking::agreed(&group.value)?;
                if asking::ensure_enough(&group, &people).is_err() {
                    return Err(FinderError::LinkNotFound);
                }
                (Some(group), people)
            }
        };
        let others = hosts.iter().map(String::as_str).filter(|host| *host != guest).collect();
        let askable = asking::askable(guest, others)?;
        let are_askable = hosts.iter().all(|host| host == guest || askable.contains(host));
        match are_askable {
            true => Ok(Self { link, group, hosts }),
            false => Err(FinderError::LinkNotFound),
        }
    }

    /// Counts a question of the guest. By a link of a group, it is one about the group and about each of its people
    /// but the owner of the link.
    fn count(&mut self, call: &Call, guest: &str) -> Result<()> {
        let next = get_link(&self.link.id);
        LINK_QUESTIONS.count(call, DAYS, guest, next.clone())?;
        let Some(group) = &mut self.group else { return Ok(()) };
        asking::count(call, group, &self.hosts, Some(guest), next)
    }
}

/// Refuses the owner of a link, by which others book.
fn ensure_guest(link: &Stored<Link>, me: &str) -> Result<()> {
    if link.value.owner_id != me {
        return Ok(());
    }
    let message = "This is the person's own link: others book by it.";
    Err(Refusal::common(ErrorCode::NotPermitted, message).next(get_link(&link.id)).into())
}

/// Returns times at which a guest can book by a link.
pub(crate) fn times(call: &Call, input: &LinkTimes) -> Result<Answer<LinkFound>> {
    let me = call.require_owner()?;
    let mut offer = Offer::load(call, &input.link_id, "link_times")?;
    if offer.group.is_some() {
        ensure_guest(&offer.link, me)?;
    }
    let terms = &offer.link.value.terms;
    let sought = sought(terms, input.limit)?;
    let (from, to) =
        cells::window(call, input.from.as_deref(), input.to.as_deref(), terms.min_notice_min)?;
    let to = to.min(down(call.now() + u64::from(terms.horizon_days) * DAY));
    offer.count(call, me)?;
    let Offer { link, hosts, .. } = offer;
    let terms = &link.value.terms;
    let is_full = terms.most_bookings.is_some_and(|most| link.value.booked >= most);
    let items = match to > from && !is_full {
        true => {
            let full = FullDays::read(&link, from, to)?;
            let board = board(call, terms, &hosts, from, to)?;
            find::times(&board, &sought, |start| full.has_room(start))
        }
        false => Vec::new(),
    };
    let next = items.first().map(|time| {
        let next = Next::action(CAPABILITY, "book_link").field("link_id", link.id.as_str());
        next.field("start", time.start.as_str())
    });
    Ok(Answer::with(LinkFound { items }, next))
}

/// Books those behind a link at a time, or refuses.
pub(crate) fn book(call: &Call, input: &BookLink) -> Result<Answer<BookingView>> {
    let me = call.require_owner()?;
    let mut offer = Offer::load(call, &input.link_id, "book_link")?;
    ensure_guest(&offer.link, me)?;
    let terms = offer.link.value.terms.clone();
    let begins = start(call, "/start", &input.start)?;
    let ends = begins + millis(terms.duration_min);
    offer.count(call, me)?;
    let Offer { mut link, hosts, .. } = offer;
    ensure_within_limits(call, &link, me, begins)?;
    let taken = || FinderError::taken(begins, refusals::link_times(&link.id));
    let earliest = up(call.now() + millis(terms.min_notice_min));
    if begins < earliest || ends > call.now() + u64::from(terms.horizon_days) * DAY {
        return Err(taken());
    }
    let free = find::free(&board(call, &terms, &hosts, begins, ends)?);
    let is_free = hosts.iter().zip(free).filter(|(_, free)| *free);
    let free: Vec<String> = is_free.map(|(host, _)| host.clone()).collect();
    let (booked, host) = match terms.mode {
        Mode::Collective if free.len() == hosts.len() => (hosts, None),
        Mode::Collective => return Err(taken()),
        Mode::RoundRobin => {
            let others = free.into_iter().filter(|host| host != me);
            let host = bookings::next_in_turn(call, &link.value.turns, others).ok_or_else(taken)?;
            (vec![host.clone()], Some(host))
        }
    };
    let guest = std::iter::once(me.to_owned());
    let booking = Booking {
        by: me.to_owned(),
        attendees: guest.chain(booked.into_iter().filter(|host| host != me)).collect(),
        title: link.value.title.clone(),
        title_by: link.value.owner_id.clone(),
        begins,
        ends,
        group_id: None,
        link_id: Some(link.id.clone()),
        host,
        state: BookingState::Confirmed,
        created_at: call.now(),
        changed_at: call.now(),
    };
    let booking = bookings::reserve(call, booking, taken())?;
    // Every booking writes the link, so of two concurrent ones one runs again, and counts the other.
    link.value.booked += 1;
    if let Some(host) = &booking.value.host {
        bookings::take_turn(&mut link.value.turns, host);
    }
    link.save()?;
    Ok(Answer::new(crate::views::booking(call, &booking)).next(get_booking(&booking.id)))
}

/// Refuses if the guest, the day or the link has as many bookings as allowed.
fn ensure_within_limits(call: &Call, link: &Stored<Link>, guest: &str, begins: u64) -> Result<()> {
    let terms = &link.value.terms;
    let refuse = |name, limit: u32| {
        let limit = u64::from(limit);
        Err(FinderError::BookingLimitReached { link_id: link.id.clone(), name, limit })
    };
    if let Some(most) = terms.most_bookings.filter(|most| link.value.booked >= *most) {
        return refuse("bookings_of_a_link", most);
    }
    let since = call.now().saturating_sub(GUEST_COUNTED_FOR);
    let theirs = field("link_id").eq(&link.id).and(field("by").eq(guest));
    let theirs = theirs.and(field("created_at").gt(since));
    if BOOKINGS.count(theirs)? >= u64::from(terms.most_per_person) {
        return refuse("bookings_of_a_person", terms.most_per_person);
    }
    if !FullDays::read(link, begins, begins)?.has_room(begins) {
        return refuse("bookings_of_a_day", terms.most_per_day);
    }
    Ok(())
}

fn confirmed(link_id: &str) -> Filter {
    field("link_id").eq(link_id).and(field("state").eq(BookingState::Confirmed))
}

/// The days on which a link has as many bookings as allowed, in its time zone.
struct FullDays {
    zone: Zone,
    full: Vec<String>,
}

impl FullDays {
    /// Reads the days of a window.
    fn read(link: &Stored<Link>, from: u64, to: u64) -> Result<Self> {
        let zone = zone(&link.value.terms)?;
        // A day has at most 26 hours.
        let near = field("begins").gte(from.saturating_sub(2 * DAY));
        let near = near.and(field("begins").lte(to + 2 * DAY));
        let query = Query::new().filter(confirmed(&link.id).and(near)).limit(1_000);
        let mut days = Vec::new();
        for hit in BOOKINGS.all(query) {
            days.push(day(&zone, hit?.document.value.begins));
        }
        days.sort_unstable();
        let most = usize::try_from(link.value.terms.most_per_day).unwrap_or(usize::MAX);
        let groups = days.chunk_by(|one, other| one == other);
        let full = groups.filter(|group| group.len() >= most);
        Ok(Self { zone, full: full.filter_map(|group| group.first().cloned()).collect() })
    }

    /// Returns whether a booking can begin at this instant.
    fn has_room(&self, start: u64) -> bool {
        !self.full.contains(&day(&self.zone, start))
    }
}

/// Returns the local date of an instant.
fn day(zone: &Zone, at: u64) -> String {
    zone.date(i64::try_from(at).unwrap_or(i64::MAX)).to_string()
}

fn zone(terms: &Terms) -> Result<Zone> {
    let expected = "the name of a time zone, such as Europe/Berlin";
    Zone::named(&terms.time_zone)
        .ok_or_else(|| FinderError::invalid("/time_zone", "time_zone", expected))
}

/// Reads the cells of those who are booked in a window with its buffers.
fn board(call: &Call, terms: &Terms, hosts: &[String], from: u64, to: u64) -> Result<Board> {
    let from = from.saturating_sub(millis(terms.buffer_before_min));
    Board::read(call, hosts, from, to + millis(terms.buffer_after_min), None)
}

/// Returns the terms as a search in cells.
fn sought(terms: &Terms, most: u32) -> Result<Sought> {
    Ok(Sought {
        length: cells_in("/duration_min", terms.duration_min)?,
        before: cells_in("/buffer_before_min", terms.buffer_before_min)?,
        after: cells_in("/buffer_after_min", terms.buffer_after_min)?,
        who: match terms.mode {
            Mode::Collective => Who::AllBut(0),
            Mode::RoundRobin => Who::One,
        },
        most: usize::try_from(most).unwrap_or(1),
    })
}
