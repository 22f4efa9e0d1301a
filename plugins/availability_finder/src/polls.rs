//! Polls: the people of a group say which of some times suit them.

use crate::{
    asking, cells::*, documents::*, groups, limits::*, notices, refusals, refusals::*, states::*,
    types::*, views::*,
};
use portolan_sdk::prelude::*;
use std::{cmp::Reverse, collections::BTreeSet};

pub(crate) fn open(call: &Call, input: &OpenPoll) -> Result<Answer<PollView>> {
    let me = call.require_owner()?;
    let group = groups::load_for_action(call, &input.group_id, "open_poll")?;
    cells_in("/duration_min", input.duration_min)?;
    let mut options = BTreeSet::new();
    for (number, text) in input.starts.iter().enumerate() {
        let pointer = format!("/starts/{number}");
        if !options.insert(start(call, &pointer, text)?) {
            let expected = "a time that is not offered twice";
            return Err(FinderError::invalid(&pointer, "distinct", expected));
        }
    }
    let closes_at = instant("/closes_at", &input.closes_at)?;
    if closes_at <= call.now() || closes_at > call.now() + LONGEST_POLL {
        let expected = "a time within the next 14 days";
        return Err(FinderError::invalid("/closes_at", "in_future", expected));
    }
    let mut voters = asking::agreed(&group.value)?;
    // People who do not see each other are not in one poll.
    let hidden = asking::hidden_from_another(&voters)?;
    voters.retain(|voter| !hidden.contains(voter));
    asking::ensure_enough(&group, &voters)?;
    let filter = field("group_id").eq(&group.id).and(groups::in_state(State::Open));
    if POLLS.count(filter)? >= MOST_POLLS as u64 {
        let limit = MOST_POLLS as u64;
        return Err(FinderError::OpenLimitReached { name: "open_polls_of_a_group", limit });
    }
    POLLS_OPENED.count(call, DAYS, me, get(&group.id))?;
    let poll = Poll {
        group_id: group.id.clone(),
        organizer: me.to_owned(),
        title: group.value.title.clone(),
        duration_min: input.duration_min,
        options: options.into_iter().collect(),
        voters,
        votes: Vec::new(),
        closes_at,
        state: State::Open,
        chosen: None,
        changed_at: call.now(),
    };
    let poll = POLLS.add(call.new_id("poll"), poll, call.now())?;
    let ended = PollInput { poll_id: poll.id.as_str().into() };
    timers::set(&timer(&poll.id), closes_at, "end_poll", &ended)?;
    notices::poll_opened(call, &poll)?;
    Ok(Answer::new(crate::views::poll(me, &poll)).next(get_poll(&poll.id)))
}

/// Stores the answers of the calling person. The last one closes the poll.
pub(crate) fn vote(call: &Call, input: CastVote) -> Result<Answer<PollView>> {
    let me = call.require_owner()?;
    let mut poll = Poll::load_own(call, &input.poll_id)?;
    // Past its deadline, a poll is closed although its timer may be late.
    if poll.value.closes_at <= call.now() {
        poll.value.state = State::Closed;
    }
    POLL.step_to(&poll.id, poll.value.state, "vote", State::Open)?;
    if input.answers.len() != poll.value.options.len() {
        let expected = "one answer for each option";
        return Err(FinderError::invalid("/answers", "as_options", expected));
    }
    poll.value.votes.retain(|vote| vote.owner_id != me);
    poll.value.votes.push(Vote { owner_id: me.to_owned(), answers: input.answers });
    match poll.value.votes.len() >= poll.value.voters.len() {
        true => close(call, &mut poll, "vote")?,
        false => save(call, &mut poll)?,
    }
    Ok(shown(me, &poll))
}

/// Closes a poll before its deadline, for its organizer.
pub(crate) fn close_early(call: &Call, input: &PollStep) -> Result<Answer<PollView>> {
    let me = call.require_owner()?;
    let mut poll = Poll::load_own(call, &input.poll_id)?;
    if poll.value.organizer != me {
        let message = "Only the person who has opened this poll may close it.";
        let refusal = Refusal::common(ErrorCode::NotPermitted, message);
        return Err(refusal.next(get_poll(&poll.id)).into());
    }
    let view = || crate::views::poll(me, &poll);
    poll.ensure_version(input.expected_version, view, get_poll(&poll.id))?;
    close(call, &mut poll, "close_poll")?;
    Ok(shown(me, &poll))
}

/// Closes a poll at its deadline.
pub(crate) fn end(call: &Call, poll_id: &str) -> Result<()> {
    match POLLS.get(poll_id)? {
        Some(mut poll) if poll.value.state == State::Open => close(call, &mut poll, "end_poll"),
        _ => Ok(()),
    }
}

fn close(call: &Call, poll: &mut Stored<Poll>, action: &str) -> Result<()> {
    poll.step_to(&POLL, action, State::Closed)?;
    settle(&mut poll.value);
    timers::cancel(&timer(&poll.id))?;
    save(call, poll)?;
    notices::poll_closed(poll)
}

/// Chooses the time that suits best: with the fewest who cannot, then the most for whom it is good, then the
/// earliest. Without a vote, none is chosen.
fn settle(poll: &mut Poll) {
    let count = |place: usize, suits: Suits| {
        poll.votes.iter().filter(|vote| vote.answers.get(place) == Some(&suits)).count()
    };
    let rank = |(place, start): &(usize, &u64)| {
        (count(*place, Suits::No), Reverse(count(*place, Suits::Yes)), **start)
    };
    let options = poll.options.iter().enumerate().filter(|_| !poll.votes.is_empty());
    poll.chosen = options.min_by_key(rank).map(|(_, start)| *start);
}

fn save(call: &Call, poll: &mut Stored<Poll>) -> Result<()> {
    poll.value.changed_at = call.now();
    Ok(poll.save()?)
}

fn timer(poll_id: &str) -> String {
    format!("poll/{poll_id}")
}

/// Returns the poll; the next step of its organizer books the chosen time.
fn shown(me: &str, poll: &Stored<Poll>) -> Answer<PollView> {
    let next = match poll.value.chosen {
        Some(start) if poll.value.organizer == me => {
            let next = Next::action(CAPABILITY, "book");
            let next = next.field("group_id", poll.value.group_id.as_str());
            next.field("start", rfc3339(start)).field("duration_min", poll.value.duration_min)
        }
        _ => refusals::get_poll(&poll.id),
    };
    Answer::new(crate::views::poll(me, poll)).next(next)
}

pub(crate) fn read(call: &Call, poll_id: &str) -> Result<PollView> {
    let poll = Poll::load_own(call, poll_id)?;
    Ok(crate::views::poll(call.require_owner()?, &poll))
}

pub(crate) fn list_own(me: &str, input: List) -> Result<Items<PollView>> {
    let mine = field("voters[]").eq(me).and(input.state.map(groups::in_state));
    let polls = POLLS.find(input.page.last_changed(mine))?;
    Ok(Items::of(polls, |poll| crate::views::poll(me, &poll)))
}
