//! Access to a meeting: its participants have it and, for one that represents an organisation,
//! every member who acts in its name. The member who answers or proposes times attends.

use crate::{documents::*, refusals::*};
use people_kit::{organisations, relations};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// A person who looks at meetings.
pub(crate) struct Viewer {
    owner_id: String,
    /// The organisations in whose name the person acts; empty if no participant stands for one.
    orgs: BTreeSet<String>,
}

impl Viewer {
    /// Reads in whose name the person acts, as far as these meetings depend on it.
    pub(crate) fn load(owner_id: &str, meetings: &[Stored<Meeting>]) -> Result<Self> {
        let participants = meetings.iter().flat_map(|meeting| &meeting.value.participants);
        let mut orgs = participants.filter_map(|participant| participant.org_id.as_ref());
        let orgs = match orgs.next() {
            Some(_) => organisations::acting_orgs(owner_id)?,
            None => BTreeSet::new(),
        };
        Ok(Self { owner_id: owner_id.to_owned(), orgs })
    }

    /// Returns the participant as whom the person takes part: themself, or the member who stands
    /// for an organisation in whose name they act. `None` if they take no part.
    pub(crate) fn seat<'a>(&self, meeting: &'a Meeting) -> Option<&'a str> {
        let acts = |participant: &&Participant| match &participant.org_id {
            Some(org_id) => self.orgs.contains(org_id),
            None => participant.owner_id == self.owner_id,
        };
        let seats: Vec<_> = meeting.participants.iter().filter(acts).collect();
        let own = seats.iter().find(|seat| seat.owner_id == self.owner_id);
        own.or(seats.first()).map(|seat| seat.owner_id.as_str())
    }

    /// Returns whether the person may see a meeting of theirs: a member of an organisation who is
    /// blocked with another participant does not, but for the one who stands for it.
    pub(crate) fn sees(&self, meeting: &Meeting, seat: &str) -> Result<bool> {
        let others = meeting.owner_ids().filter(|owner_id| *owner_id != seat);
        Ok(seat == self.owner_id || relations::hidden(Some(&self.owner_id), others)?.is_empty())
    }
}

/// Returns the participant as whom a person takes part in a meeting. Refuses a person who takes no
/// part.
pub(crate) fn seat(me: &str, meeting: &Stored<Meeting>) -> Result<String> {
    let viewer = Viewer::load(me, std::slice::from_ref(meeting))?;
    match viewer.seat(&meeting.value) {
        Some(seat) if viewer.sees(&meeting.value, seat)? => Ok(seat.to_owned()),
        _ => Err(MeetingError::MeetingNotFound),
    }
}

/// Returns everybody who is notified of a meeting: the participants and, for one who stands for an
/// organisation, all who act in its name and whom the others may see.
pub(crate) fn people(meeting: &Meeting) -> Result<BTreeSet<String>> {
    let mut people: BTreeSet<String> = BTreeSet::new();
    for participant in &meeting.participants {
        people.insert(participant.owner_id.clone());
        if let Some(org_id) = &participant.org_id {
            let others = meeting.owner_ids().filter(|other| *other != participant.owner_id);
            let colleagues = organisations::members_visible_to(org_id, others)?;
            people.extend(colleagues.into_iter().take(organisations::MOST_TOLD));
        }
    }
    Ok(people)
}

/// Lets a member attend in place of another one of their organisation. The answers and proposals so
/// far become theirs; the organizer stays.
pub(crate) fn stand_in(meeting: &mut Meeting, seat: &str, owner_id: &str) {
    let counter = meeting.counter.as_mut().map(|counter| &mut counter.by);
    let participants = meeting.participants.iter_mut().map(|participant| &mut participant.owner_id);
    for person in participants.chain([&mut meeting.proposed_by]).chain(counter) {
        if person == seat {
            owner_id.clone_into(person);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::*;

    fn meeting() -> Meeting {
        let participant = |owner_id: &str, org_id: Option<&str>| Participant {
            org_id: org_id.map(str::to_owned),
            ..Participant::new(owner_id.to_owned(), Participation::NeedsAction)
        };
        Meeting {
            organizer: "own_2".into(),
            proposed_by: "own_2".into(),
            participants: vec![participant("own_1", None), participant("own_2", Some("org_1"))],
            ..Meeting::default()
        }
    }

    fn viewer(owner_id: &str, orgs: &[&str]) -> Viewer {
        let orgs = orgs.iter().map(|org_id| (*org_id).to_owned()).collect();
        Viewer { owner_id: owner_id.into(), orgs }
    }

    #[test]
    fn members_take_the_seat_of_their_organisation() {
        let meeting = meeting();
        assert_eq!(viewer("own_1", &[]).seat(&meeting), Some("own_1"));
        for owner_id in ["own_2", "own_3"] {
            assert_eq!(viewer(owner_id, &["org_1"]).seat(&meeting), Some("own_2"));
            assert_eq!(viewer(owner_id, &[]).seat(&meeting), None, "{owner_id} has left");
        }
    }

    #[test]
    fn whoever_acts_attends_and_stays_on_the_same_side() {
        let mut meeting = meeting();
        assert_eq!(meeting.role("own_2"), PROPOSER);
        stand_in(&mut meeting, "own_2", "own_3");
        assert_eq!(meeting.owner_ids().collect::<Vec<_>>(), ["own_1", "own_3"]);
        assert_eq!((meeting.role("own_3"), meeting.role("own_1")), (PROPOSER, RECIPIENT));
        assert_eq!(meeting.organizer, "own_2");
    }
}
