//! The rules by which people accept messages from others.
//!
//! A person can write in a thread only if all others in it accept messages from them; of the people of
//! an organisation, one is enough, and colleagues do not count. A person does
//! not accept them if one of the two has blocked the other, if they accept no contact for now
//! (`contact_policy` `paused`), if they are deactivated or suspended, or if they do not exist any more.
//! All of these look the same to the others: the thread is `frozen`, with the same version, and
//! writing is refused with `recipient_not_accepting`. To keep it so, nothing of it is stored in the
//! thread; it is computed at each read and each message. The relation `frozen` in
//! `social_permissions` is updated when an event reports a change, for any of the reasons.

use crate::{documents::*, refusals::*, states::*, types::*};
use people_kit::people::{self, ContactPolicy, Person};
use people_kit::relations::{self, Tuple, relate};
use people_kit::threads::{ThreadError, ThreadState};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of people, without the caller, in one query; also of relations in one
/// statement.
const CHUNK: usize = 99;
/// The maximum number of threads that one run updates.
const ROUND: u32 = 10;

/// The people who accept messages from one person.
pub(crate) struct Acceptance {
    accepting: BTreeSet<String>,
    /// The part of the other members who have an agent.
    reachable: BTreeSet<String>,
    /// Whether the person themself is deactivated or suspended.
    is_withdrawn: bool,
}

impl Acceptance {
    /// Reads which of the other members of these threads accept messages.
    pub(crate) fn load<'a>(
        viewer: &'a str,
        threads: impl IntoIterator<Item = &'a Thread>,
    ) -> Result<Self> {
        let others: BTreeSet<&str> = threads
            .into_iter()
            .filter(|thread| thread.state != ThreadState::Closed)
            .flat_map(|thread| thread.others(viewer))
            .map(|member| member.owner_id.as_str())
            .collect();
        let others: Vec<&str> = others.into_iter().collect();
        let (mut accepting, mut reachable) = (BTreeSet::new(), BTreeSet::new());
        let mut is_withdrawn = false;
        for chunk in others.chunks(CHUNK) {
            let mut people = people::people(chunk.iter().copied().chain([viewer]))?;
            is_withdrawn = people.remove(viewer).is_some_and(|person| !person.active);
            let hidden = relations::hidden(Some(viewer), chunk.iter().copied())?;
            let people = people.into_values().filter(accepts_messages);
            for person in people.filter(|person| !hidden.contains(&person.owner_id)) {
                if person.has_agent {
                    reachable.insert(person.owner_id.clone());
                }
                accepting.insert(person.owner_id);
            }
        }
        Ok(Self { accepting, reachable, is_withdrawn })
    }

    /// Returns whether all others in a thread get what the person sends; of an organisation, one
    /// person is enough.
    pub(crate) fn is_reachable(&self, thread: &Thread, viewer: &str) -> bool {
        let is_open =
            matches!(self.state(thread, viewer), ThreadState::Open | ThreadState::Archived);
        let gets =
            |side: &Vec<&Member>| side.iter().any(|other| self.reachable.contains(&other.owner_id));
        is_open && thread.other_sides(viewer).iter().all(gets)
    }

    /// Returns the state of a thread as the person sees it.
    pub(crate) fn state(&self, thread: &Thread, viewer: &str) -> ThreadState {
        let sides = thread.other_sides(viewer);
        let accepts =
            |side: &Vec<&Member>| side.iter().any(|other| self.accepting.contains(&other.owner_id));
        match thread.state {
            ThreadState::Closed => ThreadState::Closed,
            _ if sides.is_empty() || !sides.iter().all(accepts) => ThreadState::Frozen,
            state => state,
        }
    }

    /// Returns whether the person is deactivated or suspended, and so cannot write.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.is_withdrawn
    }
}

fn accepts_messages(person: &Person) -> bool {
    person.active && person.contact_policy != ContactPolicy::Paused
}

pub(crate) fn state(thread: &Thread, viewer: &str) -> Result<ThreadState> {
    Ok(Acceptance::load(viewer, [thread])?.state(thread, viewer))
}

/// Returns the thread's state after an action that others notice. Refuses a person who cannot write
/// in the thread.
pub(crate) fn step_to_write(
    thread: &Stored<Thread>,
    viewer: &str,
    action: &str,
) -> Result<ThreadState> {
    let reach = Acceptance::load(viewer, [&thread.value])?;
    let state = reach.state(&thread.value, viewer);
    let to = THREAD.step(&thread.id, state, action).map_err(|refusal| match state {
        ThreadState::Closed => ThreadError::ThreadClosed {
            thread_id: thread.id.clone(),
            allowed_actions: THREAD.allowed_as(crate::states::MEMBER, state),
        },
        ThreadState::Frozen => ThreadError::RecipientNotAccepting,
        ThreadState::Open | ThreadState::Archived => ThreadError::Common(refusal),
    })?;
    if !reach.is_withdrawn {
        return Ok(to);
    }
    Err(people::hidden_profile().into())
}

/// Whether this person and a member or an invited person are blocked. In a common thread they would
/// see each other, and would notice that their messages are not accepted.
pub(crate) fn is_blocked(thread: &Thread, owner_id: &str) -> Result<bool> {
    let current = thread.members.iter().filter(|member| member.membership.is_counted());
    let others = current.map(|member| member.owner_id.as_str()).filter(|other| *other != owner_id);
    Ok(!relations::hidden(Some(owner_id), others)?.is_empty())
}

/// Whether this person can be invited now. The answer does not show whether a block is the reason,
/// so that nobody learns of a block.
pub(crate) fn can_be_invited(thread: &Thread, owner_id: &str) -> Result<bool> {
    let accepts = people::person(owner_id)?.as_ref().is_some_and(accepts_messages);
    Ok(accepts && !is_blocked(thread, owner_id)?)
}

/// Writes to `social_permissions` who takes part in a thread, and who cannot write in it now.
pub(crate) fn write_relations(thread: &Stored<Thread>) -> Result<()> {
    let object = format!("thread:{}", thread.id);
    let tuple = |relation: &str, subject: String| Tuple::new(&object, relation, subject);
    let mut stated = BTreeMap::new();
    let is_stopped = matches!(thread.value.state, ThreadState::Closed | ThreadState::Frozen);
    stated.insert(tuple("frozen", "*".to_owned()), is_stopped);
    for member in &thread.value.members {
        let joined = thread.value.has_joined(&member.owner_id);
        let frozen =
            joined && !is_stopped && state(&thread.value, &member.owner_id)? == ThreadState::Frozen;
        let subject = format!("owner:{}", member.owner_id);
        stated.insert(tuple("participant", subject.clone()), joined);
        stated.insert(tuple("frozen", subject), frozen);
    }
    let stated: Vec<_> = stated.into_iter().collect();
    for chunk in stated.chunks(CHUNK) {
        let side = |holds| {
            let chosen = chunk.iter().filter(|(_, stated)| *stated == holds);
            chosen.map(|(tuple, _)| tuple.clone()).collect()
        };
        relate(side(true), side(false))?;
    }
    Ok(())
}

/// Updates the relations of the threads that two people share, after a block or its end.
pub(crate) fn block_changed(blocked: &Blocked) -> Result<()> {
    shared_threads(blocked)?.iter().try_for_each(write_relations)
}

/// Returns the threads that two people share, or have shared.
pub(crate) fn shared_threads(blocked: &Blocked) -> Result<Vec<Stored<Thread>>> {
    let both = by_member(&blocked.blocker_id).and(by_member(&blocked.blocked_id));
    let threads = THREADS.all(Query::new().filter(both).limit(ROUND));
    Ok(threads.map(|hit| hit.map(|hit| hit.document)).collect::<Result<_, HostError>>()?)
}

/// Updates the relations of the threads of a person who has begun or ceased to accept messages. One
/// page of threads is updated in this call, the others in later calls that a timer makes.
pub(crate) fn person_changed(call: &Call, round: Round) -> Result<()> {
    let query = Query::new().filter(by_member(&round.owner_id)).limit(ROUND).cursor(round.cursor);
    let page = THREADS.find(query)?;
    for hit in &page.hits {
        write_relations(&hit.document)?;
    }
    if page.next.is_some() {
        let timer = format!("round/{}", round.owner_id);
        let round = Round { owner_id: round.owner_id, cursor: page.next };
        timers::set(&timer, call.now(), "go_on", &round)?;
    }
    Ok(())
}

fn by_member(owner_id: &str) -> Filter {
    field("members[].owner_id").eq(owner_id)
}
